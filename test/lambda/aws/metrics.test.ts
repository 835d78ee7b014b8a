import { expect, test } from 'vitest';
import { reportMetrics } from '../../../lambda/aws/metrics.ts';
import type { Outcome } from '../../../lambda/model/outcomes.ts';
import type { Report } from '../../../lambda/model/report-schema.ts';
import { aReport, anEntry as entryOf } from '../../support/reports.ts';

/** What a report counts, printed: a line of the log for the run and for each index, with dimensions, units and values. */

/** With no number but those that are given. */
const anEntry = (outcome: Outcome, more = {}) =>
  entryOf(outcome, { kind: 'verified' }, { rowsToDelete: undefined, rowsTotal: undefined, ...more });
const truncated = anEntry('truncated', { rowsDeleted: 62_000, rowsToDelete: 6019, rowsTotal: 10_000 });
const missing = (rowsMissing?: number) => anEntry('rows-missing', { rowsMissing });

const cases: [about: string, report: Report, confirmed?: number][] = [
  ['a run that went well, and an index that it truncated', aReport([truncated])],
  ['a run that needs attention', aReport([], { result: 'attention' })],
  ['rows that are missing: also in an index in which they could not be counted', aReport([missing(4000), missing()])],
  ['rows that are missing, of which none could be counted', aReport([missing(0)])],
  ['how many subscriptions are confirmed', aReport([]), 2],
  ['that none is', aReport([]), 0],
  ['a verdict that a preview is the first to publish', aReport([truncated], { mode: 'preview' })],
  [
    'a truncation that still runs: its rows are for the run that sees its end',
    aReport([anEntry('still-running', { rowsDeleted: 5, rowsToDelete: 9, rowsTotal: 100 })]),
  ],
  [
    'a reindex whose end is unknown',
    aReport([anEntry('unknown', { rowsDeleted: 5, rowsMissing: 2, rowsNotVisible: 3 })]),
  ],
  ['a resumed truncation, without its old share', aReport([{ ...truncated, resumed: true }])],
  ['an index without a number', aReport([anEntry('failed')])],
  [
    'two indices, of which the second has nothing of the first',
    aReport([
      truncated,
      anEntry('below-threshold', { name: 'dataset.datasetProfile', rowsToDelete: 3, rowsTotal: 100 }),
    ]),
  ],
  [
    'a row limit: the share is of all rows past their retention',
    aReport([anEntry('truncated', { rowsToDelete: 50, rowsPastRetention: 700, rowsTotal: 1000 })]),
  ],
  ['a name that CloudWatch does not accept', aReport([], { stage: 'größe\n🦄' })],
  ['no name', aReport([], { stage: '' })],
];

function shown(line: string): string {
  const { _aws, ...values } = JSON.parse(line);
  const [{ Namespace, Dimensions, Metrics }] = _aws.CloudWatchMetrics;
  const dimensions = Dimensions[0].map((name: string) => `${name}=${values[name]}`).join(' ');
  const metrics = Metrics.map(
    ({ Name, Unit }: { Name: string; Unit: string }) => `${Name}=${values[Name]} ${Unit}`,
  ).join(', ');
  return `    ${new Date(_aws.Timestamp).toISOString()} ${Namespace} ${dimensions}: ${metrics}`;
}

test('metrics of a run: one result by its name, because a 0 is paid for like a 1, and what is known of each index', async () => {
  const blocks = cases.map(([about, report, confirmed]) =>
    [about, ...reportMetrics(report, confirmed).map(shown)].join('\n'),
  );
  await expect(`${blocks.join('\n')}\n`).toMatchFileSnapshot('metrics.txt');
});
