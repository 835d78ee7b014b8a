import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError, Option } from 'commander';
import { parseJson } from '../lambda/gms/responses/json-value.ts';
import { type Report, reportSchema } from '../lambda/model/report-schema.ts';
import { type DestinationName, destinationNames, destinations } from '../lambda/report/destinations/registry.ts';
import { messageOf } from '../lambda/report/message.ts';
import { readText } from './inputs/read-text.ts';

/** `npm run preview-message`: prints what a stage on AWS would send for a report, without sending it. */

const command = () =>
  new Command('npm run preview-message --')
    .description('Prints the message that a report would be sent as. Nothing is sent.')
    .option('--report <file>', 'the report, as ./retention enforce … --json FILE writes it (default: that of the demo)')
    .addOption(new Option('--format <format>', 'what to print').choices(destinationNames).default('mail'))
    .allowExcessArguments(false)
    .configureOutput({ writeErr: () => {} })
    .exitOverride();

/**
 * @param args as they stand on the command line
 * @throws Error, one sentence
 */
export function previewMessage(args: string[]): string {
  const { report: path, format } = command()
    .parse(args, { from: 'user' })
    .opts<{ report?: string; format: DestinationName }>();
  const message = messageOf(path === undefined ? reportOfDemo() : readReport(path), { audience: { kind: 'aws' } });
  const body = destinations[format].render(message);
  return typeof body === 'string' ? `Subject: ${message.subject}\n\n${body}` : JSON.stringify(body, null, 2);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.stdout.write(`${previewMessage(process.argv.slice(2))}\n`);
  } catch (error) {
    const isHelp = error instanceof CommanderError && error.exitCode === 0;
    if (!isHelp) process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = isHelp ? 0 : 2;
  }
}

function reportOfDemo(): Report {
  const folder = mkdtempSync(join(tmpdir(), 'datahub-retention-demo-'));
  try {
    const file = join(folder, 'report.json');
    const program = fileURLToPath(new URL('./start.mjs', import.meta.url));
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
  const value = parseJson(readText(path, '--report'));
  const parsed = reportSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const why = value === undefined ? 'no JSON' : `${issue?.path.join('.') || 'it'}: ${issue?.message}`;
  throw new Error(
    `${path} is not a report (${why}): name a report file, as ./retention enforce … --json FILE writes it.`,
  );
}
