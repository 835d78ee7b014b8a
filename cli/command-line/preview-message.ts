import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import * as z from 'zod';
import { type Report, reportSchema } from '../../lambda/facts/report-schema.ts';
import type { MessageContext } from '../../lambda/notification/context.ts';
import { composeMessage } from '../../lambda/notification/message.ts';
import { anyCommand } from '../../lambda/notification/next/commands.ts';
import { explain } from '../../lambda/policy/explain.ts';
import { placed, readJson } from '../../lambda/policy/read-json.ts';
import { slackMessage } from '../notify/slack.ts';
import { CommandLineError, parseQuietly } from './commander.ts';
import { UsageError } from './usage-error.ts';

/** `npm run preview-message`: prints what would be sent for a report, without sending it. */

const formats = ['email', 'slack', 'json'] as const;

/**
 * @returns the text to print
 * @throws UsageError
 */
export function previewMessage(argv: readonly string[]): string {
  const options = parse(argv);
  if ('text' in options) return options.text.trimEnd();
  const message = composeMessage(readReport(options.report), contextOf(options));
  switch (options.format) {
    case 'email':
      return `Subject: ${message.subject}\n\n${message.email}`.trimEnd();
    case 'slack':
      // A local run posts to Slack itself; a stage's message goes through Amazon Q Developer.
      return JSON.stringify(options.local ? slackMessage(message) : JSON.parse(message.https), null, 2);
    case 'json':
      return JSON.stringify(JSON.parse(message.default), null, 2);
  }
}

interface Options {
  report: string;
  format: (typeof formats)[number];
  stateMachineArn?: string;
  runbookUrl?: string;
  /** What precedes the verb; true if it is not given. */
  local?: string | true;
}

const contextOf = ({ stateMachineArn, runbookUrl, local }: Options): MessageContext => ({
  ...(local !== undefined && {
    local: true,
    ...(local !== true && { localCommand: { ...anyCommand, program: local } }),
  }),
  ...(stateMachineArn !== undefined && { stateMachineArn, region: stateMachineArn.split(':')[3] ?? '' }),
  ...(runbookUrl !== undefined && { runbookUrl }),
});

function parse(argv: readonly string[]): Options | { text: string } {
  const command = new Command('npm run preview-message --')
    .description('Prints the notification that a report would be sent as. Nothing is sent.')
    .requiredOption('--report <file>', 'the report as JSON, as npm start -- enforce … --json FILE writes it')
    .addOption(new Option('--format <format>', 'what to print').choices([...formats]).default('email'))
    .option('--state-machine-arn <arn>', "the workflow, for next steps that start it with AWS's command line")
    .option('--runbook-url <url>', 'the address of docs/runbook.md, for links to it')
    .addOption(
      new Option(
        '--local [program]',
        'as a run on a machine tells it: its next steps begin with this program (npm start --)',
      ).conflicts('stateMachineArn'),
    );
  try {
    const text = parseQuietly(command, argv);
    if (text !== undefined) return { text };
  } catch (error) {
    if (!(error instanceof CommandLineError)) throw error;
    throw new UsageError(`${error.message} See npm run preview-message -- --help.`);
  }
  return command.opts<Options>();
}

function readReport(path: string): Report {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(
      `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'no reason given'}): name a report file.`,
    );
  }
  const read = readJson(text);
  const remedy = 'Name a report file, as npm start -- enforce … --json FILE writes it.';
  if (read.kind === 'wrong') throw new UsageError(`${path} ${placed(read)}. ${remedy}`);
  const { value } = read;
  if (Array.isArray(value)) throw new UsageError(`${path} is not a report: it holds a list. ${remedy}`);
  const parsed = reportSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    `${path} is not a report: ${explain(new z.ZodError(parsed.error.issues.slice(0, 1)), value, [])}. ${remedy}`,
  );
}
