import { always, type Mutant, mutant, never, nothing, resolves, returns, takes } from './mutant.ts';

const check = 'truncation/check';
const fromLedger = 'run/plan/from-ledger';
const policy = 'run/plan/policy';
const release = 'run/release';
const watch = 'truncation/watch';
const judge = 'truncation/judge';
const kept = 'truncation/kept';
const counts = 'truncation/counts';
const entries = 'run/entries';

/** Plan without some of the entries that it takes from the ledger. @param stays of an `entry` */
export const onlyEntries = (stays: string) =>
  [
    fromLedger,
    'entriesFromLedger',
    returns(
      `({ ...it, fromLedger: { ...it.fromLedger, entries: it.fromLedger.entries.filter((entry) => ${stays}) } })`,
    ),
  ] as const;

/** A verdict, called `it`, that is good where `is` holds. */
const good = (is: string) => returns(`${is} ? { ...it, outcome: "truncated", cause: { kind: "verified" } } : it`);

/** What a status of a task shows of its method, with other facts of `seen`, or of the `attempt`. */
const shown = (seen: string, attempt = 'attempt') =>
  [
    watch,
    'methodShown',
    takes(
      '{ attempt, ...record }, { counts, status, ...seen }, hasWritten',
      `{ ...record, attempt: ${attempt} }, { ...seen, ${seen} }, hasWritten`,
    ),
  ] as const;

