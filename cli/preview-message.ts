import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Report, reportSchema } from '../lambda/model/report-schema.ts';
import { destinationNames, destinations } from '../lambda/report/destinations/registry.ts';
import { messageOf } from '../lambda/report/message.ts';
import type { Audience } from '../lambda/report/sentences/audience.ts';

/** `npm run preview-message`: prints what would be sent for a report, without sending it. */

const usage = `npm run preview-message -- [--report FILE] [--format ${destinationNames.join('|')}]
                               [--state-machine-arn ARN] [--runbook-url URL] [--local PROGRAM]

Prints the notification that a report would be sent as. Nothing is sent.

  --report FILE            the report as JSON, as ./retention enforce … --json FILE writes it; by default that of the
                           demo, after some seconds
  --format FORMAT          what to print (mail)
  --state-machine-arn ARN  the workflow, for next steps that start it with AWS's command line
  --runbook-url URL        the address of docs/runbook.md, for links to it
  --local PROGRAM          as a run on a machine tells it: its next steps begin with this program, such as ./retention`;

/**
 * @param args as they stand on the command line
 * @throws Error, one sentence
 */
export function previewMessage(args: string[]): string {
  const text = { type: 'string' } as const;
  const places = { 'state-machine-arn': text, 'runbook-url': text, local: text };
  const { values } = parseArgs({ args, options: { report: text, format: text, ...places, help: { type: 'boolean' } } });
  if (values.help) return usage;
  const { report: path, format = 'mail', local, 'state-machine-arn': arn, 'runbook-url': runbookUrl } = values;
  const destination = Object.values(destinations).find(({ name }) => name === format);
  if (destination === undefined) throw new Error(`--format takes ${destinationNames.join(', ')}.`);
  const audience: Audience = local
    ? { kind: 'machine', program: local, runbookUrl }
    : { kind: 'aws', stateMachineArn: arn, region: arn?.split(':')[3], runbookUrl };
  const report = path === undefined ? reportOfDemo() : readReport(path);
  const message = messageOf(report, { audience });
  const body = destination.render(message);
  return typeof body === 'string' ? `Subject: ${message.subject}\n\n${body}` : JSON.stringify(body, null, 2);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.stdout.write(`${previewMessage(process.argv.slice(2))}\n`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 2;
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
