import { describe, expect, test } from 'vitest';
import type { ReportData } from '../../../lambda/model/report-schema.ts';
import { engineKinds, type ServerError, serverErrorKinds } from '../../../lambda/model/server-error.ts';
import { amazonQ } from '../../../lambda/report/destinations/amazon-q.ts';
import { json } from '../../../lambda/report/destinations/json.ts';
import { mail as mailDestination } from '../../../lambda/report/destinations/mail.ts';
import { destinations } from '../../../lambda/report/destinations/registry.ts';
import type { Audience } from '../../../lambda/report/guide/audience.ts';
import { messageOf } from '../../../lambda/report/message.ts';
import type { Sentences } from '../../../lambda/report/sentences/phrases.ts';
import {
  contextOf,
  sentencesOf,
  sentencesOfError,
  sentencesOfNote,
  withSentences,
} from '../../../lambda/report/sentences/sentences.ts';
import { errorText, failedRequest } from '../../../lambda/report/sentences/server-errors.ts';
import { anEntry, aReportOf } from '../../support/reports.ts';
import { aws, entryCases, errorCases, kubernetes, machine, noteCases } from './cases.ts';

/**
 * The wording of messages, frozen in one place: whole mails as people get them (those that matter in docs/messages.md),
 * a Slack message and a report, and one line for everything that can be said. `npx vitest run
 * test/lambda/report/golden.test.ts -u` rewrites them.
 */

const others = ['dataset.datasetProfile', 'chart.chartUsageStatistics'];
const entries = (...names: string[]) =>
  names.map((name, at) => {
    const [, outcome, cause, more] = entryCases.find(([known]) => known === name)!;
    return anEntry(outcome, cause, at === 0 ? { owner: 'data platform', ...more } : { name: others[at - 1], ...more });
  });
const error = (name: string) => ({ cause: errorCases.find(([known]) => known === name)![1] });
const notes = (...names: string[]) => names.map((name) => noteCases.find(([known]) => known === name)![1]);
const server = 'http://gms.internal.example.com:8080';
const many = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    anEntry('rows-missing', { kind: 'missing', expected: 52_000 + at, found: 34_000 }, { name: `dataset.index${at}` }),
  );

interface Mail {
  name: string;
  /** Its heading in docs/messages.md, where it is one of those that matter. */
  heading?: string;
  report: ReportData;
  audience?: Audience;
}

/** The message about these cases. */
const about = (name: string, heading: string, ...cases: string[]): Mail => ({
  name,
  heading,
  report: aReportOf(entries(...cases), { server }),
});

const mails: Mail[] = [
  about('ordinary', 'An ordinary night', 'truncated', 'below the threshold'),
  {
    name: 'preview',
    heading: 'The first preview',
    report: aReportOf(entries('would be truncated', 'below the threshold'), {
      server,
      mode: 'preview',
      unmanagedIndices: [
        {
          indexName: 'chart_chartusagestatisticsaspect_v1',
          entityType: 'chart',
          aspect: 'chartUsageStatistics',
          sizeMb: 8100,
        },
      ],
    }),
  },
  about('above-the-ceiling', 'More is old than its ceiling allows: a person decides', 'above the ceiling'),
  about('rows-missing', 'Rows are missing after a delete', 'rows missing after a delete', 'held back by another index'),
  about('rows-missing-after-a-reindex', 'Rows are missing after a reindex', 'rows missing after a reindex'),
  about('quarantined', 'The nights after: the index is quarantined', 'quarantined: a reindex lost rows', 'truncated'),
  about('reindex-not-proven', 'Nothing proves that a reindex kept every row', 'reindex not proven: rows are left out'),
  about('refuses-deletes', 'The index refuses deletes', 'the index refuses deletes'),
  {
    name: 'still-running',
    heading: 'The night was too short',
    report: aReportOf(entries('still running'), { server, finishedAt: '2026-08-14T15:30:00.000Z' }),
  },
  {
    name: 'token-refused',
    heading: 'The token is refused',
    report: aReportOf([], { server, ...error('token refused') }),
  },
  {
    name: 'login-page',
    heading: 'The address leads to a login page',
    report: aReportOf([], { server, ...error('login page') }),
  },
  {
    name: 'released',
    heading: 'A release is refused',
    report: aReportOf([], { server, result: 'attention', notes: notes('not released: rows missing') }),
  },
  {
    name: 'paused',
    report: aReportOf(entries('below the threshold'), { server, notes: notes('paused, and nothing due') }),
  },
  {
    name: 'rows-missing-on-a-machine',
    report: aReportOf(entries('rows missing after a delete', 'above the ceiling'), { server }),
    audience: machine,
  },
  { name: 'rows-missing-in-64-indices', report: aReportOf(many(64), { server }) },
  {
    name: 'not-verified-in-a-preview',
    report: aReportOf(entries('a preview verifies nothing, and a release is accepted'), { server, mode: 'preview' }),
  },
  {
    name: 'above-the-ceiling-on-kubernetes',
    report: aReportOf(entries('above the ceiling'), { server }),
    audience: kubernetes,
  },
  { name: 'released-after-a-reindex', report: aReportOf([], { server, notes: notes('released after a reindex') }) },
];

