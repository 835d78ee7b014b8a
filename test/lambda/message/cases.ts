import type { Cause } from '../../../lambda/facts/cause.ts';
import type { Note } from '../../../lambda/facts/note.ts';
import type { Outcome } from '../../../lambda/facts/outcomes.ts';
import type { DecidedFacts } from '../../../lambda/facts/report-schema.ts';
import type { Audience } from '../../../lambda/message/audience.ts';

/** One case of everything that a message can be about: docs/messages.md shows them, and tests measure them. */

export const aws: Audience = {
  kind: 'aws',
  stage: 'prod',
  region: 'eu-central-1',
  stateMachineArn: 'arn:aws:states:eu-central-1:111122223333:stateMachine:datahub-retention-prod',
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
const reindexed = { reindexes: true, strategy: 'reindex', indexName: before, indexNow: now } as const;
const decidedByAnother = { decidedAt: '2026-08-13T03:40:00.000Z', decidedBy: 'run-x' };
const refused = { kind: 'privilege', operation: 'dry-run', status: 403, text: 'Unauthorized' } as const;
const slow = { kind: 'timeout', operation: 'dry-run', seconds: 60, tries: 2 } as const;
const asyncReindexFailed = {
  kind: 'bad-request',
  operation: 'truncate',
  status: 400,
  text: 'Async reindex failed',
} as const;

export type EntryCase = [name: string, outcome: Outcome, cause: Cause, more?: Partial<DecidedFacts>];

export const entryCases: EntryCase[] = [
  ['rows missing after a delete', 'rows-missing', { kind: 'missing', expected: 52_000, found: 34_000 }],
  [
    'rows missing after a reindex',
    'rows-missing',
    { kind: 'missing', expected: 52_000, found: 34_000, done: 34_000, total: 52_000 },
    reindexed,
  ],
  [
    'rows missing, as where a shard is away',
    'rows-missing',
    { kind: 'missing', expected: 50_000, found: 24_976 },
    { rowsDeleted: 28_122, rowsToDelete: 60_000, rowsTotal: 110_000 },
  ],
  [
    'rows missing, found by another run',
    'rows-missing',
    { kind: 'missing', expected: 52_000, found: 34_000 },
    { resumed: true, ...decidedByAnother, rowsMissing: 18_000 },
  ],
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
    'quarantined: a reindex lost rows',
    'quarantined',
    {
      kind: 'quarantined',
      since: at,
      outcome: 'unknown',
      reindexed: true,
      indexBefore: before,
      indexNow: now,
      cutoffMillis: at - 90 * day,
      today: { expected: 4000, found: 2800, inPlace: true },
    },
  ],
  [
    'quarantined: a reindex is not proven',
    'quarantined',
    {
      kind: 'quarantined',
      since: at,
      outcome: 'unknown',
      reindexed: true,
      today: { expected: 4000, found: 4000, inPlace: false },
    },
  ],
  [
    'reindex not proven: rows are left out',
    'unknown',
    { kind: 'unproven', done: 2800, total: 4000, inPlace: false },
    { reindexes: true, strategy: 'reindex', taskId: 'node-1:4711' },
  ],
  [
    'reindex not proven: refused',
    'unknown',
    { kind: 'unproven', error: asyncReindexFailed, inPlace: false },
    { reindexes: true, strategy: 'reindex' },
  ],
  [
    'reindex not proven: the counts do not show it',
    'unknown',
    { kind: 'unproven', done: 80_000, total: 80_000, inPlace: false },
    { reindexes: true, strategy: 'reindex', taskId: 'node-1:4711' },
  ],
  [
    'reindex not proven: its task vanished',
    'unknown',
    { kind: 'unproven', vanished: true, inPlace: true },
    { reindexes: true, strategy: 'reindex', taskId: 'node-1:4711' },
  ],
  ['a delete cannot be counted', 'unknown', { kind: 'unproven', error: slow }, { taskId: 'node-1:4711' }],
  [
    'the index refuses deletes',
    'incomplete',
    { kind: 'remains', done: 0, total: 30_000 },
    { rowsToDelete: 30_000, rowsDeleted: 0, rowsRemaining: 30_000, taskId: 'node-1:4711' },
  ],
  [
    'not refreshed',
    'incomplete',
    { kind: 'remains', done: 30_000, total: 30_000 },
    { rowsToDelete: 30_000, rowsDeleted: 0, rowsRemaining: 30_000 },
  ],
  [
    'not refreshed, the night after',
    'incomplete',
    { kind: 'remains', done: 0, total: 20_000, conflicts: 20_000 },
    { rowsToDelete: 20_000, rowsDeleted: 0, rowsRemaining: 20_001 },
  ],
  [
    'stopped at a conflict',
    'incomplete',
    { kind: 'remains', done: 6799, conflicts: 1, total: 50_000 },
    { rowsToDelete: 50_000, rowsDeleted: 6799, rowsRemaining: 43_201, taskId: 'node-1:4711' },
  ],
  [
    'cancelled',
    'incomplete',
    { kind: 'remains', cancelled: true, done: 800_000, total: 1_200_034 },
    { rowsDeleted: 800_034, rowsRemaining: 400_000, taskId: 'node-1:4711' },
  ],
  [
    'its task still runs when it is closed',
    'incomplete',
    { kind: 'remains', runs: true, done: 800_000, total: 1_200_034 },
    { rowsDeleted: 800_000, rowsRemaining: 400_034, taskId: 'node-1:4711' },
  ],
  [
    'its reindex still runs when it is closed',
    'unknown',
    { kind: 'unproven', runs: true, inPlace: false, done: 800_000, total: 1_200_034 },
    { reindexes: true, strategy: 'reindex', taskId: 'node-1:4711' },
  ],
  [
    'nothing is deleted, and no status says why',
    'incomplete',
    { kind: 'remains' },
    { rowsDeleted: 0, rowsRemaining: 1_200_034, taskId: 'node-1:4711' },
  ],
  [
    'still running',
    'still-running',
    { kind: 'open', why: 'run-time', hours: 12, since: at, done: 400_000, total: 1_200_034 },
    { taskId: 'node-1:4711' },
  ],
  [
    'a reindex is still running',
    'still-running',
    { kind: 'open', why: 'run-time', hours: 12, since: at, lastMovedAt: at + 3_600_000, done: 4000, total: 12_000 },
    { taskId: 'node-1:4711', reindexes: true, strategy: 'reindex' },
  ],
  [
    'ended, not verified yet',
    'still-running',
    { kind: 'open', why: 'run-time', hours: 12, since: at, ended: true },
    { taskId: 'node-1:4711' },
  ],
  [
    'sent by another run',
    'still-running',
    { kind: 'open', why: 'another-run', runId: 'run-1', since: at, judgeableAt: at + 780_000 },
  ],
  ['no end seen', 'unknown', { kind: 'open', why: 'server', since: at, error: slow }, { taskId: 'node-1:4711' }],
  ['task vanished', 'unknown', { kind: 'open', why: 'run-time', since: at, vanished: true }, { taskId: 'node-1:4711' }],
  ['may have been sent', 'unknown', { kind: 'open', why: 'step', since: at }],
  [
    'a preview verifies nothing',
    'still-running',
    { kind: 'open', why: 'preview', runId: 'run-1', since: at, releasableAt: at + 2 * day },
    { taskId: 'node-1:4711' },
  ],
  [
    'a preview verifies nothing, and a release is accepted',
    'still-running',
    { kind: 'open', why: 'preview', runId: 'run-1', since: at - day, releasableAt: at, ended: true },
    { taskId: 'node-1:4711' },
  ],
  ['record deleted', 'unknown', { kind: 'gone', what: 'deleted' }, { taskId: 'node-1:4711' }],
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
  ['all rows are old', 'above-ceiling', { kind: 'above-ceiling', approveRows: 3_639_426 }, { rowsToDelete: 3_466_120 }],
  ['oldest hour too large', 'above-ceiling', { kind: 'above-ceiling', approveRows: 1_260_000, rowLimit: 100_000 }],
  ['paused', 'not-started', { kind: 'stopped', by: 'paused' }],
  [
    'held back by another index',
    'not-started',
    { kind: 'stopped', by: 'breaker', index: 'dataset.operation', outcome: 'rows-missing' },
  ],
  ['no task ids', 'not-started', { kind: 'stopped', by: 'no-task-ids', status: 401 }],
  ['out of time', 'not-started', { kind: 'stopped', by: 'run-time', hours: 12 }],
  ['just released', 'not-started', { kind: 'stopped', by: 'release' }],
  ['rows changed', 'not-started', { kind: 'changed', what: 'rows', was: 400, now: 0 }],
  ['reindex changed', 'not-started', { kind: 'changed', what: 'reindex', was: false, now: true }],
  ['policy changed', 'not-started', { kind: 'policy', what: 'retentionDays', was: 90, now: 30 }],
  ['policy removed', 'not-started', { kind: 'policy', what: 'removed' }],
  ['server too slow', 'failed', { kind: 'stopped', by: 'plan-time' }],
  [
    'wrong policy',
    'failed',
    { kind: 'policy', what: 'unreadable', problem: 'retentionDay is no field: did you mean retentionDays?' },
  ],
  ['privilege missing', 'failed', { kind: 'server', error: refused, sent: 'no' }],
  ['no such index', 'failed', { kind: 'server', error: { kind: 'no-index', operation: 'dry-run' }, sent: 'no' }],
  ['no answer to the truncation', 'failed', { kind: 'unchanged', error: { ...slow, operation: 'truncate' } }],
  ['clock', 'failed', { kind: 'guard', which: 'server-clock', found: 900_000 }],
  ['a reindex is refused', 'failed', { kind: 'guard', which: 'refuse-reindex' }, { strategy: 'reindex' }],
  [
    'no task statuses',
    'failed',
    { kind: 'guard', which: 'task-status', error: { ...refused, operation: 'task-status' } },
  ],
  ['truncated', 'truncated', { kind: 'verified' }, { rowsDeleted: 1_200_034, durationSeconds: 720 }],
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
    { resumed: true, ...decidedByAnother, rowsDeleted: 1_200_034 },
  ],
  [
    'would be truncated',
    'would-truncate',
    { kind: 'due', minDeletePercent: 10, rowLimit: 100_000 },
    { rowsToDelete: 98_000, rowsPastRetention: 1_200_034 },
  ],
  ['would be reindexed', 'would-truncate', { kind: 'due', minDeletePercent: 10 }, { strategy: 'reindex' }],
  ['below the threshold', 'below-threshold', { kind: 'not-due', minDeletePercent: 50 }],
  ['nothing to delete', 'nothing-to-delete', { kind: 'not-due' }, { rowsToDelete: 0 }],
  ['hardly anything to delete', 'below-threshold', { kind: 'not-due', minDeletePercent: 10 }, { rowsToDelete: 1 }],
];

