import { type Outcome, resultOf, worst } from '../../../lambda/facts/outcome.ts';
import type { Check, PolicyEntry, Report } from '../../../lambda/facts/report-schema.ts';

/** Reports of one night, built from defaults. Reasons are worded as the steps of a run word them. */

export const startedAt = '2026-08-14T03:30:00.000Z';

export function reportOf(policies: PolicyEntry[], changes: Partial<Report> = {}): Report {
  return {
    version: 1,
    runId: 'nightly-2026-08-14',
    stage: 'prod',
    mode: 'enforce',
    startedAt,
    finishedAt: '2026-08-14T05:44:00.000Z',
    result: worst(policies.map(({ outcome }) => resultOf[outcome])),
    policies,
    unmanagedIndices: [],
    ...changes,
  };
}

export function entryOf(name: string, outcome: Outcome, changes: Partial<PolicyEntry> = {}): PolicyEntry {
  const [entityType = '', aspect = ''] = name.split('.');
  return {
    entityType,
    aspect,
    retentionDays: 90,
    cutoff: '2026-05-16T03:30:00.000Z',
    cutoffMillis: Date.parse('2026-05-16T03:30:00.000Z'),
    outcome,
    reason: '34.62 % of the rows are older than 90 days',
    strategy: 'delete-by-query',
    rowsTotal: 3_466_120,
    rowsToDelete: 1_200_034,
    percent: 34.62,
    ...changes,
  };
}

export const truncated = (name: string, changes: Partial<PolicyEntry> = {}): PolicyEntry =>
  entryOf(name, 'truncated', {
    reason: '1200034 rows deleted, verified by counting again',
    taskId: 'qhxGdzytQS-pQek8CwBCZg:533446',
    rowsDeleted: 1_200_034,
    rowsRemaining: 0,
    durationSeconds: 734,
    ...changes,
  });

export const belowThreshold = (name: string, percent = 4.21): PolicyEntry =>
  entryOf(name, 'below-threshold', {
    reason: `${percent.toFixed(2)} % of the rows are older than 90 days, less than the 10 % from which a truncation is worth it`,
    percent,
    rowsTotal: 1_000_000,
    rowsToDelete: percent * 10_000,
  });

const physical = 'dataset_datasetusagestatisticsaspect_v1';
const recovery =
  `The alias ${physical} has moved from ${physical}_1780000000000 to ${physical}_1786678200000; the rows should still be in ${physical}_1780000000000 (compare GET ${physical}_1780000000000/_count with GET ${physical}_1786678200000/_count). ` +
  `To go back: POST /_aliases {"actions":[{"remove":{"index":"${physical}_1786678200000","alias":"${physical}"}},{"add":{"index":"${physical}_1780000000000","alias":"${physical}"}}]}, then POST /_reindex {"source":{"index":"${physical}_1786678200000"},"dest":{"index":"${physical}_1780000000000"}} for rows written since. ` +
  `Run no DataHub upgrade before this is done: from 2026-07-27 on, its system-update deletes ${physical}_1780000000000. ` +
  'This index stays closed to truncation until you clear it: {"mode":"enforce","clear":["dataset.datasetUsageStatistics"]}';

const withoutCounts = { rowsTotal: undefined, rowsToDelete: undefined, percent: undefined };

