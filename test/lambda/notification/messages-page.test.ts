import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { resultOf } from '../../../lambda/facts/outcomes.ts';
import { nightReports } from '../../support/nights/reports.ts';

/**
 * docs/messages.md is made of the golden mails: `npx vitest run test/lambda/notification/messages-page.test.ts -u` writes
 * it again.
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

test('docs/messages.md has every golden night: its subject, its first three lines, and what to type first', async () => {
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
