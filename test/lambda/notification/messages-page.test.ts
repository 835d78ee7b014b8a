import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { resultOf } from '../../../lambda/facts/outcomes.ts';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import { urgencySentence } from '../../../lambda/notification/digest/urgency.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { entryStep } from '../../../lambda/notification/next/entry-steps.ts';
import { errorStep, noteStep } from '../../../lambda/notification/next/run-steps.ts';
import type { Step } from '../../../lambda/notification/next/step.ts';
import { subject } from '../../../lambda/notification/subject.ts';
import { recovery } from '../../../lambda/wording/recovery.ts';
import { nightReports } from '../../support/nights/reports.ts';
import { anEntry, aReport } from '../../support/reports.ts';
import { context } from './custom-notification.ts';
import { ofEntries, ofNotes, ofRuns } from './next/cases.ts';

/**
 * docs/messages.md is generated from the golden emails and a case of each cause: `npx vitest run
 * test/lambda/notification/messages-page.test.ts -u` rewrites it.
 */

const folder = new URL('golden/', import.meta.url);
const mails = readdirSync(folder).flatMap((group) =>
  readdirSync(new URL(`${group}/`, folder))
    .filter((file) => file.endsWith('.email.txt'))
    .map((file) => {
      const text = readFileSync(new URL(`${group}/${file}`, folder), 'utf8');
      const [subject = '', ...lines] = text.split('\n').filter((line) => line !== '');
      const body = lines.filter((line) => !/^[A-Z ]+$/.test(line));
      const first = body.find((line) => line.startsWith('Next: ')) ?? '';
      const command = body.find((line) => line.startsWith('  ')) ?? '';
      return {
        name: `${group}/${file.replace('.email.txt', '')}`,
        subject: subject.replace('Subject: ', ''),
        top: body.slice(0, 3),
        step: first.replace('Next: ', ''),
        command: command.trim(),
      };
    }),
);

const cell = (text: string): string => text.replaceAll('|', '\\|').slice(0, 300);
const code = (text: string): string => (text === '' ? '' : `\`${cell(text).slice(0, 140).replaceAll('`', "'")}\``);

const short = (data: object): string =>
  Object.entries(data)
    .filter(([name]) => name !== 'kind' && name !== 'index')
    .map(([name, value]) =>
      typeof value === 'object' ? Object.values(value).join(' of ') : `${name}: ${String(value).slice(0, 60)}`,
    )
    .join(', ');

/** One row: what was found, what the subject says, how urgent it is, what to do, and what to type first. */
function caseRow(found: string, report: Report, step: Step | undefined): string {
  const { email } = composeMessage(report, context);
  const command = email.split('\n').find((line) => line.startsWith('  ')) ?? '';
  const [first] = report.policies.flatMap((entry) => recovery(entry, Date.parse(report.finishedAt)));
  const told = subject(report).replace('[DataHub retention] prod: ', '');
  const urgency = urgencySentence(report).replace('How urgent: ', '').replace(/\.$/, '');
  return `| ${cell(found)} | ${cell(told)} | ${urgency} | ${cell(first ? `${first.say}${first.line === undefined ? '.' : ':'}` : (step?.text ?? ''))} | ${code(command.trim())} |`;
}

const cases = [
  ...ofEntries.map(([outcome, cause, more]) => {
    const report = aReport([anEntry(outcome, cause, more)]);
    const details = short(cause);
    const found = `\`${outcome}\`, \`${cause.kind}\`${details === '' ? '' : ` (${details})`}`;
    return caseRow(found, report, entryStep([report.policies[0]!], report, context));
  }),
  ...ofRuns.map((cause) => {
    const report = aReport([], { cause });
    const details = short(cause);
    return caseRow(
      `the run, \`${cause.kind}\`${details === '' ? '' : ` (${details})`}`,
      report,
      errorStep(report, context),
    );
  }),
  ...ofNotes.map((note) => {
    const report = aReport([], { notes: [note] });
    return caseRow(`a note, \`${note.kind}\` (${short(note)})`, report, noteStep(note, context));
  }),
];

test('docs/messages.md has every golden night and every cause: what is said of it, and what to type first', async () => {
  const rows = mails.map(
    ({ name, subject, top, step, command }) =>
      `| ${name} | ${cell(subject)} | ${top.map(cell).join('<br>')} | ${cell(step)} | ${code(command)} |`,
  );
  const page = [
    '# Messages',
    '',
    'What the mail of each named night begins with. Generated from the golden messages by `npx vitest run test/lambda/notification/messages-page.test.ts -u`.',
    '',
    '| night | subject | first lines | next step | first command |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    '## Causes',
    '',
    'What is said of each cause that may ask something of a person, and its first step. Where none stands, the cause says what to do.',
    '',
    '| found | subject | how urgent | next step | first command |',
    '|---|---|---|---|---|',
    ...cases,
    '',
  ].join('\n');
  await expect(page).toMatchFileSnapshot('../../../docs/messages.md');
});

test('no two nights in which something is wrong have the same subject', async () => {
  const reports = new Map(await nightReports());
  const wrong = mails.filter(({ name }) => {
    const report = reports.get(name);
    return report?.result !== 'ok' || report.policies.some(({ outcome }) => resultOf[outcome] !== 'ok');
  });
  expect(wrong.length).toBeGreaterThan(50);
  const subjects = wrong.map(({ subject }) => subject);
  expect(subjects.filter((subject, at) => subjects.indexOf(subject) !== at)).toEqual([]);
});

test('a subject has fewer than 100 characters of ASCII', () => {
  for (const { subject } of mails) expect(subject).toMatch(/^[\x20-\x7e]{1,99}$/);
});
