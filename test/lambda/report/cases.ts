import type { Cause } from '../../../lambda/model/cause.ts';
import type { Note } from '../../../lambda/model/note.ts';
import type { Outcome } from '../../../lambda/model/outcomes.ts';
import type { DecidedIndex } from '../../../lambda/model/report-schema.ts';
import type { ServerError } from '../../../lambda/model/server-error.ts';
import type { Audience } from '../../../lambda/report/guide/audience.ts';

/** One case of everything that a message can be about: docs/messages.md shows them, and tests measure them. */

export const aws: Audience = {
  kind: 'aws',
  region: 'eu-central-1',
  stateMachineArn: 'arn:aws:states:eu-central-1:111122223333:stateMachine:datahub-retention-prod',
  dashboardUrl:
    'https://eu-central-1.console.aws.amazon.com/cloudwatch/home?region=eu-central-1#dashboards/dashboard/datahub-retention-prod-eu-central-1',
  parameterPrefix: '/datahub-retention/prod',
};
export const kubernetes: Audience = { kind: 'kubernetes', cronJob: 'datahub-retention', namespace: 'datahub' };
export const machine: Audience = {
  kind: 'machine',
  program: 'datahub-retention',
  options: '--gms-url http://gms:8080',
  policies: 'policies.json',
};
export const audiences = [aws, kubernetes, machine];

/** The night before the reports of these cases. */
const at = Date.UTC(2026, 7, 13, 3, 40);
const day = 24 * 3600 * 1000;
const before = 'dataset_operationaspect_v1_1753500600000';
const now = 'dataset_operationaspect_v1_1772335800000';
const reindexed = { method: 'reindex', announced: 'reindex', indexName: before, indexNow: now } as const;
const decidedByAnother = { decidedAt: '2026-08-13T03:40:00.000Z', decidedBy: 'run-x' };
const refused = { kind: 'privilege', operation: 'dry-run', status: 403, text: 'Unauthorized' } as const;
const slow = { kind: 'timeout', operation: 'dry-run', seconds: 60, tries: 2 } as const;
const badRequest = { kind: 'bad-request', operation: 'truncate', status: 400, text: 'Async reindex failed' } as const;

const lost = { kind: 'missing', expected: 52_000, found: 34_000 } as const;
const task = { taskId: 'node-1:4711' };
const reindexing = { method: 'reindex', announced: 'reindex', ...task } as const;
const reindexedThen = { indexBefore: before, indexNow: now, cutoffMillis: at - 90 * day };
const deleted = (rowsDeleted: number, rowsToDelete: number) => ({
  rowsToDelete,
  rowsDeleted,
  rowsRemaining: rowsToDelete - rowsDeleted,
});
const remains = { kind: 'remains' } as const;
const notProven = { kind: 'unproven', inPlace: false } as const;
const quarantinedReindex = { kind: 'quarantined', since: at, outcome: 'unknown', method: 'reindex' } as const;
const outOfTime = {
  kind: 'unresolved',
  why: 'run-time',
  hours: 12,
  since: Date.parse('2026-08-14T03:31:00Z'),
} as const;
const hidden = { kind: 'not-visible', expected: 5000, found: 0 } as const;
const notAllowed: ServerError = {
  kind: 'server-error',
  operation: 'task-status',
  status: 500,
  text: 'security_exception: no permissions for [cluster:monitor/task/get]',
  engine: 'permission',
};
const released = { kind: 'released', index: 'dataset.operation' } as const;
const notReleased = { kind: 'not-released', index: 'dataset.operation' } as const;
const ofServer = (error: ServerError): Cause => ({ kind: 'server', error, sent: 'no' });
const oldAddress = 'http://gms.old:8080';

export type EntryCase = [name: string, outcome: Outcome, cause: Cause, more?: Partial<DecidedIndex>];

