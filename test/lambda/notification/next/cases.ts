import { type Cause, causeKinds } from '../../../../lambda/facts/cause.ts';
import type { Note } from '../../../../lambda/facts/note.ts';
import type { Outcome } from '../../../../lambda/facts/outcomes.ts';
import type { DecidedFacts } from '../../../../lambda/facts/report-schema.ts';
import type { ServerError, ServerErrorKind } from '../../../../lambda/facts/server-error.ts';

/** Every cause that may require a person to act, with the outcomes in which it does; docs/messages.md shows what is said. */

const error = (kind: ServerErrorKind, operation: ServerError['operation'] = 'dry-run'): ServerError => ({
  kind,
  operation,
});
const server = (kind: ServerErrorKind, operation?: ServerError['operation']): Cause => ({
  kind: 'server',
  error: error(kind, operation),
  sent: 'no',
});
const guard = (which: (Cause & { kind: 'guard' })['which'], more: object = {}): Cause => ({
  kind: 'guard',
  which,
  ...more,
});

const old = 'dataset_operationaspect_v1_1753500600000';
const now = 'dataset_operationaspect_v1_1772335860000';
const since = Date.UTC(2026, 7, 14, 3, 30);
const reindex = { strategy: 'reindex' } as const;

export const ofEntries: Array<[Outcome, Cause, Partial<DecidedFacts>?]> = [
  ['rows-missing', { kind: 'missing', expected: 9, found: 1 }],
  [
    'rows-missing',
    { kind: 'missing', expected: 9, found: 1, movedBy: 'us', rowsIn: old, indexBefore: old, indexNow: now },
    reindex,
  ],
  ['rows-missing', { kind: 'missing', expected: 9, found: 0, indexGone: true }],
  ['rows-missing', { kind: 'missing', expected: 9, found: 1, since }],
  ['rows-missing', { kind: 'not-refreshed', indexNow: now }, reindex],
  ['emptied', { kind: 'emptied', rowsBefore: 9, nights: 3 }],
  ['quarantined', { kind: 'quarantined', since, outcome: 'rows-missing' }],
  ['quarantined', { kind: 'quarantined', since, outcome: 'rows-missing', unseen: true, indexNow: now }],
  ['quarantined', { kind: 'quarantined', since, outcome: 'unknown' }],
  ['quarantined', { kind: 'foreign', why: 'address', address: 'http://a' }],

  ['unknown', { kind: 'unsettled', why: 'still' }],
  ['unknown', { kind: 'unsettled', why: 'still', vanished: true }],
  ['unknown', { kind: 'unsettled', why: 'replaced' }],
  ['unknown', { kind: 'unsettled', why: 'hung' }],
  ['unknown', { kind: 'unsettled', why: 'status', copied: true, indexBefore: old, indexNow: now }, reindex],
  ['unknown', { kind: 'unsettled', why: 'counters', copied: true }, reindex],
  ['unknown', { kind: 'unsettled', why: 'index', copied: true }, reindex],
  ['unknown', { kind: 'unsettled', why: 'uncountable', closed: 'quarantined' }],
  ['unknown', { kind: 'unsettled', why: 'hung', closed: 'idle' }],
  ['unknown', { kind: 'unsettled', why: 'no-record' }],
  ['unknown', { kind: 'foreign', why: 'version', deployed: true }],
  ['unknown', { kind: 'step-failed', step: 'truncate', error: 'TypeError', sent: 'maybe' }],

  ['failed', { kind: 'policy', problem: 'retentionDays is missing' }],
  ['failed', server('unauthorized')],
  ['failed', server('token')],
  ['failed', server('privilege')],
  ['failed', server('forbidden')],
  ['failed', server('dns')],
  ['failed', server('connect')],
  ['failed', server('tls')],
  ['failed', server('not-http')],
  ['failed', server('redirect')],
  ['failed', server('not-found')],
  ['failed', server('not-json')],
  ['failed', server('unreadable')],
  ['failed', server('no-index')],
  ['failed', server('bad-request')],
  ['failed', server('server-error')],
  ['failed', server('timeout')],
  ['failed', server('reset')],
  ['failed', server('aborted')],
  ['failed', server('throttled')],
  ['failed', server('not-sample')],
  ['failed', server('defect')],
  ['failed', { kind: 'unchanged', error: error('forbidden', 'truncate') }],
  ['failed', { kind: 'unchanged', error: error('server-error', 'truncate') }],
  ['failed', { kind: 'unchanged', error: error('no-task-id', 'truncate') }],
  ['failed', { kind: 'unchanged' }],
  ['failed', guard('server-clock', { found: 3_600_000 })],
  ['failed', guard('start-in-future', { found: 3_600_000 })],
  ['failed', guard('floor', { expected: 7 })],
  ['failed', guard('counts')],
  ['failed', guard('strategy-unreadable')],
  ['failed', guard('reindex-refused')],
  ['failed', guard('bite-reindex')],
  ['failed', guard('index-concrete')],
  ['failed', guard('index-name-unknown')],
  ['failed', guard('task-status', { error: error('privilege', 'task-status') })],
  ['failed', { kind: 'stopped', by: 'plan-time' }],
  ['failed', { kind: 'step-failed', step: 'truncate', error: 'TypeError', sent: 'no' }],
  ['failed', { kind: 'stopped', by: 'spent' }],

  ['above-ceiling', { kind: 'above-ceiling', maxDeletePercent: 60, approveRows: 1_260_036 }],
  ['above-ceiling', { kind: 'above-ceiling', bite: 9, approveRows: 1_260_036 }],

  ['incomplete', { kind: 'remains', why: 'rows' }],
  ['incomplete', { kind: 'remains', why: 'conflicts', conflicts: 9 }],
  ['incomplete', { kind: 'not-refreshed', indexNow: now }],

  ['not-started', { kind: 'paused' }],
  ['not-started', { kind: 'paused', problem: 'AccessDeniedException: the Plan function needs ssm:GetParameter' }],
  ['not-started', { kind: 'changed', what: 'rows', was: 9, now: 0 }],
  ['not-started', { kind: 'changed', what: 'rows', was: 9, now: 12 }],
  ['not-started', { kind: 'changed', what: 'server-strategy', was: 'delete-by-query', now: 'reindex' }],
  ['not-started', { kind: 'changed', what: 'policy-removed' }],
  ['not-started', { kind: 'changed', what: 'policy-duplicate' }],
  ['not-started', { kind: 'changed', what: 'policy-unreadable', now: 'retentionDays is missing' }],
  ['not-started', { kind: 'changed', what: 'retentionDays', was: 30, now: 31 }],
  ['not-started', guard('index-young', { found: since }), reindex],
  ['not-started', guard('task-status', { error: error('timeout', 'task-status') }), reindex],
  ['not-started', guard('task-status'), reindex],
  ['not-started', { kind: 'stopped', by: 'send-time' }],
  ['not-started', { kind: 'stopped', by: 'run-time', hours: 12 }],
  ['not-started', { kind: 'stopped', by: 'history' }],

  ['in-flight', { kind: 'held', state: 'running', runId: 'x' }],
  ['in-flight', { kind: 'held', state: 'taken' }],
  ['in-flight', { kind: 'held', state: 'closed' }],
  ['in-flight', { kind: 'foreign', why: 'address', address: 'http://a' }],
  ['in-flight', { kind: 'foreign', why: 'version', version: 9 }],
  ['in-flight', { kind: 'foreign', why: 'clock', until: since }],

  ['still-running', { kind: 'watching', why: 'run', hours: 12, done: 5, total: 9, does: 'delete' }, { taskId: 'n:1' }],
  ['still-running', { kind: 'watching', why: 'run', hours: 12, done: 5, total: 9, does: 'copy' }, reindex],
  ['still-running', { kind: 'watching', why: 'run', ended: true }],
  ['still-running', { kind: 'watching', why: 'history' }],
  ['still-running', { kind: 'watching', why: 'other-version' }],
  ['still-running', { kind: 'watching', why: 'run', error: error('privilege', 'task-status') }],
];