const refusedTls = (code: string): Cause => ({
  kind: 'server',
  error: { kind: 'tls', operation: 'dry-run', host: 'gms:8080', code },
  sent: 'no',
});

export const errorCases: [name: string, cause: Cause][] = [
  ['token refused', { kind: 'server', error: { kind: 'unauthorized', operation: 'dry-run', status: 401 }, sent: 'no' }],
  [
    'no connection',
    {
      kind: 'server',
      error: { kind: 'connect', operation: 'dry-run', host: 'gms.internal', code: 'ECONNREFUSED', tries: 4 },
      sent: 'no',
    },
  ],
  ['wrong version of TLS', refusedTls('ERR_SSL_WRONG_VERSION_NUMBER')],
  ['certificate expired', refusedTls('CERT_HAS_EXPIRED')],
  ['certificate of another host', refusedTls('ERR_TLS_CERT_ALTNAME_INVALID')],
  ['certificate of an unknown authority', refusedTls('SELF_SIGNED_CERT_IN_CHAIN')],
  ['certificate not trusted', refusedTls('CRL_HAS_EXPIRED')],
  [
    'login page',
    {
      kind: 'server',
      error: { kind: 'not-json', operation: 'dry-run', status: 200, text: 'Log in', page: true },
      sent: 'no',
    },
  ],
  ['no policy', { kind: 'setup', what: 'no-policy', problem: 'there is no policy' }],
  ['wrong input', { kind: 'setup', what: 'input', problem: '"indices" names dataset.operatoin, which no policy has' }],
  [
    'ledger',
    { kind: 'setup', what: 'ledger', problem: 'AccessDeniedException: not authorized to perform dynamodb:GetItem' },
  ],
  ['Truncate broke down', { kind: 'step-failed', step: 'truncate', error: 'Lambda.Unknown', sent: 'maybe' }],
];

