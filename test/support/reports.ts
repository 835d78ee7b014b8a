import { resultOf, worst } from '../../lambda/model/outcomes.ts';
import type { DecidedIndex, Report, ReportData } from '../../lambda/model/report-schema.ts';
import type { Audience } from '../../lambda/report/guide/audience.ts';
import { withSentences } from '../../lambda/report/sentences/sentences.ts';

/** Reports built from defaults, for tests of single sentences; whole messages are tested with the reports of real runs. */

/** What is known about `dataset.operation`, or another index, after one run. */
export function anEntry(
  outcome: DecidedIndex['outcome'],
  cause: DecidedIndex['cause'],
  { name = 'dataset.operation', ...more }: Partial<DecidedIndex> & { name?: string } = {},
): DecidedIndex {
  const [entityType = '', aspect = ''] = name.split('.');
  return {
    entityType,
    aspect,
    retentionDays: 90,
    cutoffMillis: Date.UTC(2026, 4, 16, 3, 30),
    announced: 'delete',
    rowsTotal: 3_466_120,
    rowsToDelete: 1_200_034,
    ...more,
    outcome,
    cause,
  };
}

export const aReportOf = (policies: DecidedIndex[], more: Partial<ReportData> = {}): ReportData => ({
  version: 1,
  runId: 'nightly-2026-08-14',
  jobVersion: '0.1.0',
  stage: 'prod',
  mode: 'enforce',
  startedAt: '2026-08-14T03:30:00.000Z',
  finishedAt: '2026-08-14T05:44:00.000Z',
  result: more.cause ? 'failed' : worst(policies.map(({ outcome }) => resultOf[outcome])),
  notes: [],
  policies,
  unmanagedIndices: [],
  ...more,
});

/** The same with its English. */
export const aReport = (policies: DecidedIndex[], more?: Partial<ReportData>, audience?: Audience): Report =>
  withSentences(aReportOf(policies, more), audience);