export const entryCases: EntryCase[] = [
  ['rows missing after a delete', 'rows-missing', lost],
  ['rows missing after a reindex', 'rows-missing', { ...lost, done: 34_000, total: 52_000 }, reindexed],
  [
    'rows missing after a reindex that is not refreshed',
    'rows-missing',
    { kind: 'missing', expected: 5001, found: 0, unwritten: 1, done: 5000, total: 5001 },
    reindexed,
  ],
  [
    'rows missing, and a shard was lost during the delete',
    'rows-missing',
    { kind: 'missing', expected: 5000, found: 2538, goneBesides: 6112, done: 2950, total: 15_000 },
    { rowsDeleted: 2950, rowsToDelete: 15_000, rowsTotal: 20_000 },
  ],
  ['written and not visible', 'unknown', { ...hidden, written: 5000, done: 5000, total: 5000 }, reindexed],
  ['nothing is visible, and no status was read', 'unknown', { ...hidden, expected: 61, error: notAllowed }, reindexed],
  [
    'rows missing, as where a shard is away',
    'rows-missing',
    { kind: 'missing', expected: 50_000, found: 24_976 },
    { rowsDeleted: 28_122, rowsToDelete: 60_000, rowsTotal: 110_000 },
  ],
  [
    'rows missing, found by another run',
    'rows-missing',
    lost,
    { resumed: true, ...decidedByAnother, rowsMissing: 18_000 },
  ],
  ['one row missing, found by another run', 'rows-missing', { ...lost, found: 51_999 }, decidedByAnother],
  ['rows missing, by another version', 'rows-missing', { kind: 'unread' }, { rowsMissing: 30 }],
  ['rows not visible, by another version', 'unknown', { kind: 'unread' }, { rowsNotVisible: 30 }],
  [
    'rows missing, and no such index',
    'rows-missing',
    { kind: 'missing', expected: 52_000, found: 0 },
    { noIndex: true, rowsDeleted: 1_200_034 },
  ],
  [
    'quarantined: rows missing',
    'quarantined',
    { kind: 'quarantined', since: at, outcome: 'rows-missing', rowsMissing: 400, cutoffMillis: at - 90 * day },
  ],
  [
    'quarantined: there was no such index',
    'quarantined',
    { kind: 'quarantined', since: at, outcome: 'rows-missing', rowsMissing: 400, noIndex: true },
  ],
  [
    'quarantined: a reindex lost rows',
    'quarantined',
    { ...quarantinedReindex, ...reindexedThen, today: { expected: 4000, found: 2800, inPlace: true } },
  ],
  [
    'quarantined: rows are not visible',
    'quarantined',
    {
      ...{ ...quarantinedReindex, ...reindexedThen, rowsNotVisible: 5000 },
      today: { expected: 5000, found: 0, inPlace: true, notVisible: 'written' },
    },
  ],
  [
    'quarantined: rows were not visible, and are not counted today',
    'quarantined',
    { ...quarantinedReindex, ...reindexedThen, rowsNotVisible: 5000, today: { error: slow } },
  ],
  [
    'quarantined: all rows missing, most of them written',
    'quarantined',
    { ...quarantinedReindex, outcome: 'rows-missing', today: { expected: 400, found: 0, inPlace: true, unwritten: 1 } },
  ],
  [
    'quarantined: nothing is visible',
    'quarantined',
    { ...quarantinedReindex, today: { expected: 61, found: 0, inPlace: true, notVisible: 'perhaps' } },
  ],
  [
    'quarantined: a reindex without a task has changed nothing',
    'quarantined',
    { ...quarantinedReindex, today: { expected: 4000, found: 4000, inPlace: false, nothingChanged: true } },
  ],
  [
    'quarantined: a reindex is not proven',
    'quarantined',
    { ...quarantinedReindex, today: { expected: 4000, found: 4000, inPlace: false } },
  ],
  ['reindex not proven: rows are left out', 'unknown', { ...notProven, done: 2800, total: 4000 }, reindexing],
  [
    'reindex not proven: refused',
    'unknown',
    { ...notProven, inPlace: false, error: badRequest },
    { method: 'reindex', announced: 'reindex' },
  ],
  [
    'reindex not proven: the counts do not show it',
    'unknown',
    { ...notProven, done: 80_000, total: 80_000 },
    reindexing,
  ],
  ['reindex not proven: its task vanished', 'unknown', { kind: 'unproven', vanished: true, inPlace: true }, reindexing],
  ['a delete cannot be counted', 'unknown', { kind: 'unproven', error: slow }, task],
  [
    'the index refuses deletes',
    'incomplete',
    { ...remains, done: 0, total: 30_000 },
    { ...deleted(0, 30_000), ...task },
  ],
  ['not refreshed', 'incomplete', { ...remains, done: 30_000, total: 30_000 }, deleted(0, 30_000)],
  [
    'not refreshed, the night after',
    'incomplete',
    { ...remains, done: 0, total: 20_000, conflicts: 20_000 },
    { rowsToDelete: 20_000, rowsDeleted: 0, rowsRemaining: 20_001 },
  ],
  [
    'stopped at a conflict',
    'incomplete',
    { ...remains, done: 6799, conflicts: 1, total: 50_000 },
    { ...deleted(6799, 50_000), ...task, rowsTotal: 100_000, minDeletePercent: 10 },
  ],
  [
    'stopped at a conflict, and the rest is below the threshold',
    'incomplete',
    { ...remains, done: 11, conflicts: 1, total: 9000 },
    { ...deleted(11, 9000), ...task, rowsTotal: 90_000, minDeletePercent: 9.99 },
  ],
  [
    'old rows arrived while it worked',
    'incomplete',
    { ...remains, done: 1_200_034, total: 1_200_034, arrived: 40 },
    { rowsDeleted: 1_200_034, rowsRemaining: 40, ...task },
  ],
  [
    'more is gone than its task deleted',
    'incomplete',
    { ...remains, done: 100, total: 300, goneBesides: 50 },
    { ...deleted(100, 300), ...task, rowsRemaining: 150 },
  ],
  [
    'cancelled',
    'incomplete',
    { ...remains, cancelled: true, done: 800_000, total: 1_200_034 },
    { rowsDeleted: 800_034, rowsRemaining: 400_000, ...task },
  ],
  [
    'its task still runs when it is judged for its age',
    'incomplete',
    { ...remains, runs: true, done: 800_000, total: 1_200_034 },
    { rowsDeleted: 800_000, rowsRemaining: 400_034, ...task },
  ],
  [
    'its reindex still runs when it is judged for its age',
    'unknown',
    { ...notProven, runs: true, done: 800_000, total: 1_200_034 },
    reindexing,
  ],
  [
    'nothing is deleted, and no status says why',
    'incomplete',
    remains,
    { rowsDeleted: 0, rowsRemaining: 1_200_034, ...task },
  ],
  ['still running', 'still-running', { ...outOfTime, done: 400_000, total: 1_200_034, work: 'deleted' }, task],
  [
    'a reindex is still running',
    'still-running',
    { ...outOfTime, lastProgressAt: at + 3_600_000, done: 4000, total: 12_000, work: 'written' },
    reindexing,
  ],
  ['ended, not verified yet', 'still-running', { ...outOfTime, ended: true }, task],
  [
    'sent by another run',
    'still-running',
    { kind: 'unresolved', why: 'another-run', runId: 'run-1', since: at, judgeableAt: at + 780_000 },
  ],
  ['no end seen', 'unknown', { kind: 'unresolved', why: 'server', since: at, error: slow }, task],
  ['task vanished', 'unknown', { kind: 'unresolved', why: 'run-time', since: at, vanished: true }, task],
  ['may have been sent', 'unknown', { kind: 'unresolved', why: 'step', since: at }],
  [
    'a preview verifies nothing',
    'still-running',
    { kind: 'unresolved', why: 'preview', runId: 'run-1', since: at, releasableAt: at + 2 * day },
    task,
  ],
  [
    'a preview verifies nothing, and a release is accepted',
    'still-running',
    { kind: 'unresolved', why: 'preview', runId: 'run-1', since: at - day, releasableAt: at, ended: true },
    task,
  ],
  ['record deleted', 'unknown', { kind: 'gone', what: 'deleted' }, task],
  ['released meanwhile', 'unknown', { kind: 'gone', what: 'released', at }],
  ['superseded', 'unknown', { kind: 'gone', what: 'superseded', runId: 'run-1' }],
  ['already sent', 'not-started', { kind: 'gone', what: 'fenced', runId: 'run-1' }],
  [
    'record not readable',
    'unknown',
    { kind: 'left-alone', why: 'unreadable', fields: ['attempt.cutoffMillis', 'revision'], releasableAt: at + day },
  ],
  [
    'record of another address',
    'still-running',
    { kind: 'left-alone', why: 'address', address: 'http://old:8080', since: at - day, releasableAt: at },
  ],
  ['above the ceiling', 'above-ceiling', { kind: 'above-ceiling', maxDeletePercent: 30, approveRows: 1_260_000 }],
  [
    'above what was approved',
    'above-ceiling',
    { kind: 'above-ceiling', maxDeletePercent: 34.62, approved: 900_000, approveRows: 1_260_000 },
  ],
  [
    'its only row is old',
    'above-ceiling',
    { kind: 'above-ceiling', approveRows: 2 },
    { rowsToDelete: 1, rowsTotal: 1 },
  ],
  ['all rows are old', 'above-ceiling', { kind: 'above-ceiling', approveRows: 3_639_426 }, { rowsToDelete: 3_466_120 }],
  ['oldest hour too large', 'above-ceiling', { kind: 'above-ceiling', approveRows: 1_260_000, rowLimit: 100_000 }],
  ['paused', 'not-started', { kind: 'stopped', by: 'paused' }],
  ['a pause that cannot be read', 'not-started', { kind: 'stopped', by: 'paused', problem: 'It cannot be read.' }],
  [
    'held back by another index',
    'not-started',
    { kind: 'stopped', by: 'breaker', index: 'dataset.operation', outcome: 'rows-missing' },
  ],
  ['the run failed', 'not-started', { kind: 'setup', what: 'run' }],
  ['no task ids', 'not-started', { kind: 'stopped', by: 'no-task-ids', status: 401 }],
  ['out of time', 'not-started', { kind: 'stopped', by: 'run-time', hours: 12 }],
  ['just released', 'not-started', { kind: 'stopped', by: 'release' }],
  ['rows changed', 'not-started', { kind: 'changed', what: 'rows', was: 400, now: 0 }],
  ['far more rows', 'not-started', { kind: 'changed', what: 'grown', was: 400, now: 600_000 }],
  ['reindex changed', 'not-started', { kind: 'changed', what: 'method', method: 'reindex' }],
  ['policy changed', 'not-started', { kind: 'policy', what: 'retentionDays', was: 90, now: 30 }],
  ['policy removed', 'not-started', { kind: 'policy', what: 'removed' }],
  ['server too slow', 'failed', { kind: 'stopped', by: 'plan-time' }],
  [
    'wrong policy',
    'failed',
    { kind: 'policy', what: 'unreadable', problem: '"retentionDay" is not a known field: did you mean retentionDays?' },
  ],
  ['privilege missing', 'failed', ofServer(refused)],
  ['the end of the truncation is not known', 'failed', { kind: 'server', error: slow, sent: 'maybe' }],
  ['no such index', 'failed', ofServer({ kind: 'no-index', operation: 'dry-run' })],
  [
    'no answer to the truncation',
    'failed',
    { kind: 'unchanged', error: { ...slow, operation: 'truncate', seconds: 120, tries: undefined } },
  ],
  ['clock', 'failed', { kind: 'guard', which: 'server-clock', found: 900_000 }],
  ['start in the future', 'failed', { kind: 'guard', which: 'start-in-future', found: 90_000 }],
  ['below the floor', 'failed', { kind: 'guard', which: 'floor', expected: 30 }],
  ['more old rows than rows', 'failed', { kind: 'guard', which: 'counts' }],
  ['a reindex is refused', 'failed', { kind: 'guard', which: 'refuse-reindex' }, { announced: 'reindex' }],
  [
    'no task statuses',
    'failed',
    { kind: 'guard', which: 'task-status', error: { ...refused, operation: 'task-status' } },
  ],
  ['truncated', 'truncated', { kind: 'verified' }, { rowsDeleted: 1_200_034, durationSeconds: 720 }],
  [
    'truncated, and something else deletes, too',
    'truncated',
    { kind: 'verified', done: 250, total: 250, goneBesides: 50 },
    { rowsDeleted: 250, rowsToDelete: 300 },
  ],
  [
    'truncated while rows arrived',
    'truncated',
    { kind: 'verified', done: 50_000, total: 50_000 },
    { rowsToDelete: 50_000, rowsTotal: 100_000, rowsDeleted: 49_760, rowsRemaining: 240 },
  ],
  [
    'truncated, limited',
    'truncated',
    { kind: 'verified', rest: 1007 },
    { rowsToDelete: 99_000, rowsPastRetention: 100_007, rowsDeleted: 99_000, rowsTotal: 300_000 },
  ],
  [
    'truncated by a reindex',
    'truncated',
    { kind: 'verified', done: 12_000, total: 12_000 },
    { rowsLeftBehind: 38_000, rowsToDelete: 38_000, rowsTotal: 50_000, durationSeconds: 720, ...reindexed },
  ],
  [
    'truncated, found by another run',
    'truncated',
    { kind: 'verified' },
    { resumed: true, ...decidedByAnother, ...task, rowsDeleted: 1_200_034 },
  ],
  [
    'truncated without a task ID, and one row is left',
    'truncated',
    { kind: 'verified', rest: 1 },
    { decidedAt: '2026-08-14T03:40:00.000Z', decidedBy: 'nightly-2026-08-14', rowsDeleted: 1 },
  ],
  [
    'would be truncated',
    'would-truncate',
    { kind: 'due', minDeletePercent: 10, rowLimit: 100_000 },
    { rowsToDelete: 98_000, rowsPastRetention: 1_200_034 },
  ],
  ['would be reindexed', 'would-truncate', { kind: 'due', minDeletePercent: 10 }, { announced: 'reindex' }],
  ['below the threshold', 'below-threshold', { kind: 'not-due', minDeletePercent: 50 }],
  [
    'nearly due',
    'below-threshold',
    { kind: 'not-due', minDeletePercent: 10 },
    { rowsToDelete: 2499, rowsTotal: 25_000 },
  ],
  ['nothing to delete', 'nothing-to-delete', { kind: 'not-due' }, { rowsToDelete: 0 }],
  ['disabled', 'disabled', { kind: 'not-due' }],
];

