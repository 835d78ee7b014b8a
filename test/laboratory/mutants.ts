/**
 * The core with one of the safety rules (docs/testing.md) switched off, each by a change of its text when the laboratory is bundled.
 * The checker must find a violation with every one of them; a text that no longer matches fails the command.
 */

export interface Patch {
  /** Relative to the repository. */
  file: string;
  /** Must occur exactly once. */
  find: string;
  replace: string;
}

export interface Mutant {
  /** The number of the safety rule. */
  rule: number;
  name: string;
  patches: Patch[];
  /** It shows in the small model as well, in which two executions are all that happens. */
  inSmallModel: boolean;
}

const smallModel = new Set([
  'sends again on 504',
  'takes 400 for a rejection',
  'takes a connection that broke for one that never stood',
  'the ledger is not heeded',
  'transitions without the attempt id',
  'no fence after a failed Truncate',
  'judges a reindex by rows-to-delete',
]);

const mutant = (rule: number, name: string, ...changes: [file: string, find: string, replace: string][]): Mutant => ({
  rule,
  name,
  inSmallModel: smallModel.has(name),
  patches: changes.map(([file, find, replace]) => ({ file: `lambda/${file}.ts`, find, replace })),
});

export const mutants: readonly Mutant[] = [
  mutant(1, 'dry run before the lock only', [
    'run/truncate',
    'const counts = await countWindow(ask, attempt.fields, windows);',
    'const { rowsTotal, rowsToDelete, strategy } = target.plan; const counts = ask && windows && { rowsTotal, rowsToDelete, rowsKept: rowsTotal - rowsToDelete, dryRun: { rowsTotal, rowsToDelete, strategy } };',
  ]),
  mutant(1, 'cutoff a day too late', [
    'truncation/fields',
    'startMillis - policy.retentionDays * dayMillis',
    'startMillis - (policy.retentionDays - 1) * dayMillis',
  ]),
  mutant(
    1,
    'Truncate does not decide again',
    ['run/truncate', "if (decision.kind === 'refuse')", 'if (false)'],
    ['run/truncate', 'if (decision.strategy !== target.plan.strategy)', 'if (false)'],
  ),
  mutant(1, 'no time-out where the server reindexes', [
    'truncation/fields',
    "(planned === 'reindex' ? reindexTimeoutSeconds : undefined)",
    'undefined',
  ]),
  mutant(2, 'paused is not asked again', ['run/truncate', 'if (paused) return', 'if (false) return']),
  mutant(2, 'the Date guard is ignored', [
    'policy/decision',
    'Math.abs(clockSkewMillis) > maxClockSkewMillis',
    'false',
  ]),
  mutant(2, 'others who delete are not noticed', [
    'policy/decision',
    'plannedRows !== undefined && rowsToDelete < plannedRows * (1 - deletedByOthersShare)',
    'false',
  ]),
  mutant(2, 'the ceiling is no ceiling', [
    'policy/decision',
    'if (isAboveCeiling(policy, rowsToDelete, rowsTotal) && !approved)',
    'if (false)',
  ]),
  mutant(2, 'an index that lost half its rows is truncated', [
    'policy/decision',
    'rowsAfter > 0 && rowsTotal < rowsAfter * rowsAfterShare',
    'false',
  ]),
  mutant(3, 'delete-by-query-only follows a reindex', [
    'policy/decision',
    "policy.strategy === 'delete-by-query-only' && strategy === 'reindex'",
    'false',
  ]),
  mutant(4, 'sends again on 504', [
    'operations/http/http-operations',
    'truncationOf(await transport.postOnce(exchange, maySend), asked, bearer.quote)',
    'truncationOf(await transport.postOnce(exchange, maySend).then((first) => first.status === 504 ? transport.postOnce(exchange, maySend) : first), asked, bearer.quote)',
  ]),
  mutant(4, 'takes 400 for a rejection', [
    'operations/answers/truncation',
    'if (status === 401 ||',
    'if (status === 400 || status === 401 ||',
  ]),
  mutant(4, 'takes 5xx for a rejection', [
    'operations/answers/truncation',
    'if (status === 401 ||',
    'if (status >= 500 || status === 401 ||',
  ]),
  mutant(4, 'takes a connection that broke for one that never stood', [
    'operations/answers/truncation',
    'if (!error.mayBeWritten)',
    'if (!error.mayBeWritten || error.status === undefined)',
  ]),
  mutant(5, 'the ledger is not heeded', [
    'run/truncate',
    "if (await ledger.replace(record, sending)) return { kind: 'approved', record: sending };",
    "await ledger.replace(record, sending).catch(() => false); if (record) return { kind: 'approved', record: sending };",
  ]),
  mutant(5, 'transitions without the attempt id', [
    'ledger/memory',
    'current.state === previous.state && current.attemptId === previous.attemptId',
    'current.state === previous.state',
  ]),
  mutant(5, 'sendBy is ignored', ['truncation/sending', '() => clock.now() < attempt.sendBy', '() => true']),
  mutant(5, 'no fence after a failed Truncate', [
    'run/poll',
    'if (!(await ledger.replace(stored, fenced))) continue;',
    'if (!fenced) continue;',
  ]),
  mutant(5, 'a run may send again', [
    'ledger/transitions',
    "if (record?.sentBy?.some(({ runId }) => runId === attempt.runId)) return { kind: 'spent' };",
    '',
  ]),
  mutant(5, 'a schedule event counts twice', ['run/preparation', 'return holder === state.runId', 'return holder']),
  mutant(6, 'judges before it may', ['run/entries', "return record.state === 'running' ? 0 :", 'return record ? 0 :']),
  mutant(6, 'judges an adopted record by its own cutoff', [
    'truncation/evidence',
    'countWindow(ask, attempt.fields, windowsOf(attempt))',
    'countWindow(ask, { ...attempt.fields, endTimeMillis: attempt.fields.endTimeMillis + 86_400_000 * Math.floor((services.clock.now() - attempt.runStartMillis) / 86_400_000) }, windowsOf(attempt))',
  ]),
  mutant(6, 'a preview writes the ledger', [
    'truncation/quarantine',
    "if (state.mode !== 'enforce') return entry;",
    '',
  ]),
  mutant(7, 'trusts "completed"', [
    'truncation/look-at',
    `  const judgement = judge(evidence);
  if (judgement.outcome !== 'truncated' && patient)`,
    `  const judgement = { ...judge(evidence), outcome: 'truncated' as const };
  if (judgement.outcome !== 'truncated' && patient)`,
  ]),
  mutant(7, 'judges a reindex by rows-to-delete', [
    'truncation/verdict',
    '} else if (missing > 0) {',
    '} else if (after.rowsToDelete > 0) {',
  ]),
  mutant(
    8,
    'counts an open window',
    ['truncation/counting', 'await upTo(runStart)', 'await upTo(8.64e15 + 0 * runStart)'],
    ['truncation/counting', 'await upTo(latelyUntil)', 'await upTo(8.64e15)'],
  ),
  mutant(8, 'no quarantine', ['truncation/closing', "if (judgement.outcome === 'rows-missing') return true;", '']),
  mutant(8, 'no circuit breaker', [
    'run/poll',
    "if (state.breaker !== undefined || bad?.phase !== 'done') return state;",
    'if (bad || !bad) return state;',
  ]),
  mutant(8, 'small shrinks are forgotten', [
    'truncation/verdict',
    'if (isMissing(shrunkBefore + missing, baseline.rowsKept))',
    'if (false)',
  ]),
  mutant(9, 'gives up before 20 h', [
    'truncation/watch-by-counts',
    '- sendingSince < abandonAfterMillis',
    '- sendingSince < 0',
  ]),
  mutant(9, 'gives up before 20 h what cannot be counted', [
    'truncation/look-at',
    'clock.now() - sendingSince < abandonAfterMillis',
    'clock.now() - sendingSince < 0',
  ]),
  mutant(9, 'never gives up', [
    'truncation/watch-by-counts',
    '- sendingSince < abandonAfterMillis',
    '- sendingSince < Number.POSITIVE_INFINITY',
  ]),
  mutant(9, 'takes the first look for stillness', [
    'truncation/looks',
    'return watch.movedAt !== undefined && lookedAt - watch.movedAt >= window;',
    'return window > 0;',
  ]),
  mutant(9, 'does not wait for the refresh', [
    'truncation/look-at',
    "if (judgement.outcome !== 'truncated' && patient) return undefined;",
    '',
  ]),
  mutant(9, 'a reindex that nobody saw end is opened again', [
    'truncation/closing',
    "attempt.strategy !== 'delete-by-query';",
    'false;',
  ]),
  mutant(10, 'the token is in a message', [
    'operations/http/http-operations',
    'throw errorOf(withTries(failure, tries));',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text of the core
    'throw errorOf({ ...failure, message: `${failure.message} ${token}` });',
  ]),
  mutant(11, 'two policies for one index are both taken', [
    'policy/parse',
    'if (same.length === 1 ||',
    'if (same.length > 0 ||',
  ]),
  mutant(11, 'a policy that fails is left out', [
    'run/plan-policies',
    'const entries = [...planned.sort(runOrder)',
    "const entries = [...planned.filter(({ entry }) => entry.phase !== 'done' || entry.entry.outcome !== 'failed').sort(runOrder)",
  ]),
];
