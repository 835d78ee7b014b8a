import type { Cause } from '../../../lambda/facts/cause.ts';
import type { Note } from '../../../lambda/facts/note.ts';
import type { Outcome } from '../../../lambda/facts/outcomes.ts';
import type { DecidedFacts } from '../../../lambda/facts/report-schema.ts';
import type { Reader } from '../../../lambda/words/reader.ts';

/** One case of everything that a message can be about: docs/messages.md shows them, and tests measure them. */

export const aws: Reader = {
  kind: 'aws',
  stage: 'prod',
  region: 'eu-central-1',
  stateMachineArn: 'arn:aws:states:eu-central-1:111122223333:stateMachine:datahub-retention-prod',
  parameterPrefix: '/datahub-retention/prod',
};
export const kubernetes: Reader = { kind: 'kubernetes', cronJob: 'datahub-retention', namespace: 'datahub' };
export const machine: Reader = {
  kind: 'machine',
  program: 'datahub-retention',
  options: '--gms-url http://gms:8080',
  policies: 'policies.json',
};
export const readers = [aws, kubernetes, machine];

const at = Date.UTC(2026, 7, 13, 3, 40);
const before = 'dataset_operationaspect_v1_1753500600000';
const now = 'dataset_operationaspect_v1_1772335800000';
const replacedIndex = { indexName: before, indexNow: now };
const refused = { kind: 'privilege', operation: 'dry-run', status: 403, text: 'Unauthorized' } as const;
const slow = { kind: 'timeout', operation: 'dry-run', tries: 2 } as const;

export type EntryCase = [name: string, outcome: Outcome, cause: Cause, more?: Partial<DecidedFacts>];

