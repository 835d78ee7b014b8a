import type { PlotName } from '../histories/plots.ts';
import { always, type Mutant, mutant, never, nothing, resolves, returns, takes } from './mutant.ts';

const decision = 'policy/decision';
const truncate = 'run/truncate';
const decideAgain = 'run/decide-again';
const settings = 'run/current-settings';
const ownership = 'ledger/ownership';
const transitions = 'ledger/transitions';
const responses = 'gms/responses/truncation';
const breaker = 'run/breaker';

const anotherAtLast = 'the server or the stage is another one by the time of the last dry run';

/** What a record means to a run, called `it`, in another form. */
const owned = (form: string) =>
  [
    ownership,
    'ownership',
    `(original) => (record, run) => { const it = original(record, run); return ${form}; }`,
  ] as const;

/** The call of Truncate with a ledger whose `replace` is another one. */
const writes = (replace: string): string =>
  takes('state, target, services', `state, target, { ...services, ledger: ${ledgerWith('services.ledger', replace)} }`);
const ledgerWith = (ledger: string, replace: string) =>
  `Object.assign(Object.create(${ledger}), { replace: ${replace} })`;

/** Rules 1 to 5: deciding and sending. */
export const sendingMutants: readonly Mutant[] = [
  mutant(1, 'takes every server for one that deletes in place', [
    [transitions, 'startSending', takes('record, key, attempt', 'record, key, { ...attempt, method: "delete" }')],
  ]),
  mutant(1, 'insists on a field that the server refuses', [
    [
      decideAgain,
      'countAndDecide',
      takes(
        'target, planned, deciding',
        'target, planned, { ...deciding, state: { ...deciding.state, refusesForceField: false } }',
      ),
    ],
  ]),
  mutant(1, 'sends another batch size', [
    ['truncation/counts', 'truncateFields', returns('({ ...it, batchSize: 1 })')],
  ]),
  mutant(2, 'trusts a server whose clock is wrong', [[decision, 'checks.serverClock.rejection', nothing]]),
  mutant(2, 'accepts a start in the future', [[decision, 'checks.startInFuture.rejection', nothing]]),
  mutant(2, 'has no floor', [
    [decision, 'checks.floor.rejection', nothing],
    ['model/policy-fields', 'policyFields', '(original) => () => original(-5000)'],
  ]),
  mutant(2, 'believes counts that contradict each other', [[decision, 'checks.counts.rejection', nothing]]),
  mutant(2, 'has no threshold', [[decision, 'checks.threshold.rejection', nothing]]),
  mutant(2, 'sends where nothing is to be deleted', [
    [decision, 'checks.nothingToDelete.rejection', nothing],
    [decision, 'checks.threshold.rejection', nothing],
  ]),
  mutant(2, 'has no ceiling', [[decision, 'isAboveCeiling', never]]),
  mutant(2, 'takes an approval for any number', [
    [
      decision,
      'checks.ceiling.rejection',
      takes('facts', '{ ...facts, approveRows: facts.approveRows && Number.MAX_SAFE_INTEGER }'),
    ],
  ]),
  mutant(2, 'reindexes although the policy refuses that', [[decision, 'checks.refuseReindex.rejection', nothing]]),
  mutant(2, 'reindexes where statuses may not be read', [[decision, 'checks.taskStatus.rejection', nothing]]),
  mutant(3, 'does not read the pause again', [
    [settings, 'changedSettings', resolves('it?.by === "paused" ? undefined : it')],
  ]),
  mutant(3, 'takes a pause that cannot be read for none', [
    [settings, 'pausedCause', resolves('it?.problem === undefined ? it : undefined')],
  ]),
  mutant(3, 'does not compare the policy', [['policy/difference', 'differences', '() => () => []']]),
  ...(
    [
      ['settings', undefined],
      ['serverClock', anotherAtLast],
      ['counts', anotherAtLast],
      ['threshold', anotherAtLast],
      ['ceiling', anotherAtLast],
      ['rowsChanged', 'something else deletes rows between the baseline and the last dry run'],
      ['rowLimit', anotherAtLast],
    ] as const
  ).map(askedInPlanAlone),
  mutant(3, 'sends long after its dry run', [
    [
      decideAgain,
      'countAndDecide',
      `(original) => async (...args) => {
        const it = await original(...args);
        if (it.kind !== 'approved') return it;
        const { sendBy } = args[2];
        const later = sendBy - it.attempt.sendBy;
        const attempt = { ...it.attempt, sendBy, judgeableAt: it.attempt.judgeableAt + later };
        return { ...it, attempt, dryRunAt: { monotonic: Number.POSITIVE_INFINITY } };
      }`,
    ],
  ]),
  mutant(3, 'does not decide again', [[decideAgain, 'decide', '(original) => (...args) => void original(...args)']]),
  mutant(3, 'has a cutoff in Truncate that is a minute later', [
    [decideAgain, 'policyCutoff', takes('runStartMillis, policy', 'runStartMillis + 60_000, policy')],
  ]),
  mutant(3, 'deletes far more than Plan counted', [[decision, 'checks.grown.rejection', nothing]], [anotherAtLast]),
  mutant(
    3,
    'reindexes where Plan saw a delete',
    [[decision, 'checks.methodChanged.rejection', nothing]],
    [anotherAtLast],
  ),
  mutant(3, 'deletes more than the row limit', [
    [
      decideAgain,
      'countAndDecide',
      `(original) => (target, planned, deciding) => {
        const cutoffMillis = policyCutoff(deciding.state.runStartMillis, target.policy);
        return original({ ...target, plan: { ...target.plan, cutoffMillis } }, planned, deciding);
      }`,
    ],
    [decision, 'checks.rowLimit.rejection', nothing],
  ]),
  mutant(4, 'takes 5xx for a rejection', [
    [responses, 'truncationOf', returns('args[0].status >= 500 ? { kind: "not-sent", why: it.error } : it')],
  ]),
  mutant(4, 'takes 400 for a rejection', [
    [responses, 'truncationOf', returns('args[0].status === 400 ? { kind: "not-sent", why: it.error } : it')],
  ]),
  mutant(4, 'takes a connection that broke for one that was never made', [
    [
      responses,
      'truncationWithoutAnswer',
      `(original) => (error, ...rest) => {
        const isBroken = error instanceof TransportError && error.status === undefined && error.mayBeWritten;
        return isBroken ? { kind: 'not-sent', why: failureOfTransport(error, rest[0]) } : original(error, ...rest);
      }`,
    ],
  ]),
  mutant(
    4,
    'goes on after calls without a task id',
    [[breaker, 'afterCallWithoutTask', takes('state, status', '{ ...state, callsWithoutTask: -1 }, status')]],
    ['no real truncate of tonight gets a task id'],
  ),
  mutant(4, 'goes on after its token was refused', [[breaker, 'isRefusal', never]]),
  mutant(
    4,
    'forgets its refused call once another run has judged it',
    [[breaker, 'ownCallWithoutTask', returns('args[0]?.state === "sending" ? it : undefined')]],
    ['stopped as it sends; others judge that, and truncate again; then it is redriven'],
  ),
  mutant(5, 'ignores sendBy', [
    [
      'truncation/send',
      'send',
      takes('record, _, services', 'record, { wall: Infinity, monotonic: Infinity }, services'),
    ],
  ]),
  mutant(5, 'ignores what the ledger answers', [
    [truncate, 'prepareCall', writes('async (record) => (await services.ledger.replace(record)) || true')],
  ]),
  mutant(5, 'writes whatever revision is stored', [
    [
      '../cli/ledgers/memory-ledger',
      'memoryLedger',
      `(original) => () => {
        const ledger = original();
        const replace = async (next) => Boolean(ledger.stored.set(next.index, structuredClone(storable(next))));
        return { ...ledger, replace };
      }`,
    ],
  ]),
  mutant(5, 'a run may send again', [
    [ownership, 'fencedBy', returns('it && isSameRun(it, args[1]) ? undefined : it')],
  ]),
  mutant(5, 'an older run may send', [
    [ownership, 'fencedBy', returns('it && isSameRun(it, args[1]) ? it : undefined')],
  ]),
  mutant(
    5,
    'a run is its name',
    [[transitions, 'isSameRun', '() => (one, other) => one.runId === other.runId']],
    ['name comes back'],
  ),
  mutant(5, 'a run whose Truncate failed is not fenced off', [
    [
      'run/recover',
      'recover',
      takes('target, state, ledger, now', `target, state, ${ledgerWith('ledger', 'async () => true')}, now`),
    ],
  ]),
  mutant(5, 'forgets who sent', [[transitions, 'isLater', never]]),
  mutant(5, 'sends over a record that it cannot read', [
    owned('it.kind === "unreadable" ? { kind: "free", record } : it'),
  ]),
  mutant(5, 'takes what another address holds for free', [
    owned('it.kind === "theirs" && record.server !== "http://gms.test:8080" ? { kind: "free", record } : it'),
  ]),
  mutant(
    5,
    'judges by the counts of another address',
    [
      [
        'run/entries',
        'entryOf',
        takes('from, owned, state, ...rest', 'from, owned, { ...state, server: owned.record.server }, ...rest'),
      ],
      [
        'run/poll',
        'checkOne',
        takes('entry, record, state, services', 'entry, record, { ...state, server: record?.server }, services'),
      ],
    ],
    ['address changed', 'a reindex without a task id is released at another address'],
  ),
  mutant(5, 'sends beside a truncation of another run', [
    owned('it.kind === "theirs" ? { kind: "free", record } : it'),
  ]),
  mutant(5, 'sends where rows are missing', [owned('it.kind === "quarantined" ? { kind: "free", record } : it')]),
  mutant(5, 'takes back what another writer has written', [[truncate, 'isSameWrite', always]], ['two runs at once']),
  mutant(
    5,
    'drops what it does not know',
    [['ledger/record', 'extensible', '() => (shape) => z.object(shape)']],
    ['record of a newer version'],
  ),
];

/** A reason that Truncate does not ask about: what comes between Plan and the call passes. */
function askedInPlanAlone([reason, among]: readonly [string, PlotName | undefined]): Mutant {
  const inPlanAlone = '(original) => (facts) => (facts.before ? undefined : original(facts))';
  const changes = [[decision, `checks.${reason}.rejection`, inPlanAlone]] as const;
  return mutant(3, `asks ${reason} in Plan alone`, changes, among && [among]);
}