/** One policy for each attention and failure outcome, and ordinary ones between them. */
export const troubled: PolicyEntry[] = [
  truncated('dataset.operation', { sizeBeforeMb: 8078.4, sizeAfterMb: 8102.2 }),
  belowThreshold('dataset.datasetProfile'),
  entryOf('chart.chartUsageStatistics', 'nothing-to-delete', {
    reason: 'none of 201 rows is older than 90 days',
    rowsTotal: 201,
    rowsToDelete: 0,
    percent: 0,
  }),
  entryOf('dataJob.datahubIngestionRunSummary', 'disabled', { reason: 'the policy is switched off', ...withoutCounts }),
  entryOf('dashboard.dashboardUsageStatistics', 'above-ceiling', {
    reason:
      '99.20 % of the rows are older than 90 days, more than the ceiling of 90 %. To approve it once: {"mode":"enforce","only":["dashboard.dashboardUsageStatistics"],"approveRows":141243}',
    rowsTotal: 135_600,
    rowsToDelete: 134_517,
    percent: 99.2,
  }),
  entryOf('assertion.assertionRunEvent', 'in-flight', {
    reason: 'the run nightly-2026-08-13 started a truncation 23 hours ago that is not resolved',
    ...withoutCounts,
  }),
  entryOf('query.queryUsageStatistics', 'quarantined', {
    reason:
      'closed since rows were missing: rows that should stay are gone: 1,200 of 9,000 rows newer than the cutoff are left. Look for who else deletes here (datahub-gc, a person, entity deletion) and restore from a snapshot of the search engine where these rows matter. This index stays closed to truncation until you clear it: {"mode":"enforce","clear":["query.queryUsageStatistics"]}',
  }),
  entryOf('dataProcessInstance.dataProcessInstanceRunEvent', 'still-running', {
    reason: 'the time of this run is over; the next run goes on watching',
    taskId: 'qhxGdzytQS-pQek8CwBCZg:540001',
    rowsTotal: 276_893_693,
    rowsToDelete: 241_939_828,
    rowsDeleted: 34_953_865,
    durationSeconds: 41_000,
  }),
  entryOf('custom.incomplete', 'incomplete', {
    reason: 'the task ended, but 45,012 of 134,517 rows to delete are still there; the next run tries again',
    taskId: 'qhxGdzytQS-pQek8CwBCZg:540002',
    rowsRemaining: 45_012,
    durationSeconds: 90,
  }),
  entryOf('custom.notStarted', 'not-started', {
    reason: 'rows are missing in dataset.datasetUsageStatistics, so nothing more was started',
  }),
  entryOf('custom.lost', 'lost', {
    reason: 'the server no longer knows the task, and the counts have not moved for 25 min',
    taskId: 'qhxGdzytQS-pQek8CwBCZg:540003',
  }),
  entryOf('custom.failed', 'failed', {
    reason: 'the dry run was refused: 403, User is unauthorized to truncate timeseries index',
    ...withoutCounts,
  }),
  entryOf('custom.unknown', 'unknown', {
    reason: 'the server did not answer within 120 s, and the counts have not moved for 10 min',
  }),
  entryOf('dataset.datasetUsageStatistics', 'rows-missing', {
    reason: `the reindex did not bring back every row that should stay: 138 of 1,083 rows newer than the cutoff are there. ${recovery}`,
    strategy: 'reindex',
    rowsMissing: 945,
  }),
];

/** Checks as lambda/preflight/checks.ts words them, all well but for the changed ones. */
export const checksOf = (changes: Partial<Record<Check['name'], Omit<Check, 'name'>>> = {}): Check[] =>
  Object.entries({
    Address: {
      state: 'ok' as const,
      text: 'http://gms.internal.example.com:8080/operations, not encrypted, in a private network',
    },
    DNS: { state: 'ok' as const, text: 'gms.internal.example.com is 10.0.3.7' },
    Connection: { state: 'ok' as const, text: 'stands, without TLS' },
    Token: { state: 'ok' as const, text: 'expires in 80 days (2026-11-02 03:30 UTC)' },
    Sizes: { state: 'ok' as const, text: 'are told' },
    Truncation: { state: 'ok' as const, text: 'is allowed (asked by a dry run)' },
    'Task status': { state: 'ok' as const, text: 'is told' },
    Clock: { state: 'ok' as const, text: 'agrees with ours' },
    ...changes,
  }).map(([name, check]) => ({ name: name as Check['name'], ...check }));