export const entryCases: EntryCase[] = [
  [
    'rows missing after a copy',
    'rows-missing',
    { kind: 'missing', expected: 52_000, found: 34_000 },
    { reindexes: true, strategy: 'reindex', ...replacedIndex },
  ],
  ['rows missing after a delete', 'rows-missing', { kind: 'missing', expected: 52_000, found: 34_000 }],
  [
    'rows missing by the counters',
    'rows-missing',
    { kind: 'missing', expected: 52_000, done: 400, total: 800 },
    { reindexes: true },
  ],
  [
    'rows missing, as where a shard is away',
    'rows-missing',
    { kind: 'missing', expected: 50_000, found: 24_976 },
    { rowsDeleted: 28_122, rowsToDelete: 60_000, rowsTotal: 110_000 },
  ],
  [
    'not refreshed',
    'incomplete',
    { kind: 'not-refreshed', by: 'deleted', done: 30_000 },
    { rowsToDelete: 30_000, rowsDeleted: 0, rowsRemaining: 30_000 },
  ],
  [
    'not refreshed, the night after',
    'incomplete',
    { kind: 'not-refreshed', by: 'conflicts', conflicts: 30_000 },
    { rowsToDelete: 30_000, rowsDeleted: 0, rowsRemaining: 30_000 },
  ],
  [
    'stopped at a conflict',
    'incomplete',
    { kind: 'stopped-at-conflict', done: 6799, conflicts: 1, total: 50_000 },
    { rowsToDelete: 50_000, rowsDeleted: 6799, rowsRemaining: 43_201, taskId: 'node-1:4711' },
  ],
  [
    'truncated while rows arrived',
    'truncated',
    { kind: 'verified', done: 50_000, total: 50_000 },
    { rowsToDelete: 50_000, rowsTotal: 100_000, rowsDeleted: 49_760, rowsRemaining: 240 },
  ],
  [
    'rows missing since the last run',
    'rows-missing',
    { kind: 'lost-between-runs', expected: 52_000, found: 34, since: at },
  ],
  [
    'rows missing since the last run, and the ledger takes no writes',
    'rows-missing',
    { kind: 'loss-not-stored', expected: 52_000, found: 34, since: at, problem: 'the disk is full' },
  ],
  [
    'quarantined: rows missing',
    'quarantined',
    {
      kind: 'quarantined',
      since: at,
      outcome: 'rows-missing',
      rowsMissing: 400,
      copied: true,
      indexBefore: before,
      indexNow: now,
      cutoffMillis: at,
    },
  ],
  [
    'rows missing, left untold by another run',
    'rows-missing',
    { kind: 'missing', expected: 52_000, found: 34_000 },
    {
      resumed: true,
      decidedAt: '2026-08-12T03:40:00.000Z',
      decidedBy: 'run-x',
      untold: 'no-report',
      rowsMissing: 18_000,
    },
  ],
  [
    'truncated by a copy, left untold by another run',
    'truncated',
    { kind: 'verified' },
    {
      ...{ resumed: true, decidedAt: '2026-08-12T03:40:00.000Z', decidedBy: 'run-x', untold: 'no-report' as const },
      ...{ rowsDeleted: 1_200_034, reindexes: true, strategy: 'reindex' as const, ...replacedIndex },
    },
  ],
  [
    'quarantined: a delete, and all rows are there today',
    'quarantined',
    {
      kind: 'quarantined',
      since: at,
      outcome: 'rows-missing',
      rowsMissing: 400,
      today: { expected: 52_000, found: 52_000, sameIndex: true },
    },
  ],
  [
    'quarantined: still missing today',
    'quarantined',
    {
      kind: 'quarantined',
      since: at,
      outcome: 'rows-missing',
      rowsMissing: 400,
      today: { expected: 52_000, found: 51_600 },
    },
  ],
  [
    'quarantined at another address',
    'quarantined',
    {
      kind: 'quarantined-elsewhere',
      since: at,
      outcome: 'rows-missing',
      rowsMissing: 200,
      address: 'http://gms.old:8080',
    },
  ],
  ['decided by another version', 'rows-missing', { kind: 'decided-by-version', version: 6 }, { rowsMissing: 400 }],
  ['untold', 'in-flight', { kind: 'untold', what: 'release' }],
  ['counted low once', 'failed', { kind: 'low-once', expected: 5000, found: 1000, since: at }],
  ['quarantined: copy not proven', 'quarantined', { kind: 'quarantined', since: at, outcome: 'unknown', copied: true }],
  ['nothing moves', 'unknown', { kind: 'unsettled', why: 'unseen', lastMovedAt: at, done: 400, total: 1200 }],
  ['copy not proven', 'unknown', { kind: 'unsettled', why: 'copy', closed: 'quarantined' }, { reindexes: true }],
  ['task vanished', 'unknown', { kind: 'unsettled', why: 'unseen', vanished: true }],
  ['cannot be counted', 'unknown', { kind: 'unsettled', why: 'uncountable', error: slow, closed: 'idle' }],
  ['could not be looked at', 'unknown', { kind: 'unsettled', why: 'unseen' }],
  ['superseded', 'unknown', { kind: 'superseded' }],
  ['record gone', 'unknown', { kind: 'record-gone' }, { taskId: 'node-1:4711' }],
  ['released meanwhile', 'unknown', { kind: 'released-meanwhile', releasedAt: at }],
  [
    'still running',
    'still-running',
    { kind: 'watching', why: 'run-time', hours: 12, since: at, done: 400_000, total: 1_200_000 },
    { taskId: 'node-1:4711' },
  ],
  [
    'ended, not verified yet',
    'still-running',
    { kind: 'watching', why: 'run-time', hours: 12, since: at, ended: true },
  ],
  ['a preview looks once', 'unknown', { kind: 'watching', why: 'preview', since: at, releasable: true }],
  [
    'rows are left',
    'incomplete',
    { kind: 'remains', cancelled: true },
    { rowsRemaining: 400_000, taskId: 'node-1:4711' },
  ],
  ['above the ceiling', 'above-ceiling', { kind: 'above-ceiling', maxDeletePercent: 30, approveRows: 1_260_000 }],
  ['all rows are old', 'above-ceiling', { kind: 'above-ceiling', approveRows: 3_466_120 }],
  ['oldest hour too large', 'above-ceiling', { kind: 'above-ceiling', approveRows: 1_260_000, bite: 100_000 }],
  ['another truncation', 'in-flight', { kind: 'held', runId: 'run-1', since: at, until: at + 780_000 }],
  ['record of another version', 'in-flight', { kind: 'foreign', why: 'version', version: 3 }],
  [
    'record of another address',
    'unknown',
    { kind: 'foreign', why: 'address', address: 'http://old:8080', releasableAt: at },
  ],
  ['paused', 'not-started', { kind: 'stopped', by: 'paused' }],
  [
    'held back by another index',
    'not-started',
    { kind: 'stopped', by: 'breaker', index: 'dataset.profile', outcome: 'rows-missing' },
  ],
  ['no task ids', 'not-started', { kind: 'stopped', by: 'no-task-ids', status: 401 }],
  ['out of time', 'not-started', { kind: 'stopped', by: 'run-time', hours: 12 }],
  ['already sent', 'not-started', { kind: 'stopped', by: 'spent', runId: 'run-1' }],
  ['rows changed', 'not-started', { kind: 'changed', what: 'rows', was: 400, now: 0 }],
  ['policy changed', 'not-started', { kind: 'changed', what: 'retentionDays', was: 90, now: 30 }],
  ['server too slow', 'failed', { kind: 'stopped', by: 'plan-time' }],
  ['wrong policy', 'failed', { kind: 'policy', problem: 'retentionDay is no field: did you mean retentionDays?' }],
  ['privilege missing', 'failed', { kind: 'server', error: refused, sent: 'no' }],
  ['no such index', 'failed', { kind: 'server', error: { kind: 'no-index', operation: 'dry-run' }, sent: 'no' }],
  ['no answer to the truncation', 'failed', { kind: 'unchanged', error: { ...slow, operation: 'truncate' } }],
  ['clock', 'failed', { kind: 'guard', which: 'server-clock', found: 900_000 }],
  ['a copy is refused', 'failed', { kind: 'guard', which: 'refuse-reindex' }, { strategy: 'reindex' }],
  [
    'no task statuses',
    'failed',
    { kind: 'guard', which: 'task-status', error: { ...refused, operation: 'task-status' } },
  ],
  ['truncated', 'truncated', { kind: 'verified' }, { rowsDeleted: 1_200_034, durationSeconds: 720, sizeBeforeMb: 900 }],
  [
    'truncated by a copy',
    'truncated',
    { kind: 'verified' },
    { rowsDeleted: 1_200_034, reindexes: true, strategy: 'reindex', ...replacedIndex },
  ],
  ['would be truncated', 'would-truncate', { kind: 'due', minDeletePercent: 10, bite: 100_000 }],
  ['below the threshold', 'below-threshold', { kind: 'not-due', minDeletePercent: 50 }],
];

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
  ['sizes not readable', { kind: 'rights', what: 'sizes', error: { ...refused, operation: 'index-sizes' } }],
  ['released', { kind: 'released', index: 'dataset.operation', rowsMissing: 0 }],
  [
    'released after a copy',
    {
      kind: 'released',
      index: 'dataset.operation',
      copied: true,
      indexBefore: before,
      indexNow: now,
      cutoffMillis: at,
    },
  ],
  ['released by another version', { kind: 'released', index: 'dataset.operation', unread: true }],
  ['released with missing rows', { kind: 'released', index: 'dataset.operation', rowsMissing: 400 }],
  [
    'not released: rows missing',
    {
      kind: 'not-released',
      index: 'dataset.operation',
      why: 'rows-missing',
      rowsMissing: 400,
      indexBefore: before,
      indexNow: now,
      cutoffMillis: at,
    },
  ],
  ['not released: unresolved', { kind: 'not-released', index: 'dataset.operation', why: 'unresolved', until: at }],
  [
    'not released: another address',
    {
      kind: 'not-released',
      index: 'dataset.operation',
      why: 'elsewhere',
      rowsMissing: 0,
      address: 'http://gms.old:8080',
    },
  ],
  [
    'released by another run',
    {
      kind: 'released',
      index: 'dataset.operation',
      rowsMissing: 400,
      decidedAt: '2026-08-12T03:40:00.000Z',
      decidedBy: 'run-x',
    },
  ],
  ['preview by hand', { kind: 'preview-by-hand' }],
  ['nobody has confirmed', { kind: 'unconfirmed', confirmed: 0, pending: 1 }],
  ['approves nothing', { kind: 'approves-nothing', approveRows: 45_150 }],
  ['late', { kind: 'late', startedAt: at }],
  ['nothing to release', { kind: 'nothing-to-release', index: 'dataset.operation' }],
  ['a field that the server refuses', { kind: 'field-refused' }],
  ['Truncate failed', { kind: 'truncate-failed', index: 'dataset.operation', error: 'Lambda.Unknown' }],
  ['more than a run carries', { kind: 'beyond', entries: 2, names: ['chart.a', 'chart.b'], quarantined: ['chart.b'] }],
  ['shortened', { kind: 'shortened', policies: 3, of: 48, indices: 2, indicesOf: 20 }],
];