const mailOf = ({ report, audience = aws }: Mail): string => {
  const message = messageOf(withSentences(report, audience), { audience });
  return `Subject: ${message.subject}\n\n${mailDestination.render(message)}\n`;
};

/** What the report as JSON leaves out. */
const besides = ({ urgency, subject, section, inspect }: Sentences): string =>
  `{${[urgency, subject, section, inspect?.line].filter(Boolean).join('; ')}}`;

describe('messages as they arrive', () => {
  test.each(mails.filter(({ heading }) => heading === undefined))('the mail of $name', async (mail) => {
    await expect(mailOf(mail)).toMatchFileSnapshot(`golden/${mail.name}.txt`);
  });

  test('the Slack message and the report of rows that are missing after a reindex', async () => {
    const { name, report } = mails.find((mail) => mail.name === 'rows-missing-after-a-reindex')!;
    const message = messageOf(withSentences(report, aws), { audience: aws });
    const shown = (body: unknown) => `${JSON.stringify(body, null, 2)}\n`;
    await expect(shown(amazonQ.render(message))).toMatchFileSnapshot(`golden/${name}.slack.json`);
    await expect(shown(json.render(message))).toMatchFileSnapshot(`golden/${name}.report.json`);
  });

  test('everything that can be said of an index, a run, and in a note', async () => {
    const context = contextOf(aReportOf([]), machine);
    const reasons = entryCases.map(([name, outcome, cause, more]) => {
      const entry = anEntry(outcome, cause, more);
      const report = aReportOf([entry]);
      const { policies } = withSentences(report, machine);
      const rest = besides(sentencesOf(entry, contextOf(report, machine)));
      return `[${name}] ${outcome}: ${policies[0]?.reason} ${rest}`;
    });
    const errors = errorCases.map(([name, cause]) => {
      const { error } = withSentences(aReportOf([], { cause }), machine);
      return `[${name}] ${error} ${besides(sentencesOfError(cause, context))}`;
    });
    const said = noteCases.map(([name, note]) => {
      const report = withSentences(aReportOf([], { notes: [note] }), machine);
      return `[${name}] ${report.notes?.[0]?.text} ${besides(sentencesOfNote(note, context))}`;
    });
    const request = { operation: 'dry-run' } as const;
    const failures = [
      ...serverErrorKinds.map((kind): ServerError => ({ ...request, kind })),
      ...engineKinds.map((engine): ServerError => ({ ...request, kind: 'server-error', engine })),
    ].map((one) => `[${one.engine ?? one.kind}] ${errorText(one)} ${besides(failedRequest('', one, context))}`);
    const parts = [
      `An index\n\n${reasons.join('\n')}`,
      `The run\n\n${errors.join('\n')}`,
      `A note\n\n${said.join('\n')}`,
      `An answer of the server\n\n${failures.join('\n')}`,
    ];
    const text = `${parts.join('\n\n')}\n`;
    expect(text).not.toMatch(/[.?!] [a-z]+[\s,]/);
    await expect(text).toMatchFileSnapshot('golden/everything.txt');
  });
});

test('docs/messages.md shows the messages that matter', async () => {
  const shown = mails.filter(({ heading }) => heading !== undefined);
  const page = [
    '# What will arrive',
    '',
    'Each run sends one message: a mail, a message in Slack with the same facts in fewer words, and the report as JSON. ' +
      'These are the twelve that matter, as mails of a stage on AWS; on Kubernetes and on a machine they have the commands for there. ' +
      'The subject names the worst index; the first line says which DataHub it is, and how urgent.',
    '',
    'The page is generated (`npx vitest run test/lambda/report/golden.test.ts -u`). For one of your own reports: `npm run preview-message -- --report FILE`.',
    ...shown.flatMap((mail) => ['', `## ${mail.heading}`, '', '```text', mailOf(mail).trimEnd(), '```']),
    '',
    '## Formats',
    '',
    '`--notify-format` takes any of them (in the chart `notification.format`, for a stage’s topic `emailFormat`, `httpsFormat`, `queueFormat`); `json` has [a schema](report.schema.json).',
    '',
    '| format | what it is | characters at most |',
    '|---|---|---|',
    ...Object.values(destinations).map(
      ({ name, what, limits }) => `| \`${name}\` | ${what} | ${limits.characters.toLocaleString('en')} |`,
    ),
    '',
  ].join('\n');
  await expect(page).toMatchFileSnapshot('../../../docs/messages.md');
});
