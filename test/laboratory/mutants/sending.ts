import type { PlotName } from '../histories/plots.ts';
import { type Mutant, mutant } from './mutant.ts';

const decision = 'policy/decision';
const truncate = 'run/truncate';
const settings = 'run/current-settings';
const ownership = 'ledger/ownership';
const transitions = 'ledger/transitions';

const anotherAtLast = 'the server or the stage is another one by the time of the last dry run';

/** Rules 1 to 5: deciding and sending. */
export const sendingMutants: readonly Mutant[] = [
  mutant(1, 'takes every server for one that deletes in place', [
    [truncate, '    method,\n    baseline', "    method: 'delete',\n    baseline"],
  ]),
  mutant(1, 'insists on a field that the server refuses', [[truncate, 'state.refusesForceField ?? false', 'false']]),
  mutant(1, 'sends another batch size', [['truncation/counts', 'batchSize: policy.batchSize', 'batchSize: 1']]),
  mutant(2, 'trusts a server whose clock is wrong', [
    [decision, 'Math.abs(clockSkewMillis) > maxClockSkewMillis', 'Math.abs(clockSkewMillis) < 0'],
  ]),
  mutant(2, 'accepts a start in the future', [[decision, 'runStartMillis - nowMillis;', '0;']]),
  mutant(2, 'has no floor', [
    [decision, 'const isOldEnough = ', 'const isOldEnough = present > 0 || '],
    ['model/policy-fields', ".min(minRetentionDays, 'minRetentionDays')", ''],
  ]),
  mutant(2, 'believes counts that contradict each other', [
    [decision, 'dryRun.rowsToDelete > dryRun.rowsTotal ?', 'dryRun.rowsToDelete < 0 ?'],
  ]),
  mutant(2, 'has no threshold', [
    [decision, 'compareShare(dryRun.rowsToDelete, dryRun.rowsTotal, minDeletePercent) < 0', 'minDeletePercent < 0'],
  ]),
  mutant(2, 'has no ceiling', [[decision, '!isAboveCeiling(policy, dryRun)', 'rowsToDelete > 0']]),
  mutant(2, 'takes an approval for any number', [[decision, 'rowsToDelete <= (approved ?? 0)', '(approved ?? 0) > 0']]),
  mutant(2, 'reindexes although the policy refuses that', [[decision, 'policy.refuseReindex && ', 'false && ']]),
  mutant(3, 'does not read the pause again', [[settings, 'if (paused) return paused;', '']]),
  mutant(3, 'takes a pause that cannot be read for none', [
    [settings, "return { kind: 'stopped', by: 'paused', problem: problemOf(error) };", 'return void error;'],
  ]),
  mutant(3, 'does not compare the policy', [
    [settings, 'difference(policy, current.policy)', 'difference(policy, policy)'],
  ]),
  ...(
    [
      ['settings', 'not asked: it has just read them, and a pause ends the run before Truncate', undefined],
      ['serverClock', 'asked', anotherAtLast],
      ['counts', 'asked', anotherAtLast],
      ['threshold', 'asked', anotherAtLast],
      ['ceiling', 'asked', anotherAtLast],
      [
        'rowsChanged',
        'not asked: there is nothing to compare with',
        'something else deletes rows between the baseline and the last dry run',
      ],
      ['rowLimit', 'not asked: it looks for a cutoff within the limit', anotherAtLast],
    ] as const
  ).map(askedInPlanAlone),
  mutant(3, 'sends long after its dry run', [
    [truncate, 'Math.min(sendBy, dryRunAt.wall + dryRunValidMillis)', 'sendBy'],
    [truncate, ', dryRunAt.monotonic + dryRunValidMillis)', ')'],
  ]),
  mutant(3, 'does not decide again', [[truncate, '  if (refusal) {\n', '  if (refusal && rowsTotal < 0) {\n']]),
  mutant(3, 'fixes the cutoff in Truncate', [
    [
      truncate,
      'const policyCutoffMillis = policyCutoff(runStartMillis, policy);',
      'const policyCutoffMillis = policyCutoff(clock.now(), policy);',
    ],
  ]),
  mutant(3, 'deletes far more than Plan counted', [
    [decision, 'return now - was > Math.max(agreedRows.rows, more) ?', 'return now < 0 ?'],
  ]),
  mutant(3, 'deletes more than the row limit', [
    [truncate, 'plan.limited ? plan.cutoffMillis : policyCutoffMillis', 'policyCutoffMillis'],
    [decision, 'dryRun.rowsToDelete <= Math.max(policy.maxRowsPerRun, approveRows)', 'approveRows >= 0'],
  ]),
  mutant(4, 'takes 5xx for a rejection', [
    [
      'gms/responses/truncation',
      'if (failure) return',
      "if (failure && answer.status >= 500) return { kind: 'not-sent', why: failure };\n  if (failure) return",
    ],
  ]),
  mutant(4, 'takes 400 for a rejection', [
    [
      'gms/responses/truncation',
      'if (failure) return',
      "if (failure && answer.status === 400) return { kind: 'not-sent', why: failure };\n  if (failure) return",
    ],
  ]),
  mutant(4, 'takes a connection that broke for one that was never made', [
    ['gms/responses/truncation', 'if (!error.mayBeWritten)', 'if (error.status === undefined)'],
  ]),
  mutant(4, 'goes on after calls without a task id', [
    ['run/breaker', 'callsWithoutTask >= maxCallsWithoutTask ||', ''],
  ]),
  mutant(4, 'goes on after its token was refused', [
    ['run/breaker', 'status === 401 || status === 403;', 'status === 0;'],
  ]),
  mutant(
    4,
    'forgets its refused call once another run has judged it',
    [['run/breaker', "record.state === 'sending' || attempt.answer !== undefined;", "record.state === 'sending';"]],
    ['stopped as it sends; others judge that, and truncate again; then it is redriven'],
  ),
  mutant(5, 'ignores sendBy', [
    ['truncation/send', 'clock.now() < until.wall && clock.monotonic() < until.monotonic', 'until.wall > 0'],
  ]),
  mutant(5, 'ignores what the ledger answers', [
    [
      truncate,
      'isWritten = await ledger.replace(sending);',
      'isWritten = (await ledger.replace(sending)) || begun.wall >= 0;',
    ],
  ]),
  mutant(5, 'writes whatever revision is stored', [
    ['../cli/ledgers/memory-ledger', '(current?.revision ?? 0) !== record.revision - 1', 'false'],
  ]),
  mutant(5, 'a run may send again', [
    [ownership, 'isSameRun(lastSender, thisRun) || startsTooEarly', 'startsTooEarly'],
    [ownership, 'thisRun.runStartMillis <= lastSender', 'thisRun.runStartMillis < lastSender'],
  ]),
  mutant(5, 'an older run may send', [
    [ownership, 'isSameRun(lastSender, thisRun) || startsTooEarly', 'isSameRun(lastSender, thisRun)'],
  ]),
  mutant(
    5,
    'a run is its name',
    [
      [
        'ledger/transitions',
        'one.runId === other.runId && one.runStartMillis === other.runStartMillis',
        'one.runId === other.runId',
      ],
    ],
    ['name comes back'],
  ),
  mutant(5, 'a run whose Truncate failed is not fenced off', [
    ['run/recover', 'if (fenced && !(await ledger.replace(fenced))) continue;', ''],
  ]),
  mutant(5, 'forgets who sent', [
    [
      transitions,
      'isSameRun(record.lastSender, run) || isLater(',
      'isSameRun(record.lastSender, run) || nowMillis < 0 && isLater(',
    ],
  ]),
  mutant(5, 'sends over a record that it cannot read', [
    [ownership, "return { kind: 'unreadable', record };", "return { kind: 'free', record: record as never };"],
  ]),
  mutant(5, 'takes what another address holds for free', [
    [
      ownership,
      "return { kind: isSameRun(record.attempt, thisRun) ? 'mine' : 'theirs', record };",
      "return isSameRun(record.attempt, thisRun)\n      ? { kind: 'mine', record }\n      : record.server === 'http://gms.test:8080'\n        ? { kind: 'theirs', record }\n        : { kind: 'free', record: record as never };",
    ],
  ]),
  mutant(
    5,
    'judges by the counts of another address',
    [
      [
        'run/entries',
        'const isSameServer = addressElsewhere(record, state) === undefined;',
        'const isSameServer = true;',
      ],
      ['run/poll', '!isThere || addressElsewhere(record, state) !== undefined', '!isThere'],
    ],
    ['address changed', 'a reindex without a task id is released at another address'],
  ),
  mutant(5, 'sends beside a truncation of another run', [
    [
      ownership,
      "return { kind: isSameRun(record.attempt, thisRun) ? 'mine' : 'theirs', record };",
      "return isSameRun(record.attempt, thisRun) ? { kind: 'mine', record } : { kind: 'free', record: record as never };",
    ],
  ]),
  mutant(5, 'sends where rows are missing', [
    [
      ownership,
      "record.state === 'quarantined' ? { kind: 'quarantined', record } : { kind: 'free', record };",
      "({ kind: 'free', record: record as never });",
    ],
  ]),
  mutant(
    5,
    'takes back what another writer has written',
    [['run/truncate', 'if (!isSameWrite(await ledger.read(sending.index), sending)) return;', '']],
    ['two runs at once'],
  ),
  mutant(
    5,
    'drops what it does not know',
    [
      [
        'ledger/record',
        'z.looseObject(shape) as unknown as z.ZodObject<Shape>',
        'z.object(shape) as unknown as z.ZodObject<Shape>',
      ],
    ],
    ['record of a newer version'],
  ),
];

/** A reason that Truncate does not ask about: what comes between Plan and the call passes. */
function askedInPlanAlone([reason, plan, among]: readonly [string, string, PlotName | undefined]): Mutant {
  const find = `${reason}: {\n    plan: '${plan}',\n    truncate: '`;
  const changes = [[decision, `${find}asked'`, `${find}not asked: a mutant'`]] as const;
  return mutant(3, `asks ${reason} in Plan alone`, changes, among && [among]);
}
