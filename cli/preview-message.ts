import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError, Option } from 'commander';
import { type Report, reportSchema } from '../lambda/facts/report-schema.ts';
import { messageOf } from '../lambda/message/message.ts';
import type { Audience } from '../lambda/message/sentences/audience.ts';
import { contextOf } from '../lambda/message/sentences/sentences.ts';
import { notifyFormats } from './command-line/options.ts';
import { formats as posted } from './outputs/formats.ts';

/** `npm run preview-message`: prints what would be sent for a report, without sending it. */

const formats = ['email', ...notifyFormats] as const;

interface Options {
  report?: string;
  format: (typeof formats)[number];
  stateMachineArn?: string;
  runbookUrl?: string;
  /** What precedes the verb; true if it is not given. */
  local?: string | true;
}

/** @param args as they stand on the command line */
export function previewMessage(args: readonly string[]): { status: 0 | 2; stdout: string; stderr: string } {
  const said = { stdout: '', stderr: '' };
  const command = new Command('npm run preview-message --')
    .description('Prints the notification that a report would be sent as. Nothing is sent.')
    .option(
      '--report <file>',
      'the report as JSON, as ./retention enforce … --json FILE writes it; by default that of the demo, after some seconds',
    )
    .addOption(new Option('--format <format>', 'what to print').choices([...formats]).default('email'))
    .option('--state-machine-arn <arn>', "the workflow, for next steps that start it with AWS's command line")
    .option('--runbook-url <url>', 'the address of docs/runbook.md, for links to it')
    .option('--local [program]', 'as a run on a machine tells it: its next steps begin with this program (./retention)')
    .allowExcessArguments(false)
    .configureOutput({
      writeOut(text) {
        said.stdout += text;
      },
      writeErr(text) {
        said.stderr += text;
      },
    })
    .exitOverride();
  try {
    const options = command.parse(args, { from: 'user' }).opts<Options>();
    return { status: 0, ...said, stdout: `${preview(options)}\n` };
  } catch (error) {
    if (!(error instanceof CommanderError)) said.stderr = `${(error as Error).message}\n`;
    return { status: error instanceof CommanderError && error.exitCode === 0 ? 0 : 2, ...said };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { status, stdout, stderr } = previewMessage(process.argv.slice(2));
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = status;
}

function preview({ report: path, format, local, ...places }: Options): string {
  const audience = audienceOf(local, places);
  const report = path === undefined ? reportOfDemo() : readReport(path);
  const message = messageOf(report, { audience });
  if (format === 'email') return `Subject: ${message.subject}\n\n${message.email}`.trimEnd();
  // A local run posts to Slack itself; a stage's message goes through Amazon Q Developer.
  const body =
    format === 'slack' && !local
      ? JSON.parse(message.https)
      : posted[format].body(message, report, contextOf(report, audience));
  return JSON.stringify(body, null, 2);
}

function audienceOf(local: Options['local'], { stateMachineArn, runbookUrl }: Partial<Options>): Audience {
  if (local) return { kind: 'machine', program: local === true ? './retention' : local, runbookUrl };
  return { kind: 'aws', stateMachineArn, region: stateMachineArn?.split(':')[3], runbookUrl };
}

function reportOfDemo(): Report {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-demo-'));
  try {
    const file = join(folder, 'report.json');
    const program = fileURLToPath(new URL('./start.mjs', import.meta.url));
    // Its status is 1, because one of its indices needs attention.
    const { stderr } = spawnSync(process.execPath, [program, 'demo', '--json', file], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (!existsSync(file)) throw new Error(`The demo wrote no report: ${stderr}`);
    return readReport(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(path: string): Report {
  const remedy = 'name a report file, as ./retention enforce … --json FILE writes it.';
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${path} ${code ? `cannot be read (${code})` : 'is not JSON'}: ${remedy}`);
  }
  const parsed = reportSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${path} is not a report (${issue?.path.join('.') || 'it'}: ${issue?.message}): ${remedy}`);
}