/** Reported with another entry or with the run's error, or requiring nothing because all is well. */
export const toldElsewhere: Cause[] = [
  { kind: 'run-error' },
  { kind: 'foreign', why: 'version', deployed: true },
  { kind: 'stopped', by: 'breaker', index: 'a.b', outcome: 'unknown' },
  { kind: 'stopped', by: 'duplicate-event', runId: 'x' },
  { kind: 'stopped', by: 'no-task-ids' },
];
export const asksNothing: ReadonlySet<Cause['kind']> = new Set([
  'switched-off',
  'nothing-to-delete',
  'below-threshold',
  'due',
  'preview',
  'verified',
]);

export const ofRuns: Cause[] = [
  server('unauthorized', 'index-sizes'),
  server('connect'),
  server('timeout'),
  { kind: 'parameters', problem: 'the parameter /datahub-retention/prod/token does not exist' },
  { kind: 'input', problem: '"only" names an index that no policy is for' },
  { kind: 'ledger', problem: 'AccessDeniedException: the Plan function needs dynamodb:Query' },
  { kind: 'no-policy' },
  { kind: 'step-failed', step: 'plan', error: 'TypeError', sent: 'no' },
  { kind: 'foreign', why: 'version', deployed: true },
  { kind: 'foreign', why: 'address', address: 'http://a', ourAddress: 'http://b', deployed: true },
];

const refused = (why: (Note & { kind: 'not-released' })['why'], more: object = {}): Note => ({
  kind: 'not-released',
  index: 'dataset.operation',
  why,
  ...more,
});

export const ofNotes: Note[] = [
  { kind: 'token-expires', at: since },
  { kind: 'token-expired', at: since },
  { kind: 'no-sizes', error: error('privilege', 'index-sizes') },
  { kind: 'no-sizes', error: error('timeout', 'index-sizes') },
  { kind: 'memory-unavailable', problem: 'cannot read the table: AccessDeniedException' },
  refused('rows-missing', { rowsMissing: 9 }),
  refused('uncounted'),
  refused('unresolved', { until: since }),
  refused('unresolved'),
  refused('running', { rowsMissing: 7 }),
  refused('taken'),
  refused('clock'),
  refused('server', { error: error('timeout') }),
  refused('ledger'),
];

const kinds = new Set([...ofEntries.map(([, cause]) => cause), ...toldElsewhere, ...ofRuns].map(({ kind }) => kind));

/** Kinds of causes that have no case although they need one. */
export const forgotten = causeKinds.filter((kind) => !kinds.has(kind) && !asksNothing.has(kind));