const refusedTls = (code: string) => ofServer({ kind: 'tls', operation: 'dry-run', host: 'gms:8080', code });
const noConnection = { kind: 'connect', operation: 'dry-run', host: 'gms.internal', code: 'ECONNREFUSED' } as const;
const loginPage = { kind: 'not-json', operation: 'dry-run', status: 200, text: 'Log in', page: true } as const;

export const errorCases: [name: string, cause: Cause][] = [
  ['token refused', ofServer({ kind: 'unauthorized', operation: 'dry-run', status: 401 })],
  ['no connection', ofServer({ ...noConnection, tries: 4 })],
  ['wrong version of TLS', refusedTls('ERR_SSL_WRONG_VERSION_NUMBER')],
  ['certificate expired', refusedTls('CERT_HAS_EXPIRED')],
  ['certificate of another host', refusedTls('ERR_TLS_CERT_ALTNAME_INVALID')],
  ['certificate of an unknown authority', refusedTls('SELF_SIGNED_CERT_IN_CHAIN')],
  ['certificate not trusted', refusedTls('CRL_HAS_EXPIRED')],
  ['login page', ofServer(loginPage)],
  ['no policy', { kind: 'setup', what: 'no-policy', problem: 'values.yaml:1:1: it has no policy' }],
  [
    'no parameters',
    { kind: 'setup', what: 'parameters', problem: 'AccessDeniedException: no ssm:GetParametersByPath' },
  ],
  [
    'wrong input',
    {
      kind: 'setup',
      what: 'input',
      problem: '"indices" names dataset.operatoin, not found in any policy (policies: dataset.operation)',
    },
  ],
  [
    'ledger',
    { kind: 'setup', what: 'ledger', problem: 'AccessDeniedException: not authorized to perform dynamodb:GetItem' },
  ],
  ['Truncate broke down', { kind: 'step-failed', step: 'truncate', error: 'Lambda.Unknown', sent: 'maybe' }],
  ['Plan broke down', { kind: 'step-failed', step: 'plan', error: 'Lambda.Unknown', sent: 'no' }],
  ['Poll broke down', { kind: 'step-failed', step: 'poll', error: 'Lambda.Unknown', sent: 'no' }],
];

