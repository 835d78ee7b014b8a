import { memoryOf } from '../../cli/history/memory.ts';
import { historyPage } from '../../cli/pages/history-page.ts';
import type { Page } from '../../cli/pages/model.ts';
import { runPage } from '../../cli/pages/run/run-page.ts';
import { surveyPage } from '../../cli/pages/survey-page.ts';
import type { Age, Survey, SurveyedIndex } from '../../cli/survey/count.ts';
import { dayMillis } from '../../lambda/facts/limits.ts';
import type { Report } from '../../lambda/facts/report-schema.ts';
import type { Night } from '../../lambda/memory/night.ts';
import { composeMessage } from '../../lambda/notification/message.ts';
import { dottedName, searchIndex } from '../../lambda/policy/aspects.ts';
import type { Policy } from '../../lambda/policy/schema.ts';
import { nightReport } from '../support/nights/reports.ts';
import { aPolicy } from '../support/policies.ts';
import { anEntry, aReport } from '../support/reports.ts';

/** Pages of every kind, for ordinary nights and bad ones: the browser tests load them, and people can look at them. */

const now = Date.UTC(2026, 10, 21, 3, 30);

/** Nights of one index, the last one now: it grows, and now and then a truncation deletes what is past the retention. */
export function someNights(
  index: string,
  count: number,
  {
    rows = 200_000,
    grows = 3000,
    every = 7,
    without = () => false,
  }: {
    rows?: number;
    grows?: number;
    every?: number;
    without?(night: number): boolean;
  } = {},
): Night[] {
  let [total, overdue] = [rows, rows * 0.05];
  return Array.from({ length: count }, (_, at): Night => {
    total += grows * (1 + ((at * 7) % 5) / 5);
    overdue += grows;
    const deleted = at % every === every - 1 ? Math.round(overdue) : undefined;
    const night: Night = {
      index,
      night: new Date(now - (count - 1 - at) * dayMillis).toISOString(),
      rows: Math.round(total),
      overdue: Math.round(overdue),
      mb: Math.round(total / 240) / 10,
      outcome: deleted === undefined ? 'below-threshold' : 'truncated',
      ...(deleted !== undefined && { deleted, seconds: 40 }),
    };
    if (deleted !== undefined) [total, overdue] = [total - deleted, 0];
    return night;
  }).filter((_, at) => !without(at));
}

const hostile = '"><script>document.title="taken"</script><img src=x onerror=alert(1)>';

export function aSurvey(): Page {
  const index = (entityType: string, aspect: string, rowsTotal: number, shares: readonly number[]): SurveyedIndex => ({
    entityType,
    aspect,
    protected: false,
    indexName: `${searchIndex({ entityType, aspect })}_1767633212416`,
    sizeMb: rowsTotal / 2400,
    counts: {
      kind: 'counted',
      rowsTotal,
      older: Object.fromEntries(
        ([30, 90, 180, 365] as const).map((age, at) => [age, Math.round(rowsTotal * (shares[at] ?? 0))]),
      ) as Record<Age, number>,
      ignoresForce: false,
    },
  });
  const survey: Survey = {
    indices: [
      index('dataset', 'datasetUsageStatistics', 48_000_000, [0.92, 0.75, 0.51, 0.3]),
      index('dataset', 'operation', 9_000_000, [0.85, 0.55, 0.1]),
      index('dataset', 'datasetProfile', 24_000, [0.9, 0.7, 0.4, 0.09]),
      index('chart', 'chartUsageStatistics', 6000, [0.6]),
      index('query', 'queryUsageStatistics', 0, []),
      {
        ...index('dataset', hostile, 0, []),
        counts: { kind: 'failed', error: { kind: 'unreadable', operation: 'dry-run', text: hostile } } as never,
      },
    ],
    unnamed: [hostile],
  };
  const nights = memoryOf(someNights('dataset_operationaspect_v1', 60));
  return surveyPage({ survey, checks: [], server: 'https://datahub.example.com/api/gms', now, nights });
}

/** The page of a run. */
function aRun(given: Report, more: { policy?: Partial<Policy>; nights?: number; owner?: string } = {}): Page {
  const report = {
    ...given,
    policies: given.policies.map((entry) => ({ ...entry, ...(more.owner && { owner: more.owner, note: more.owner }) })),
  };
  const context = {
    local: true,
    localCommand: {
      program: 'npm start --',
      options: '--gms-url https://datahub.example.com/api/gms',
      policies: 'p.json',
    },
  };
  const indices = report.policies.map((entry) => searchIndex(entry));
  return runPage({
    report,
    message: composeMessage(report, context),
    context,
    server: 'https://datahub.example.com/api/gms',
    policies: new Map(
      report.policies.map((entry) => [searchIndex(entry), aPolicy({ ...entry, ...more.policy } as Partial<Policy>)]),
    ),
    older: new Map(
      report.policies.map((entry) => [
        dottedName(entry),
        new Map([30, 90, 180].map((age) => [age, Math.round((entry.rowsTotal ?? 0) * (1 - age / 200))])),
      ]),
    ),
    uncounted: 0,
    nights: new Map(indices.map((index) => [index, someNights(index, more.nights ?? 0)])),
  });
}

export function aHistory(): Page {
  const nights: Night[] = [
    ...someNights('dataset_datasetusagestatisticsaspect_v1', 120, { rows: 2_000_000, grows: 20_000 }),
    ...someNights('dataset_operationaspect_v1', 120, { without: (at) => at > 40 && at < 60 }),
    ...someNights('dataset_datasetprofileaspect_v1', 1, { rows: 5000 }),
    // A million-fold range.
    ...someNights('query_queryusagestatisticsaspect_v1', 30).map((night, at) => ({
      ...night,
      rows: Math.round(3 * 10 ** (at / 5)),
    })),
    ...someNights('dashboard_dashboardusagestatisticsaspect_v1', 20).map(({ rows: _, overdue: __, ...night }) => night),
  ];
  return historyPage({
    memory: memoryOf(nights),
    place: '/home/ada/.local/state/datahub-retention/in-flight.nights.jsonl',
    now,
  });
}

const previewed = await nightReport('previews/preview');
const rowsMissing = await nightReport('missing/rows-missing-after-a-reindex');
const serverDown = await nightReport('run-errors/server-down');
const healthy = await nightReport('ordinary/healthy');
const twoHundred = aReport(
  Array.from({ length: 200 }, (_, at) => {
    const name = `dataset.aspectNumber${String(at).padStart(3, '0')}`;
    return at % 10 === 3
      ? anEntry('truncated', { kind: 'verified', by: 'counts' }, { name, rowsDeleted: 1_200_034 })
      : anEntry('below-threshold', { kind: 'below-threshold', minDeletePercent: 40 }, { name });
  }),
);

export const samples: Readonly<Record<string, () => Page>> = {
  survey: aSurvey,
  preview: () => aRun(previewed, { nights: 30, owner: hostile }),
  'a run with missing rows': () => aRun(rowsMissing, { nights: 12 }),
  'a run that failed': () => aRun(serverDown),
  'an ordinary run': () => aRun(healthy, { nights: 90, policy: { maxDeletePercent: 95 } }),
  'two hundred policies': () => aRun(twoHundred, { nights: 30 }),
  history: aHistory,
};