export const noteCases: [name: string, note: Note][] = [
  ['token expires', { kind: 'token-expires', at: Date.UTC(2026, 7, 20) }],
  ['paused, and nothing due', { kind: 'paused' }],
  ['pause unknown', { kind: 'paused', problem: 'The pause switch cannot be read.' }],
  ['no Date header', { kind: 'no-date-header' }],
  ['a Date header without a date', { kind: 'no-date-header', header: 'yesterday' }],
  ['sizes not readable', { kind: 'rights', what: 'sizes', error: { ...refused, operation: 'index-sizes' } }],
  ['preview by hand', { kind: 'preview-by-hand' }],
  ['nobody has confirmed', { kind: 'unconfirmed', confirmed: 0, pending: 1 }],
  ['approves nothing', { kind: 'approves-nothing', approveRows: 45_150 }],
  ['a field that the server refuses', { kind: 'field-refused' }],
  ['Truncate failed', { kind: 'truncate-failed', index: 'dataset.operation', error: 'Lambda.Unknown' }],
  [
    'fewer rows than last night',
    { kind: 'fewer-rows', index: 'dataset.operation', expected: 52_000, found: 34_000, since: at },
  ],
  ['other address', { kind: 'other-address', address: 'http://gms.old:8080', records: 3 }],
  ['released', { kind: 'released', index: 'dataset.operation', missing: 0 }],
  [
    'released after a reindex',
    {
      kind: 'released',
      index: 'dataset.operation',
      missing: 0,
      reindexed: true,
      indexBefore: before,
      indexNow: now,
      cutoffMillis: at - 90 * day,
    },
  ],
  ['released with missing rows', { kind: 'released', index: 'dataset.operation', missing: 400, accepted: 400 }],
  [
    'released by another run, uncounted',
    {
      kind: 'released',
      index: 'dataset.operation',
      unknown: 'uncounted',
      accepted: 0,
      error: slow,
      decidedAt: '2026-08-13T03:40:00.000Z',
      decidedBy: 'run-x',
    },
  ],
  [
    'not released: rows missing',
    {
      kind: 'not-released',
      index: 'dataset.operation',
      why: 'missing',
      missing: 400,
      indexBefore: before,
      indexNow: now,
      cutoffMillis: at - 90 * day,
    },
  ],
  [
    'not released: unresolved',
    { kind: 'not-released', index: 'dataset.operation', why: 'unresolved', until: at + day },
  ],
  ['not released: unreported', { kind: 'not-released', index: 'dataset.operation', why: 'unreported' }],
  [
    'not released: reindex',
    { kind: 'not-released', index: 'dataset.operation', why: 'unknown', unknown: 'reindex', reindexed: true },
  ],
  [
    'not released: another address',
    {
      kind: 'not-released',
      index: 'dataset.operation',
      why: 'unknown',
      unknown: 'address',
      address: 'http://gms.old:8080',
    },
  ],
  [
    'not released: ledger',
    { kind: 'not-released', index: 'dataset.operation', why: 'ledger', problem: 'the disk is full' },
  ],
  ['nothing to release', { kind: 'not-released', index: 'dataset.operation', why: 'idle' }],
  ['late', { kind: 'late', startedAt: at }],
  ['more than a run carries', { kind: 'beyond', entries: 2, names: ['chart.a', 'chart.b'], quarantined: ['chart.b'] }],
  ['shortened', { kind: 'shortened', indices: 2, indicesOf: 20 }],
];
