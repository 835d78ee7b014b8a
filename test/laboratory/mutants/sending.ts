import { type Mutant, mutant } from './mutant.ts';

const decision = 'policy/decision';
const truncate = 'run/truncate';

/** Rules 1 to 5: deciding and sending. */
export const sendingMutants: readonly Mutant[] = [
  mutant(1, 'takes every server for one that deletes in place', [
    [truncate, 'reindexes: !dryRun.deletesInPlace,\n    baseline', 'reindexes: false,\n    baseline'],
  ]),
  mutant(1, 'insists on a field that the server refuses', [[truncate, 'state.refusesForceField ?? false', 'false']]),
  mutant(1, 'sends another batch size', [['truncation/counts', 'batchSize: policy.batchSize', 'batchSize: 1']]),
  mutant(2, 'trusts a server whose clock is wrong', [
    [decision, 'Math.abs(clockSkewMillis) > maxClockSkewMillis', 'Math.abs(clockSkewMillis) < 0'],
  ]),
  mutant(2, 'accepts a start in the future', [[decision, 'runStartMillis - nowMillis;', '0;']]),
  mutant(2, 'has no floor', [
    [decision, 'const isOldEnough = ', 'const isOldEnough = present > 0 || '],
    ['facts/policy-fields', ".min(minRetentionDays, 'minRetentionDays')", ''],
  ]),
  mutant(2, 'believes counts that contradict each other', [
    [decision, 'rowsToDelete > rowsTotal ? guardFailed', 'rowsToDelete < 0 ? guardFailed'],
  ]),
  mutant(2, 'has no threshold', [
    [decision, 'compareShare(rowsToDelete, rowsTotal, minDeletePercent) < 0', 'rowsToDelete < 0'],
  ]),
  mutant(2, 'has no ceiling', [[decision, '!isAboveCeiling(policy, counts)', 'rowsTotal > 0']]),
  mutant(2, 'takes an approval for any number', [[decision, 'rowsToDelete <= (approveRows ?? 0)', 'approveRows > 0']]),
  mutant(2, 'reindexes although the policy refuses that', [[decision, 'policy.refuseReindex && ', 'false && ']]),
  mutant(3, 'does not read the orders again', [
    [truncate, 'if (orders) return', 'if (orders && dryRunValidMillis < 0) return'],
  ]),
  mutant(3, 'does not read the pause again', [['run/orders', 'if (paused) return paused;', '']]),
  mutant(3, 'takes a pause that cannot be read for none', [
    ['run/orders', "return { kind: 'stopped', by: 'paused', problem: problemOf(error) };", 'return void error;'],
  ]),
  mutant(3, 'does not compare the policy', [
    ['run/orders', 'return difference(policy, current.policy);', 'return difference(policy, policy);'],
  ]),
  mutant(3, 'sends long after its dry run', [
    [truncate, 'Math.min(sendBy, dryRunAt.wall + dryRunValidMillis)', 'sendBy'],
    [truncate, ', dryRunAt.monotonic + dryRunValidMillis)', ')'],
  ]),
  mutant(3, 'does not decide again', [[truncate, '  if (refusal) {\n', '  if (refusal && rowsTotal < 0) {\n']]),
  mutant(3, 'does not compare the dry run with the baseline', [[truncate, 'difference > tolerated', 'tolerated < 0']]),
  mutant(3, 'fixes the cutoff in Truncate', [
    [
      truncate,
      'const policyCutoffMillis = policyCutoff(runStartMillis, policy);',
      'const policyCutoffMillis = policyCutoff(clock.now(), policy);',
    ],
  ]),
  mutant(3, 'deletes more than a bite', [
    [truncate, 'plan.bite?.cutoffMillis ?? policyCutoffMillis', 'policyCutoffMillis'],
  ]),
  mutant(4, 'takes 5xx for a rejection', [
    [
      'operations/answers/truncation',
      'if (failure) return',
      "if (failure && answer.status >= 500) return { kind: 'not-sent', why: failure };\n  if (failure) return",
    ],
  ]),
  mutant(4, 'takes 400 for a rejection', [
    [
      'operations/answers/truncation',
      'if (failure) return',
      "if (failure && answer.status === 400) return { kind: 'not-sent', why: failure };\n  if (failure) return",
    ],
  ]),
  mutant(4, 'takes a connection that broke for one that was never made', [
    ['operations/answers/truncation', 'if (!error.mayBeWritten)', 'if (error.status === undefined)'],
  ]),
  mutant(4, 'goes on after calls without a task id', [
    ['run/breaker', 'callsWithoutTask >= maxCallsWithoutTask ||', ''],
  ]),
  mutant(4, 'goes on after its token was refused', [
    ['run/breaker', 'status === 401 || status === 403;', 'status === 0;'],
  ]),
  mutant(5, 'ignores sendBy', [
    ['truncation/send', 'clock.now() < until.wall && clock.monotonic() < until.monotonic', 'until.wall > 0'],
  ]),
  mutant(5, 'ignores what the ledger answers', [
    [
      truncate,
      'if (!(await ledger.replace(sending))) return',
      'if (!(await ledger.replace(sending)) && begun.wall < 0) return',
    ],
  ]),
  mutant(5, 'writes whatever revision is stored', [
    ['../cli/ledgers/memory-ledger', '(current?.revision ?? 0) !== record.revision - 1', 'false'],
  ]),
  mutant(5, 'a run may send again', [
    ['ledger/standing', 'isSameRun(sender, thisRun) || ', ''],
    [
      'ledger/standing',
      'thisRun.runStartMillis <= sender.runStartMillis',
      'thisRun.runStartMillis < sender.runStartMillis',
    ],
  ]),
  mutant(5, 'an older run may send', [['ledger/standing', ' || isLater', '']]),
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
  mutant(5, 'a run that is given up is not written down', [
    [
      'run/recover',
      "['free', 'theirs', 'quarantined'].includes(stands.kind)",
      "['theirs', 'quarantined'].includes(stands.kind)",
    ],
  ]),
  mutant(5, 'forgets who sent', [
    ['ledger/transitions', 'lastSender: record && headOf(record).lastSender', 'lastSender: undefined'],
  ]),
  mutant(5, 'takes what another version or address holds for free', [
    ['ledger/standing', "headOf(record).state !== 'idle' && !isHere(record, thisRun)", 'nowMillis < 0'],
    [
      'ledger/standing',
      "record !== undefined && record.state !== 'other-version' && record.server === server;",
      "record !== undefined && record.state !== 'other-version' && server !== '';",
    ],
  ]),
  mutant(5, 'sends beside a truncation of another run', [
    [
      'ledger/standing',
      "? { kind: 'decided', record, verdict } : { kind: 'theirs', record }",
      "? { kind: 'decided', record, verdict } : { kind: 'free', record: record as never }",
    ],
  ]),
  mutant(5, 'sends where rows are missing', [
    [
      'ledger/standing',
      "? { kind: 'quarantined', record } : freeOrSpent(record, thisRun, nowMillis)",
      "? { kind: 'free', record: record as never } : freeOrSpent(record, thisRun, nowMillis)",
    ],
  ]),
];
