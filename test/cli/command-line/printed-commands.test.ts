import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { parseArguments } from '../../../cli/command-line/arguments.ts';
import { mail } from '../../../lambda/report/destinations/mail.ts';
import type { Audience } from '../../../lambda/report/guide/audience.ts';
import { messageOf } from '../../../lambda/report/message.ts';
import { withSentences } from '../../../lambda/report/sentences/sentences.ts';
import { parseInput } from '../../../lambda/run/input.ts';
import { aws, entryCases, errorCases, machine, noteCases } from '../../lambda/report/cases.ts';
import { anEntry, aReportOf } from '../../support/reports.ts';

/** Every command that a message prints is one that the program understands; a shell splits it into words. */

const reports = [
  ...entryCases.map(([, outcome, cause, more]) => aReportOf([anEntry(outcome, cause, more)])),
  ...errorCases.map(([, cause]) => aReportOf([], { cause })),
  ...noteCases.map(([, note]) => aReportOf([], { notes: [note] })),
];

function printed(audience: Audience): string[] {
  const lines = reports.flatMap((facts) =>
    mail.render(messageOf(withSentences(facts, audience), { audience })).split('\n'),
  );
  const commands = lines.map((line) => line.replace(/^Runbook[^:]*: /, '  ')).filter((line) => line.startsWith('  '));
  return [...new Set(commands.map((line) => line.trim()))].filter((line) => !/^(GET|PUT|\{|https:)/.test(line));
}

/** Each with what a program sees of it. */
function split(commands: readonly string[]): [command: string, words: string[]][] {
  const script = commands.map((command) => `printf '%s\\n' ${command} ====`).join('\n');
  const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\n====\n');
  return commands.map((command, at) => [command, words[at]!.split('\n')]);
}

const env = { DATAHUB_GMS_URL: 'http://gms:8080' };

test.each(split(printed(aws)))('on AWS: %s', (_, [program, ...words]) => {
  if (program === './retention') return expect(parseArguments(words, env).verb).toBe('runbook');
  expect(program).toBe('aws');
  if (words[0] === 'ssm') return expect(words[words.indexOf('--name') + 1]).toMatch(/\/(token|paused)$/);
  const { input } = parseInput(JSON.parse(words[words.indexOf('--input') + 1]!)) as { input: object };
  expect(Object.keys(input).length).toBeGreaterThan(0);
});

const pods: Audience = { kind: 'kubernetes', cronJob: 'retention', tokenSecret: 'a-token/token' };

test.each(printed(pods))('on Kubernetes: %s', (command) => {
  if (command.startsWith('./retention')) {
    return expect(parseArguments(command.split(' ').slice(1), env).verb).toBe('runbook');
  }
  if (/ (patch cronjob|create secret) /.test(command)) return;
  const [, quoted, given = quoted ?? ''] =
    /'DATAHUB_RETENTION_ARGS=([^']*)'|DATAHUB_RETENTION_ARGS=(\S+)/.exec(command) ?? [];
  const pod = { ...env, DATAHUB_RETENTION_POLICIES: '/policies/policies.json', DATAHUB_RETENTION_ARGS: given };
  expect(parseArguments([], pod, 'datahub-retention').verb).toMatch(/^(preview|enforce|release)$/);
});

test.each(split(printed(machine)))('on a machine: %s', (_, [program, verb = '', ...words]) => {
  expect(program).toBe('datahub-retention');
  const all = [verb, ...words, ...(verb === 'runbook' ? [] : ['--ledger', 'here'])];
  expect(parseArguments(all, {}, program).verb).toMatch(/^(preview|enforce|release|runbook)$/);
});