/** Rules 2 and 5 to 14: watching, judging, telling. */
export const judgingMutants: readonly Mutant[] = [
  mutant(5, 'judges what may still be sent', [
    [
      'run/poll',
      'checkOne',
      takes(
        'entry, record, ...rest',
        'entry, record?.attempt ? { ...record, attempt: { ...record.attempt, judgeableAt: 0 } } : record, ...rest',
      ),
    ],
    [entries, 'firstCheckAt', '() => (_, now) => now + checkInterval.minMillis'],
    [entries, 'mayBeSent', never],
  ]),
  mutant(6, 'a preview watches and judges like any run', [
    [
      fromLedger,
      'entriesFromLedger',
      takes('state, prepared, _, services', 'state, prepared, prepared.canAskServer, services'),
    ],
  ]),
  mutant(14, 'says nothing of what is unresolved', [onlyEntries('!entry.record || !isUnresolved(entry.record)')]),
  mutant(14, 'says nothing of what is quarantined', [onlyEntries('entry.decision?.outcome !== "quarantined"')]),
  mutant(
    14,
    'says nothing of what is quarantined where it cannot do its work',
    [onlyEntries('args[1].canAskServer || entry.decision?.outcome !== "quarantined"')],
    ['parameters refused'],
  ),
  mutant(2, 'truncates an index whose policy is switched off', [
    [
      fromLedger,
      'entriesFromLedger',
      `(original) => (state, prepared, ...rest) => {
        const { fromLedger, toCount } = original(state, prepared, ...rest);
        const isOff = ({ decision }) => decision?.outcome === 'disabled';
        const off = fromLedger.entries.filter(isOff).map(({ index }) => index);
        const entries = fromLedger.entries.filter((entry) => !isOff(entry));
        return {
          fromLedger: { ...fromLedger, entries },
          toCount: [...toCount, ...prepared.chosen.filter(({ index }) => off.includes(index))],
        };
      }`,
    ],
  ]),
  mutant(7, 'does not learn from a status how rows are removed', [
    [check, 'methodShown', '() => ({ attempt }) => attempt.method'],
  ]),
  mutant(
    7,
    'makes a delete of a reindex that counts what it leaves out',
    [shown('status, counts: counts && { ...counts, rowsLeft: 0 }')],
    ['all rows, old ones are deleted'],
  ),
  mutant(
    7,
    'makes a delete of a reindex of which every row has failed',
    [
      shown(
        'counts, status: status?.counters ? { ...status, counters: { ...status.counters, total: undefined } } : status',
      ),
    ],
    ['every row fails'],
  ),
  mutant(7, 'forgets what a status has just said', [
    [watch, 'progressTimes', takes('before, seen, made', 'before, { ...seen, status: undefined }, made')],
  ]),
  mutant(9, 'takes a reindex that was cancelled for whole', [
    [kept, 'accountsFor', takes('end, attempt', 'end && { ...end, cancelled: undefined }, attempt')],
  ]),
  mutant(7, 'makes a delete of a reindex without rows to keep', [
    shown(
      'counts, status',
      '{ ...attempt, baseline: { ...attempt.baseline, rowsToKeep: attempt.baseline.rowsToKeep || 1 } }',
    ),
  ]),
  mutant(7, 'takes the first check for a lack of progress', [
    [
      watch,
      'lacksProgress',
      '() => ({ noProgressSince: since }, at, to) => since !== undefined && at > to.judgeableAt',
    ],
  ]),
  mutant(7, 'takes a reindex that is not in place for ended', [
    [watch, 'hasEnded', returns('it || (args[1].counts !== undefined && args[1].status?.completed === true)')],
  ]),
  mutant(7, 'trusts "completed" without counting', [
    [
      judge,
      'judgeDelete',
      takes('record, watch, counts', 'record, watch, watch.end ? { ...counts, rowsLeft: 0 } : counts'),
    ],
  ]),
  mutant(
    8,
    'checks every five seconds, however often',
    [
      [check, 'nextCheckAt', returns('args[0].state === "sending" || args[1].pending ? it : args[2] + 5000')],
      ['run/next', 'budgetExceeded', takes('state, ...rest', '{ ...state, polls: 0 }, ...rest')],
    ],
    ['takes hours', 'hangs for an hour'],
  ),
  mutant(9, 'has a tolerance for what nobody answered', [
    [
      judge,
      'judgeDelete',
      `(original) => (record, watch, counts) => {
        const { rowsToDelete } = record.attempt.baseline;
        const isMost = counts.rowsLeft >= rowsToDelete * 0.9;
        return original(record, watch, isMost ? { ...counts, rowsLeft: rowsToDelete } : counts);
      }`,
    ],
  ]),
  mutant(9, 'takes whatever has no task id for unchanged', [
    [
      judge,
      'judgeDelete',
      returns('args[0].state === "sending" ? { ...it, outcome: "failed", cause: { kind: "unchanged" } } : it'),
    ],
  ]),
  mutant(9, 'does not count the rows to keep of a delete', [
    [
      judge,
      'judgeDelete',
      takes('record, watch, counts', 'record, watch, { ...counts, rowsToKeep: record.attempt.baseline.rowsToKeep }'),
    ],
  ]),
  mutant(9, 'judges a reindex like a delete', [[judge, 'judgeReindex', '() => judgeDelete']]),
  mutant(9, 'judges a reindex without a task id like a delete', [
    [
      judge,
      'judgeReindex',
      '(original) => (record, ...rest) => (record.state === "running" ? original : judgeDelete)(record, ...rest)',
    ],
  ]),
  mutant(9, 'does not read what a reindex says that it left out', [
    [kept, 'accountsFor', '() => (end) => end !== undefined'],
  ]),
  mutant(9, 'believes a reindex that nobody saw end', [
    [judge, 'judgeInPlace', good('!args[1].end && it.cause.kind === "unproven"')],
  ]),
  mutant(9, 'believes a reindex that is not in place', [[judge, 'isInPlace', always]]),
  mutant(9, 'believes a reindex of which old rows are left, and none to keep', [[judge, 'isSurelyMoved', always]]),
  mutant(
    9,
    'takes the rows to keep for all that a reindex had to write',
    [
      [
        kept,
        'accountsFor',
        '() => (end, { baseline }) => !!end && !end.cancelled && rowsWritten(end) >= baseline.rowsToKeep',
      ],
    ],
    ['rows of tomorrow'],
  ),
  mutant(
    9,
    'calls a reindex lost that has not been refreshed',
    [[kept, 'keptRows', returns('it.kind === "not-visible" ? { ...it, kind: "missing" } : it')]],
    ['new index without refreshes'],
  ),
  mutant(
    9,
    'calls a reindex verified that has not been refreshed',
    [[judge, 'judgeInPlace', good('it.cause.kind === "not-visible"')]],
    ['new index without refreshes'],
  ),
  mutant(9, 'takes rows that were not written for rows that are not visible', [
    [
      kept,
      'keptRows',
      returns(
        'it.kind === "missing" && accountsFor(args[2], args[0]) ? { ...it, kind: "not-visible", written: 0 } : it',
      ),
    ],
  ]),
  mutant(
    9,
    'calls an index without any visible row lost, although no status was read',
    [[kept, 'keptRows', returns('it.kind === "nothing-visible" ? { ...it, kind: "missing" } : it')]],
    ['new index without refreshes'],
  ),
  mutant(9, 'calls an index that is not known one without visible rows', [
    [kept, 'keptRows', takes('attempt, counts, end', 'attempt, { ...counts, isAbsent: undefined }, end')],
  ]),
  mutant(
    10,
    'releases rows that are not visible',
    [[release, 'missingIn', resolves('it.notVisible ? { ...it, missing: 0 } : it')]],
    ['the new index of a reindex is not refreshed, and a person releases it'],
  ),
  mutant(
    9,
    'forgets what a completed status has counted',
    [
      [check, 'endCounters', nothing],
      [watch, 'statusFields', returns('({ ...it, end: endCounters(args[1].status) })')],
    ],
    ['a reindex ends, its task is forgotten, and only then is it put in place'],
  ),
  mutant(9, 'does not check twice where rows are fewer', [
    [judge, 'isFinal', takes('verdict, ...rest', '{ ...verdict, rowsMissing: 0, rowsNotVisible: 0 }, ...rest')],
  ]),
  mutant(9, 'does not see what is left', [[judge, 'isRemainder', never]]),
  mutant(9, 'has no quarantine', [[judge, 'stateAfter', returns('args[0].outcome === "rows-missing" ? "idle" : it')]]),
  mutant(9, 'opens a reindex that is not proven', [
    [judge, 'stateAfter', returns('args[0].outcome === "unknown" ? "idle" : it')],
  ]),
  mutant(9, 'does not wait for the refresh', [[judge, 'isFinal', always]]),
  mutant(9, 'does not name an index that was replaced', [[check, 'indexAfter', resolves('{}')]]),
  mutant(9, 'has no breaker', [['run/breaker', 'breakerOf', nothing]]),
  mutant(9, 'counts an open window', [
    [
      counts,
      'countTruncation',
      takes('ask, what', 'ask, { ...what, countedAtMillis: what.countedAtMillis + 86_400_000 }'),
    ],
  ]),
  mutant(
    9,
    'believes a single answer that does not know the index',
    [
      [
        counts,
        'countRows',
        `(original) => async (ask, fields, cutoffs) => {
          try {
            return await original(ask, fields, cutoffs);
          } catch (error) {
            if (error.serverError?.kind !== 'no-index') throw error;
            return { rows: Object.fromEntries(Object.keys(cutoffs).map((name) => [name, 0])), isAbsent: true };
          }
        }`,
      ],
    ],
    ['one count of each check is answered by another server'],
  ),
  mutant(
    9,
    'believes an empty index between counts of rows',
    [
      [
        counts,
        'countRows',
        takes('ask, ...rest', 'async (fields) => ({ ...(await ask(fields)), rowsTotal: 1 }), ...rest'),
      ],
    ],
    ['one count of each check is answered by another server'],
  ),
  mutant(9, 'counts from a limited run’s cutoff on', [
    [counts, 'countTruncation', takes('ask, what', 'ask, { ...what, policyCutoffMillis: what.fields.cutoffMillis }')],
  ]),
  mutant(10, 'gives up before 20 h', [
    [check, 'isOld', '() => ({ attempt }, { run }) => run.runStartMillis > attempt.sendingSince'],
  ]),
  mutant(10, 'never gives up', [[check, 'isOld', never]]),
  mutant(
    10,
    'gives up what moves',
    [[check, 'reduce', returns('({ ...it, isStuck: true })')]],
    ['a task stands still for over a day, or goes on past the end of the next night'],
  ),
  mutant(11, 'keeps no window', [['ledger/transitions', 'windowAfter', nothing]]),
  mutant(11, 'does not count the window again', [[policy, 'noteFewerRows', nothing]]),
  mutant(11, 'says nothing of rows that have gone between two nights', [
    [
      policy,
      'noteFewerRows',
      takes('policy, cutoffMillis, context, isAbsent', 'policy, cutoffMillis, { ...context, notes: [] }, isAbsent'),
    ],
  ]),
  mutant(11, 'is content with a window of which rows have gone', [
    ['model/note', 'needsAttention', returns('it && args[0].kind !== "fewer-rows"')],
  ]),
  mutant(12, 'publishes nothing', [
    [
      'run/report',
      'report',
      takes(
        'event, services',
        'event, { ...services, publisher: Object.assign(Object.create(services.publisher), { publish: async () => true }) }',
      ),
    ],
  ]),
  mutant(
    14,
    'accepts two policies for one index',
    [
      ['policy/parse', 'withoutDuplicates', '() => (parsed) => parsed'],
      [
        'run/current-settings',
        'changedSettings',
        resolves('it?.what === "unreadable" && it.problem.startsWith("there is a second one") ? undefined : it'),
      ],
    ],
    ['policy twice'],
  ),
  mutant(
    10,
    'releases whatever is missing',
    [[release, 'missingIn', resolves('({ ...it, missing: it.missing && 0 })')]],
    ['a run ends between its verdict and its message, and so does a release'],
  ),
  mutant(10, 'releases what is unknown, and nobody accepted', [
    [release, 'missingIn', resolves('({ ...it, unknown: undefined })')],
  ]),
  mutant(10, 'releases what is unresolved', [[release, 'releasableAt', nothing]]),
  mutant(10, 'counts a reindex that is not in place', [[release, 'isInPlace', always]]),
  mutant(
    10,
    'releases a reindex whose status says that it runs',
    [[release, 'missingIn', resolves('it.unknown === "running" ? { ...it, unknown: undefined } : it')]],
    ['a person releases a reindex that has written every row, and has not ended for a day'],
  ),
  mutant(
    10,
    'releases a reindex whose status cannot be read',
    [[release, 'missingIn', resolves('it.error && it.unknown === "running" ? { ...it, unknown: undefined } : it')]],
    ['a person releases a reindex that has written every row, and has not ended for a day'],
  ),
  mutant(
    10,
    'releases by the counts of another address',
    [[release, 'addressElsewhere', nothing]],
    ['a reindex without a task id is released at another address'],
  ),
];