export const noteCases: [name: string, note: Note][] = [
  ['certificate expired', { kind: 'certificate-expires', at: Date.UTC(2026, 7, 20), expired: true }],
  ['token expires', { kind: 'token-expires', at: Date.UTC(2026, 7, 20) }],
  ['token expired', { kind: 'token-expires', at: Date.UTC(2026, 7, 10), expired: true }],
  ['paused, and nothing due', { kind: 'paused' }],
  ['pause unknown', { kind: 'paused', problem: 'The pause switch cannot be read.' }],
  ['no Date header', { kind: 'no-date-header' }],
  ['preview by hand', { kind: 'preview-by-hand' }],
  ['the ledger is empty', { kind: 'empty-ledger' }],
  ['nobody has confirmed', { kind: 'unconfirmed', confirmed: 0, pending: 1 }],
  ['policies that are not live', { kind: 'change', policies: 3, differ: 2, unread: 1 }],
  ['policies that differ in nothing', { kind: 'change', policies: 3, differ: 0, unread: 0 }],
  ['policies without live ones', { kind: 'change', policies: 1, unread: 0, problem: 'Parameter Store refuses.' }],
  [
    'a shorter retention',
    {
      kind: 'policy-change',
      index: 'dataset.operation',
      what: 'changed',
      deletesMore: true,
      fields: [
        { field: 'retentionDays', live: 180, given: 90 },
        { field: 'maxDeletePercent', given: 60 },
      ],
      today: { outcome: 'nothing-to-delete', rowsToDelete: 0 },
      withGiven: { outcome: 'would-truncate', rowsToDelete: 573 },
    },
  ],
  [
    'a policy that is gone',
    { kind: 'policy-change', index: 'dataset.operation', what: 'removed', deletesMore: false, fields: [] },
  ],
  ['a new policy', { kind: 'policy-change', index: 'chart.usage', what: 'new', deletesMore: true, fields: [] }],
  ['a field that the server refuses', { kind: 'field-refused' }],
  ['Truncate failed', { kind: 'truncate-failed', index: 'dataset.operation', error: 'Lambda.Unknown' }],
  [
    'fewer rows than last night',
    { kind: 'fewer-rows', index: 'dataset.operation', expected: 52_000, found: 34_000, since: at },
  ],
  ['other address', { kind: 'other-address', address: oldAddress, records: 3 }],
  ['released', { ...released, missing: 0 }],
  ['released after a reindex', { ...released, missing: 0, method: 'reindex', ...reindexedThen }],
  ['released with missing rows', { ...released, missing: 400, accepted: 400, cutoffMillis: at - 90 * day }],
  [
    'released by another run, uncounted',
    { ...released, unknown: 'uncounted', accepted: 0, error: slow, ...decidedByAnother },
  ],
  ['not released: rows missing', { ...notReleased, why: 'missing', missing: 400, ...reindexedThen }],
  ['not released: most was written', { ...notReleased, why: 'missing', missing: 400, unwritten: 1, method: 'reindex' }],
  ['not released: red', { ...notReleased, why: 'unknown', unknown: 'uncounted', error: { ...slow, engine: 'shards' } }],
  ['released, not in place', { ...released, unknown: 'reindex', accepted: 0, method: 'reindex' }],
  [
    'released, nothing has changed',
    { ...released, unknown: 'reindex', nothingChanged: true, accepted: 0, method: 'reindex' },
  ],
  ['not released: unresolved', { ...notReleased, why: 'unresolved', until: at + day }],
  ['not released: unreported', { ...notReleased, why: 'unreported' }],
  ['not released: reindex', { ...notReleased, why: 'unknown', unknown: 'reindex', method: 'reindex' }],
  ['not released: it runs', { ...notReleased, why: 'unknown', unknown: 'running', missing: 330, method: 'reindex' }],
  [
    'not released: its status cannot be read',
    {
      ...{ ...notReleased, why: 'unknown', unknown: 'running', missing: 330, notVisible: 'perhaps', method: 'reindex' },
      error: { ...slow, operation: 'task-status' },
    },
  ],
  [
    'not released: nothing has changed',
    { ...notReleased, why: 'unknown', unknown: 'reindex', nothingChanged: true, method: 'reindex' },
  ],
  [
    'not released: not visible',
    { ...notReleased, why: 'missing', missing: 5000, notVisible: 'written', ...reindexedThen },
  ],
  ['released, not visible', { ...released, missing: 50, notVisible: 'perhaps', accepted: 50, method: 'reindex' }],
  [
    'released by a person, most was written',
    {
      ...released,
      missing: 50,
      notVisible: 'written',
      unwritten: 1,
      accepted: 50,
      method: 'reindex',
      by: 'ana@laptop',
    },
  ],
  ['released at another address', { ...released, unknown: 'address', address: oldAddress, accepted: 0 }],
  ['released although its record is not readable', { ...released, unknown: 'unreadable', accepted: 0 }],
  ['released although it may still run', { ...released, unknown: 'running', accepted: 0, method: 'reindex' }],
  ['not released: another address', { ...notReleased, why: 'unknown', unknown: 'address', address: oldAddress }],
  ['not released: not readable', { ...notReleased, why: 'unknown', unknown: 'unreadable' }],
  ['not released: more is missing', { ...notReleased, why: 'missing', missing: 400, accepted: 100 }],
  ['not released: taken', { ...notReleased, why: 'taken' }],
  ['not released: ledger', { ...notReleased, why: 'ledger', problem: 'the disk is full' }],
  ['nothing to release', { ...notReleased, why: 'idle' }],
  ['late', { kind: 'late', startedAt: at }],
  ['more than a run carries', { kind: 'beyond', entries: 2, names: ['chart.a', 'chart.b'], quarantined: ['chart.b'] }],
  [
    'many more, and quarantined',
    { kind: 'beyond', entries: 936, names: ['chart.a'], quarantined: Array(20).fill('chart.b'), quarantinedInAll: 930 },
  ],
  ['shortened', { kind: 'shortened', indices: 2, indicesOf: 20 }],
];
