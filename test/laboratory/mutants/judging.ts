import { type Mutant, mutant } from './mutant.ts';

const look = 'truncation/look';
const watch = 'truncation/watch';
const judge = 'truncation/judge';

/** Rules 5 to 14: watching, judging, telling. */
export const judgingMutants: readonly Mutant[] = [
  mutant(5, 'judges what may still be sent', [
    [
      watch,
      "if (!counts || (state === 'sending' && at < judgeableAt)) return false;",
      'if (!counts || (state.length < 0 && at < judgeableAt)) return false;',
    ],
    [watch, 'at > judgeableAt && at - stillSince', 'judgeableAt > 0 && at - stillSince'],
    ['truncation/next-look', "record.state === 'sending' && now < record.attempt.judgeableAt", 'now < 0'],
    ['run/poll', "if (record.state === 'sending' && now < record.attempt.judgeableAt) return entry;", ''],
    [
      'run/entries',
      "record.state === 'sending' ? Math.max(now, record.attempt.judgeableAt) : now + look.minMillis",
      'now + look.minMillis',
    ],
  ]),
  mutant(6, 'a preview writes what it finds', [
    ['run/plan/policy', "if (state.mode === 'preview') return decided(base, verdict);", ''],
  ]),
  mutant(6, 'a preview watches and judges like any run', [
    ['run/plan/adopt', "|| context.state.mode === 'enforce')", '|| true)'],
  ]),
  mutant(14, 'says nothing of what is unresolved without a policy', [
    ['run/plan/policies', '(isUnresolved(record) ? await adopt(from, record, context) : undefined)', 'undefined'],
  ]),
  mutant(14, 'says nothing of what is quarantined without a policy', [
    [
      'run/plan/policies',
      'const closed = closedEntry(from, stands);',
      "const closed = stands.kind === 'foreign' ? closedEntry(from, stands) : undefined;",
    ],
  ]),
  mutant(14, 'says nothing of what is quarantined where it cannot do its work', [
    ['run/plan/plan', '?.entry ?? refused(one)', '?.entry === undefined ? refused(one) : refused(one)'],
    ['run/plan/plan', '(policy ? [] : [entry])', '(policy || entry ? [] : [entry])'],
  ]),
  mutant(2, 'truncates an index whose policy is switched off', [
    ['run/plan/policy', 'if (!parsed.policy.enabled)', 'if (parsed.policy.aspect.length < 0)'],
  ]),
  mutant(2, 'reindexes where statuses may not be read', [
    ['run/plan/policy', '  if (refusal) {\n', '  if (refusal && facts.nowMillis < 0) {\n'],
  ]),
  mutant(7, 'does not learn from a status how rows are removed', [
    [
      look,
      'showsReindex(seen.status) ?? record.attempt.reindexes;\n  const known',
      'record.attempt.reindexes;\n  const known',
    ],
  ]),
  mutant(7, 'takes the first look for stillness', [[watch, 'at - stillSince >= window', 'at - stillSince <= window']]),
  mutant(7, 'judges what its status says goes on', [
    [
      watch,
      "return error || (status?.kind === 'found' && !status.completed) ? false : isStill(watch, at, attempt);",
      'return error ? false : isStill(watch, at, attempt);',
    ],
  ]),
  mutant(7, 'takes a copy that is not in place for ended', [
    [watch, '(!reindexes || isFewer)', 'isFewer !== undefined'],
  ]),
  mutant(7, 'trusts "completed" without counting', [
    [
      judge,
      'if (isRemainder(counts.rowsToDelete, attempt.baseline.rowsToDelete)) {',
      'if (!watch.end && isRemainder(counts.rowsToDelete, attempt.baseline.rowsToDelete)) {',
    ],
  ]),
  mutant(
    8,
    'looks every second, however often',
    [
      [
        'truncation/next-look',
        'return now + Math.max(look.minMillis, Math.min(look.maxMillis, farthest, predicted));',
        'return now + Math.min(farthest, predicted, 1000);',
      ],
      ['run/next', 'state.polls >= maxPolls', 'state.polls > 1e9'],
    ],
    ['takes hours', 'hangs for an hour'],
  ),
  mutant(9, 'has a tolerance for what nobody answered', [
    [judge, 'rowsToDelete >= baseline.rowsToDelete &&', 'rowsToDelete >= baseline.rowsToDelete * 0.9 &&'],
  ]),
  mutant(9, 'takes whatever has no task id for unchanged', [
    [judge, "record.state === 'sending' && isUntouched(attempt, counts)", "record.state === 'sending'"],
  ]),
  mutant(9, 'does not count kept rows of a delete', [
    [judge, 'if (lost > Math.max(missing.rows, baseline.rowsToKeep * missing.share)) return true;', ''],
  ]),
  mutant(9, 'judges a copy like a delete', [
    [judge, 'if (!reindexes) return false;', 'if (!reindexes || lost < 1e9) return false;'],
  ]),
  mutant(9, 'does not read what a copy says that it left out', [
    [judge, 'end?.total !== undefined && rowsCopied(end) < end.total', 'end?.total === -1'],
  ]),
  mutant(9, 'believes a copy that nobody saw end', [
    [judge, 'if (attempt.reindexes && !watch.end)', 'if (attempt.reindexes && !watch.end && counts.rowsToKeep < 0)'],
  ]),
  mutant(9, 'does not see what is left', [
    [judge, 'if (isRemainder(counts.rowsToDelete, attempt.baseline.rowsToDelete)) {', 'if (counts.rowsToDelete < 0) {'],
  ]),
  mutant(9, 'has no quarantine', [[judge, "outcome === 'rows-missing' || ", '']]),
  mutant(9, 'opens a copy that nobody saw end', [[judge, " || (outcome === 'unknown' && reindexes)", '']]),
  mutant(9, 'does not wait for the refresh', [
    [look, '&& !isNews) || isVerified ||', '&& !isNews) || verdict.outcome.length > 0 ||'],
  ]),
  mutant(9, 'does not name an index that was replaced', [
    [look, 'indexNow: isAnother ? index.indexName : undefined', 'indexNow: undefined'],
  ]),
  mutant(9, 'has no breaker', [['run/breaker', 'return isBad ? ', 'return isBad && reindexes === null ? ']]),
  mutant(9, 'counts an open window', [
    ['truncation/counts', 'end: countedAtMillis,', 'end: countedAtMillis + 86_400_000,'],
  ]),
  mutant(9, 'believes a single answer that does not know the index', [
    [
      'truncation/counts',
      'if (absent && isKnown) throw absent;',
      'if (absent) for (const name of Object.keys(rows)) rows[name] = 0;',
    ],
  ]),
  mutant(9, 'believes an empty index between counts of rows', [
    ['truncation/counts', 'if (totals.includes(0) && !isEmpty) throw', 'if (totals.includes(-1)) throw'],
  ]),
  mutant(9, 'counts from a bite’s cutoff on', [
    ['truncation/counts', 'const { sent, policy = sent, end } = rows;', 'const { sent, end, sent: policy } = rows;'],
  ]),
  mutant(10, 'gives up before 20 h', [[look, 'clock.now() - sendingSince >= abandonAfterMillis', 'clock.now() > 0']]),
  mutant(10, 'never gives up', [[look, 'clock.now() - sendingSince >= abandonAfterMillis', 'clock.now() < 0']]),
  mutant(10, 'gives up what moves', [
    [look, 'isOld(record, services) && after.isStuck === true', 'isOld(record, services)'],
  ]),
  mutant(11, 'keeps no window', [
    ['ledger/transitions', 'return window ?? (isWhole ? before : undefined);', 'return undefined;'],
  ]),
  mutant(11, 'does not count the window again', [
    ['truncation/between-runs', 'if (!window) return undefined;', 'if (!window || window.rows >= 0) return undefined;'],
  ]),
  mutant(11, 'takes one low count for a loss', [
    ['run/plan/policy', 'if (again) return', 'if (again || low) return'],
    ['run/plan/policy', 'await lossEntry(base, record, again, context)', 'await lossEntry(base, record, low, context)'],
  ]),
  mutant(11, 'counts again at once', [['run/plan/policy', 'at + agreeingChecksMillis - clock.now()', '0']]),
  mutant(12, 'publishes nothing', [
    [
      'run/report',
      'await publisher.publish(composed, state?.byHand)',
      'composed.policies === undefined ? await publisher.publish(composed, state?.byHand) : []',
    ],
  ]),
  mutant(
    14,
    'accepts two policies for one index',
    [
      ['policy/parse', 'if (same.length <= 1 ||', 'if (same.length <= 100 ||'],
      ['run/orders', 'if (second) return', 'if (second && !current) return'],
    ],
    ['policy twice'],
  ),
  mutant(10, 'releases whatever is missing', [
    ['run/release', 'rowsMissing > (acceptMissing ?? 0)', 'rowsMissing < 0'],
  ]),
  mutant(10, 'releases what is unresolved', [
    [
      'run/release',
      'if (until !== undefined && services.clock.now() < until)',
      'if (until !== undefined && services.clock.now() < 0)',
    ],
  ]),
  mutant(10, 'releases an unresolved copy that nobody accepted', [
    ['run/release', 'if (running && acceptMissing === undefined)', 'if (running && acceptMissing === -1)'],
  ]),
];
