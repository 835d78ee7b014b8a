import { type Mutant, mutant } from './mutant.ts';

const check = 'truncation/check';
const plan = 'run/plan/plan';
const release = 'run/release';
const watch = 'truncation/watch';
const judge = 'truncation/judge';
const kept = 'truncation/kept';

/** Rules 2 and 5 to 14: watching, judging, telling. */
export const judgingMutants: readonly Mutant[] = [
  mutant(5, 'judges what may still be sent', [
    [
      watch,
      "if (!counts || (state === 'sending' && at < judgeableAt)) return false;",
      'if (!counts || (state.length < 0 && at < judgeableAt)) return false;',
    ],
    [watch, 'at > judgeableAt && at - stillSince', 'judgeableAt > 0 && at - stillSince'],
    ['truncation/next-check', "record.state === 'sending' && now < record.attempt.judgeableAt", 'now < 0'],
    ['run/poll', "if (record.state === 'sending' && now < record.attempt.judgeableAt) return entry;", ''],
    [
      'run/entries',
      "record.state === 'sending' ? Math.max(now, record.attempt.judgeableAt) : now + checkInterval.minMillis",
      'now + checkInterval.minMillis',
    ],
    ['run/entries', "state === 'sending' && now < attempt.judgeableAt;", 'now < 0;'],
  ]),
  mutant(6, 'a preview watches and judges like any run', [
    [plan, "begun.mode === 'enforce', services", 'true, services'],
  ]),
  mutant(14, 'says nothing of what is unresolved', [
    [plan, 'if (policy || !release) {', 'if ((policy || !release) && !isUnresolved(record)) {'],
  ]),
  mutant(14, 'says nothing of what is quarantined', [
    [plan, 'if (policy || !release) {', "if ((policy || !release) && owned.kind !== 'quarantined') {"],
  ]),
  mutant(
    14,
    'says nothing of what is quarantined where it cannot do its work',
    [
      [
        plan,
        'if (policy || !release) {',
        "if ((policy || !release) && (canAskServer || owned.kind !== 'quarantined')) {",
      ],
    ],
    ['parameters refused'],
  ),
  mutant(2, 'truncates an index whose policy is switched off', [
    [plan, 'else if (parsed.policy.enabled) toCount', 'else if (parsed.policy.aspect.length > 0) toCount'],
  ]),
  mutant(2, 'reindexes where statuses may not be read', [
    ['run/plan/policy', 'taskStatusError: await requests.taskStatusRefusal()', 'taskStatusError: undefined'],
  ]),
  mutant(7, 'does not learn from a status how rows are removed', [
    [check, 'methodShown(record, seen, watch.hasWritten ?? false);', 'record.attempt.method;'],
  ]),
  mutant(
    7,
    'makes a delete of a reindex that counts what it leaves out',
    [[watch, 'counts !== undefined && isInPlace(attempt, counts);', 'counts !== undefined;']],
    ['all rows, old ones are deleted'],
  ),
  mutant(
    7,
    'makes a delete of a reindex of which every row has failed',
    [[watch, 'deleted >= total || total <=', 'deleted >= 0 || total <=']],
    ['every row fails'],
  ),
  mutant(7, 'forgets what a status has just said', [
    [watch, 'moved || isFirst || runs ? until', 'moved || isFirst ? until'],
  ]),
  mutant(9, 'takes a reindex that was cancelled for whole', [
    [kept, 'end === undefined || end.cancelled', 'end === undefined'],
  ]),
  mutant(7, 'makes a delete of a reindex without rows to keep', [
    [watch, 'if (rowsToKeep === 0) return', 'if (rowsToKeep < 0) return'],
  ]),
  mutant(7, 'takes the first check for stillness', [[watch, 'at - stillSince >= window', 'at - stillSince <= window']]),
  mutant(7, 'takes a reindex that is not in place for ended', [
    [watch, '(!isReindex || isInPlace(attempt, counts))', '(!isReindex || at > 0)'],
  ]),
  mutant(7, 'trusts "completed" without counting', [
    [
      judge,
      'if (isRemainder(counts.rowsLeft, baseline.rowsToDelete)) {',
      'if (!watch.end && isRemainder(counts.rowsLeft, baseline.rowsToDelete)) {',
    ],
  ]),
  mutant(
    8,
    'checks every second, however often',
    [
      [
        'truncation/next-check',
        'return now + Math.max(least, Math.min(checkInterval.maxMillis, farthest, predicted));',
        'return now + Math.min(farthest, predicted, 1000);',
      ],
      ['run/next', 'state.polls >= maxPolls', 'state.polls > 1e9'],
    ],
    ['takes hours', 'hangs for an hour'],
  ),
  mutant(9, 'has a tolerance for what nobody answered', [
    [judge, 'counts.rowsLeft >= baseline.rowsToDelete &&', 'counts.rowsLeft >= baseline.rowsToDelete * 0.9 &&'],
  ]),
  mutant(9, 'takes whatever has no task id for unchanged', [
    [judge, "state === 'sending' && isUntouched", "state === 'sending'"],
  ]),
  mutant(9, 'does not count the rows to keep of a delete', [
    [judge, 'if (exceedsTolerance(attempt, facts.rowsMissing)) {', 'if (counts.rowsLeft < 0) {'],
  ]),
  mutant(9, 'judges a reindex like a delete', [
    [judge, "return record.attempt.method === 'reindex' ?", 'return counts.rowsLeft < 0 ?'],
  ]),
  mutant(9, 'judges a reindex without a task id like a delete', [
    [
      judge,
      "return record.attempt.method === 'reindex' ?",
      "return record.attempt.method === 'reindex' && record.state === 'running' ?",
    ],
  ]),
  mutant(9, 'does not read what a reindex says that it left out', [
    [kept, 'if (end === undefined || end.cancelled) return false;', 'if (end?.total !== -1) return end !== undefined;'],
  ]),
  mutant(9, 'believes a reindex that nobody saw end', [
    [judge, "if (state === 'running' && accountsFor(watch.end, attempt)) {", 'if (!watch.end) {'],
  ]),
  mutant(9, 'believes a reindex that is not in place', [
    [judge, 'return isInPlace(attempt, counts) ? judgeInPlace', 'return counts.rowsLeft >= 0 ? judgeInPlace'],
  ]),
  mutant(9, 'takes the rows to keep for all that a reindex had to write', [
    [kept, 'if (total === undefined) return', 'if (total !== -1) return'],
  ]),
  mutant(
    9,
    'calls a reindex lost that has not been refreshed',
    [[kept, 'if (!accountsFor(end, attempt) ||', 'if (rows > 0 || !accountsFor(end, attempt) ||']],
    ['new index without refreshes'],
  ),
  mutant(
    9,
    'calls a reindex verified that has not been refreshed',
    [[judge, '(found === 0 || exceedsTolerance(attempt, kept.rows))', 'found < 0']],
    ['new index without refreshes'],
  ),
  mutant(9, 'takes rows that were not written for rows that are not visible', [
    [kept, '|| exceedsTolerance(attempt, lost)', ''],
  ]),
  mutant(
    9,
    'calls an index without any visible row lost, although no status was read',
    [[kept, 'return isEmpty && !isAbsent ?', 'return isEmpty && isAbsent ?']],
    ['new index without refreshes'],
  ),
  mutant(9, 'calls an index that is not known one without visible rows', [
    [kept, 'return isEmpty && !isAbsent ?', 'return isEmpty ?'],
  ]),
  mutant(
    10,
    'releases rows that are not visible',
    [[release, 'return { missing, notVisible', 'return { missing: hiddenBy(kept) ? 0 : missing, notVisible']],
    ['new index without refreshes'],
  ),
  mutant(9, 'forgets what a completed status has counted', [
    [check, '(endCounters(seen.status) ?? attempt.end)', 'undefined'],
    [watch, 'end: endCounters(status) ?? before.end,', 'end: endCounters(status),'],
  ]),
  mutant(9, 'does not check twice where rows are fewer', [
    [judge, "outcome === 'truncated' && rowsMissing + rowsNotVisible === 0 &&", "outcome === 'truncated' &&"],
  ]),
  mutant(9, 'does not see what is left', [
    [judge, 'if (isRemainder(counts.rowsLeft, baseline.rowsToDelete)) {', 'if (counts.rowsLeft < 0) {'],
  ]),
  mutant(9, 'has no quarantine', [[judge, "outcome === 'rows-missing' || ", '']]),
  mutant(9, 'opens a reindex that is not proven', [[judge, " || (outcome === 'unknown' && method === 'reindex')", '']]),
  mutant(9, 'does not wait for the refresh', [
    [judge, 'if (at - agreesSince >= agreeingChecksMillis)', 'if (at - agreesSince >= 0)'],
  ]),
  mutant(9, 'does not name an index that was replaced', [
    [check, 'indexNow: isAnother ? index.indexName : undefined', 'indexNow: undefined'],
  ]),
  mutant(9, 'has no breaker', [['run/breaker', 'return isBad ? ', 'return isBad && isReindex === null ? ']]),
  mutant(9, 'counts an open window', [
    ['truncation/counts', 'end: countedAtMillis,', 'end: countedAtMillis + 86_400_000,'],
  ]),
  mutant(
    9,
    'believes a single answer that does not know the index',
    [
      [
        'truncation/counts',
        'if (absent && isKnown) throw absent;',
        'if (absent) for (const name of Object.keys(rows)) rows[name] = 0;',
      ],
    ],
    ['one count of each check is answered by another server'],
  ),
  mutant(
    9,
    'believes an empty index between counts of rows',
    [['truncation/counts', 'if (totals.includes(0) && !isEmpty) throw', 'if (totals.includes(-1)) throw']],
    ['one count of each check is answered by another server'],
  ),
  mutant(9, 'counts from a limited run’s cutoff on', [
    ['truncation/counts', 'const { sent, policy = sent, end } = rows;', 'const { sent, end, sent: policy } = rows;'],
  ]),
  mutant(10, 'gives up before 20 h', [[check, 'clock.now() - sendingSince >= overdueAfterMillis', 'clock.now() > 0']]),
  mutant(10, 'never gives up', [[check, 'clock.now() - sendingSince >= overdueAfterMillis', 'clock.now() < 0']]),
  mutant(
    10,
    'gives up what moves',
    [[check, 'isOld(record, services) && after.isStuck === true', 'isOld(record, services)']],
    ['a task stands still for over a day, or goes on past the end of the next night'],
  ),
  mutant(11, 'keeps no window', [
    ['ledger/transitions', 'return window ?? (isWhole ? before : undefined);', 'return undefined;'],
  ]),
  mutant(11, 'does not count the window again', [
    ['run/plan/policy', 'if (!window || requests.isLate()) return;', 'if (!window || window.rows >= 0) return;'],
  ]),
  mutant(11, 'says nothing of rows that have gone between two nights', [
    ['run/plan/policy', "notes.push({ kind: 'fewer-rows'", "[].concat({ kind: 'fewer-rows'"],
  ]),
  mutant(11, 'is content with a window of which rows have gone', [
    ['model/note', "    case 'fewer-rows':\n      return true;", "    case 'fewer-rows':\n      return false;"],
  ]),
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
      ['policy/parse', 'if (same.length <= 1)', 'if (same.length <= 100)'],
      ['run/current-settings', 'if (second) return', 'if (second && !current) return'],
    ],
    ['policy twice'],
  ),
  mutant(
    10,
    'releases whatever is missing',
    [[release, 'missing <= (acceptMissing ?? 0) &&', 'missing >= 0 &&']],
    ['a run ends between its verdict and its message, and so does a release'],
  ),
  mutant(10, 'releases what is unknown, and nobody accepted', [
    [release, '(unknown === undefined || acceptMissing !== undefined)', '(acceptMissing ?? 0) >= 0'],
  ]),
  mutant(10, 'releases what is unresolved', [
    [release, 'until !== undefined && services.clock.now() < until', 'until !== undefined && services.clock.now() < 0'],
  ]),
  mutant(10, 'counts a reindex that is not in place', [
    [release, 'if (!isInPlace(record.attempt, { rowsLeft: sent })) {', 'if (sent < 0) {'],
  ]),
  mutant(
    10,
    'releases a reindex whose status says that it runs',
    [[release, "if (seen?.kind === 'found' && !seen.completed) return { missing, unknown: 'running' };", '']],
    ['a person releases a reindex that has written every row, and has not ended for a day'],
  ),
  mutant(
    10,
    'releases by the counts of another address',
    [
      [
        release,
        "if (address !== undefined) return { unknown: 'address'",
        "if (address === '') return { unknown: 'address'",
      ],
    ],
    ['a reindex without a task id is released at another address'],
  ),
];