const refusedSizes =
  'the server answered 403: "User is unauthorized to get timeseries index sizes". The token\'s owner lacks the privilege "Get Timeseries index sizes API", or is suspended. Grant it in DataHub under Settings > Permissions > Policies.';
const refusedStatus =
  'the server answered 403: "User is unauthorized to get ES task status". The token\'s owner lacks the privilege "Get ES task status API", or is suspended. Grant it in DataHub under Settings > Permissions > Policies.';
const noConnection =
  'no connection to gms.internal.example.com:8080 (UND_ERR_CONNECT_TIMEOUT). Check that the address and port are right, the server is up, and security groups and firewalls let this job through. Tried 4 times.';

export const reports = {
  'all-well': reportOf(
    [
      truncated('dataset.operation', { sizeBeforeMb: 8078.4, sizeAfterMb: 5210.6 }),
      truncated('dataset.datasetUsageStatistics', {
        strategy: 'reindex',
        rowsTotal: 135_600,
        rowsToDelete: 134_517,
        rowsDeleted: 134_517,
        durationSeconds: 41,
        reason:
          '134517 rows deleted, verified by counting again; 3 rows newer than the cutoff are gone as well, as after ordinary entity deletions',
      }),
      truncated('query.queryUsageStatistics', { rowsDeleted: 2_950_000, durationSeconds: 7080, adopted: true }),
      belowThreshold('dataset.datasetProfile', 8.7),
      belowThreshold('assertion.assertionRunEvent', 0.04),
      entryOf('chart.chartUsageStatistics', 'nothing-to-delete', {
        rowsTotal: 0,
        rowsToDelete: 0,
        reason: 'the index is empty',
        percent: 0,
      }),
    ],
    {
      unmanagedIndices: [
        {
          indexName: 'dashboard_dashboardusagestatisticsaspect_v1',
          entityType: 'dashboard',
          aspect: 'dashboardusagestatistics',
          sizeMb: 912.2,
        },
        { indexName: 'dataprocessinstance_dataprocessinstanceruneventaspect_v1', sizeMb: 41_320.5 },
        {
          indexName: 'datajob_datahubingestioncheckpointaspect_v1',
          entityType: 'datajob',
          aspect: 'datahubingestioncheckpoint',
          sizeMb: 5000,
        },
        { indexName: 'small_oneaspect_v1', sizeMb: 0.000208 },
      ],
    },
  ),
  'nothing-to-do': reportOf(
    [
      belowThreshold('dataset.operation', 3.1),
      entryOf('dataset.datasetProfile', 'nothing-to-delete', {
        rowsTotal: 201,
        rowsToDelete: 0,
        percent: 0,
        reason: 'none of 201 rows is older than 90 days',
      }),
    ],
    { finishedAt: '2026-08-14T03:30:04.000Z' },
  ),
  preview: reportOf(
    [
      entryOf('dataset.operation', 'would-truncate'),
      entryOf('dataset.datasetUsageStatistics', 'would-truncate', {
        rowsTotal: 135_600,
        rowsToDelete: 120_000,
        percent: 88.5,
      }),
      troubled[4]!,
      belowThreshold('dataset.datasetProfile'),
    ],
    { mode: 'preview', finishedAt: '2026-08-14T03:30:11.000Z', preflight: checksOf() },
  ),
  'preview-with-two-failed-checks': reportOf([entryOf('dataset.operation', 'would-truncate')], {
    mode: 'preview',
    finishedAt: '2026-08-14T03:30:11.000Z',
    preflight: checksOf({
      Sizes: { state: 'failed', text: refusedSizes, remedy: 'runs work without, and report no sizes' },
      'Task status': {
        state: 'failed',
        text: refusedStatus,
        remedy: 'runs work without; truncations are then watched by counting rows',
      },
    }),
    notes: [`Index sizes are unknown: Index sizes: ${refusedSizes}`],
  }),
  'preview-without-connection': reportOf(
    ['dataset.operation', 'dataset.datasetProfile'].map((name) =>
      entryOf(name, 'failed', {
        reason: 'not looked at: the server could not be asked (see the error of the run)',
        ...withoutCounts,
      }),
    ),
    {
      mode: 'preview',
      finishedAt: '2026-08-14T03:30:27.000Z',
      error: `Index sizes: ${noConnection}`,
      preflight: checksOf({
        Connection: {
          state: 'failed',
          text: noConnection,
          remedy:
            'a private address needs subnets with a route to it (subnetIds), and the security group of the load balancer must let port 8080 in from that of the functions (securityGroupIds)',
        },
      }).slice(0, 4),
    },
  ),
  'preview-with-an-old-token': reportOf([entryOf('dataset.operation', 'would-truncate')], {
    mode: 'preview',
    finishedAt: '2026-08-14T03:30:11.000Z',
    preflight: checksOf({
      Token: {
        state: 'note',
        text: 'expires in 10 days (2026-08-24 03:30 UTC)',
        remedy:
          'create one in DataHub under Settings > Access Tokens, for an account with the three privileges, and store it in the parameter of the old one, before it does',
      },
    }),
    notes: ['The token expires on 2026-08-24: create a new one in DataHub and store it before then.'],
  }),
  troubled: reportOf(troubled, {
    notes: [
      'The token expires on 2026-08-24: create a new one in DataHub and store it before then.',
      'The server sent no Date header, so its clock could not be compared.',
    ],
  }),
  'token-refused': reportOf(
    ['dataset.operation', 'dataset.datasetProfile', 'chart.chartUsageStatistics'].map((name) =>
      entryOf(name, 'failed', {
        reason: 'not looked at: the server refused the access token (401), see the error of this run',
        ...withoutCounts,
      }),
    ),
    {
      error: 'the server refused the access token (401): it is wrong, revoked or expired',
      finishedAt: '2026-08-14T03:30:02.000Z',
    },
  ),
  'failed-in-plan': reportOf([], {
    result: 'failed',
    error:
      'there is no policy below /datahub-retention/prod/policies: put one there, or add it to the stage file and deploy',
    finishedAt: '2026-08-14T03:30:01.000Z',
  }),
  'two-hundred-policies': reportOf(
    Array.from({ length: 200 }, (_, at) => {
      const name = `custom.aspectNumber${String(at).padStart(3, '0')}`;
      if (at % 40 === 7)
        return entryOf(name, 'failed', {
          reason: 'the server was too slow: the time of this function was over before its turn',
          ...withoutCounts,
        });
      if (at % 50 === 11)
        return {
          ...troubled[4]!,
          entityType: 'custom',
          aspect: `aspectNumber${String(at).padStart(3, '0')}`,
          reason: `99.20 % of the rows are older than 90 days, more than the ceiling of 90 %. To approve it once: {"mode":"enforce","only":["${name}"],"approveRows":141243}`,
        };
      if (at % 10 === 3 || at % 10 === 8)
        return truncated(name, {
          reason:
            "1200034 rows deleted, verified by counting again; 212 rows newer than the cutoff are gone as well, as after ordinary entity deletions; the task's counters say 1200030 of 1200034; 4 rows changed meanwhile and were left",
          indexName: `acme_datahub_prod_custom_aspectnumber${at}aspect_v1_1780000000000`,
          sizeBeforeMb: 100 + at,
          sizeAfterMb: 90 + at,
        });
      return {
        ...belowThreshold(name, (at % 95) / 10),
        indexName: `acme_datahub_prod_custom_aspectnumber${at}aspect_v1_1780000000000`,
        sizeBeforeMb: 100 + at,
      };
    }),
    {
      unmanagedIndices: Array.from({ length: 150 }, (_, at) => ({
        indexName: `other_number${at}aspect_v1`,
        entityType: 'other',
        aspect: `number${at}`,
        sizeMb: at * 7,
      })),
      notes: ['The sizes of indices could not be read (403): they are left out.'],
    },
  ),
} satisfies Record<string, Report>;
