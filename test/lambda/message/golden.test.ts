import { expect, test } from 'vitest';
import type { ReportFacts } from '../../../lambda/facts/report-schema.ts';
import { messageOf } from '../../../lambda/message/message.ts';
import type { Audience } from '../../../lambda/message/audience.ts';
import { withSentences } from '../../../lambda/message/sentences.ts';
import { anEntry, aReportOf } from '../../support/reports.ts';
import { aws, entryCases, errorCases, kubernetes, machine, noteCases } from './cases.ts';

/** Whole mails as people get them, and two Slack messages: `npx vitest run test/lambda/message/golden.test.ts -u` rewrites them. */

const entries = (...names: string[]) =>
  names.map((name, at) => {
    const [, outcome, cause, more] = entryCases.find(([known]) => known === name)!;
    return anEntry(
      outcome,
      cause,
      at === 0 ? { owner: 'data platform', ...more } : { name: `dataset.other${at}`, ...more },
    );
  });
const error = (name: string) => ({ cause: errorCases.find(([known]) => known === name)![1] });
const notes = (...names: string[]) => names.map((name) => noteCases.find(([known]) => known === name)![1]);
const server = 'http://gms.internal.example.com:8080';

const mails: [name: string, report: ReportFacts, reader?: Audience][] = [
  ['ordinary', aReportOf(entries('truncated', 'below the threshold'), { server })],
  ['preview', aReportOf(entries('would be truncated', 'below the threshold'), { server, mode: 'preview' })],
  ['paused', aReportOf(entries('below the threshold'), { server, notes: notes('paused, and nothing due') })],
  ['rows-missing-after-a-copy', aReportOf(entries('rows missing after a copy'), { server })],
  [
    'rows-missing-on-a-machine',
    aReportOf(entries('rows missing after a delete', 'above the ceiling'), { server }),
    machine,
  ],
  ['preview-finds-rows-gone', aReportOf(entries('rows missing since the last run'), { server, mode: 'preview' })],
  ['quarantined', aReportOf(entries('quarantined: rows missing', 'truncated'), { server })],
  ['left-untold', aReportOf(entries('rows missing, left untold by another run', 'truncated'), { server })],
  ['copy-not-proven', aReportOf(entries('copy not proven', 'held back by another index'), { server })],
  ['truncated-by-a-copy', aReportOf(entries('truncated by a copy'), { server })],
  ['still-running', aReportOf(entries('still running'), { server })],
  ['above-the-ceiling', aReportOf(entries('above the ceiling'), { server })],
  ['above-the-ceiling-on-kubernetes', aReportOf(entries('above the ceiling'), { server }), kubernetes],
  ['token-refused', aReportOf([], { server, ...error('token refused') })],
  ['login-page', aReportOf([], { server, ...error('login page') })],
  ['not-released', aReportOf([], { server, result: 'attention', notes: notes('not released: rows missing') })],
  ['released', aReportOf([], { server, notes: notes('released after a copy') })],
];

test.each(mails)('the mail of %s', async (name, facts, reader = aws) => {
  const { subject, email } = messageOf(withSentences(facts, reader), { reader });
  await expect(`Subject: ${subject}\n\n${email}\n`).toMatchFileSnapshot(`golden/${name}.txt`);
});

test.each(mails.slice(3, 4))('the Slack message of %s', async (name, facts, reader = aws) => {
  const { https } = messageOf(withSentences(facts, reader), { reader });
  await expect(`${JSON.stringify(JSON.parse(https), null, 2)}\n`).toMatchFileSnapshot(`golden/${name}.slack.json`);
});

test.each(mails.slice(3, 4))('the report of %s', async (name, facts, reader = aws) => {
  const message = messageOf(withSentences(facts, reader), { reader });
  await expect(`${JSON.stringify(JSON.parse(message.default), null, 2)}\n`).toMatchFileSnapshot(
    `golden/${name}.report.json`,
  );
});
