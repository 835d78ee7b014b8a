import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { reportSchema } from '../lambda/facts/report-schema.ts';
import { messageOf } from '../lambda/message/message.ts';
import type { Reader } from '../lambda/words/reader.ts';
import { notifyFormats } from './command-line/options.ts';
import { formats as posted } from './outputs/formats.ts';

/** `npm run preview-message`: prints what would be sent for a report, without sending it. */

const formats = ['email', ...notifyFormats] as const;

interface Options {
  report: string;
  format: (typeof formats)[number];
  stateMachineArn?: string;
  runbookUrl?: string;
  /** What precedes the verb; true if it is not given. */
  local?: string | true;
}

const command = new Command('npm run preview-message --')
  .description('Prints the notification that a report would be sent as. Nothing is sent.')
  .requiredOption('--report <file>', 'the report as JSON, as ./retention enforce … --json FILE writes it')
  .addOption(new Option('--format <format>', 'what to print').choices([...formats]).default('email'))
  .option('--state-machine-arn <arn>', "the workflow, for next steps that start it with AWS's command line")
  .option('--runbook-url <url>', 'the address of docs/runbook.md, for links to it')
  .option('--local [program]', 'as a run on a machine tells it: its next steps begin with this program (./retention)')
  .allowExcessArguments(false)
  .exitOverride();

try {
  const options = command.parse().opts<Options>();
  process.stdout.write(`${preview(options)}\n`);
} catch (error) {
  if (!(error instanceof CommanderError)) process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : 2;
}

function preview({ report: path, format, local, ...asked }: Options): string {
  const report = readReport(path);
  const message = messageOf(report, { reader: readerOf(local, asked) });
  if (format === 'email') return `Subject: ${message.subject}\n\n${message.email}`.trimEnd();
  // A local run posts to Slack itself; a stage's message goes through Amazon Q Developer.
  const body = format === 'slack' && !local ? JSON.parse(message.https) : posted[format].body(message, report);
  return JSON.stringify(body, null, 2);
}

function readerOf(local: Options['local'], { stateMachineArn, runbookUrl }: Partial<Options>): Reader {
  if (local) return { kind: 'machine', program: local === true ? './retention' : local, runbookUrl };
  return { kind: 'aws', stateMachineArn, region: stateMachineArn?.split(':')[3], runbookUrl };
}

function readReport(path: string) {
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
