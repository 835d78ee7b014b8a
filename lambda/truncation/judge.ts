import type { Cause } from '../facts/cause.ts';
import { abandonAfterMillis, incompleteRows, incompleteShare } from '../facts/limits.ts';
import type { EntryFacts } from '../facts/report-schema.ts';
import type { Unresolved } from '../ledger/record.ts';
import type { Judgement } from '../ledger/settle.ts';
import { leadsElsewhere, movedBy, type OwnTask, whatItWas } from './origin.ts';
import { recoveryFacts } from './recovery.ts';
import { type Counts, isMissing, keptOf, type Shortfall, shortfallOf, windowOf } from './windows.ts';

/**
 * Judges a truncation that has ended, or shows no more progress, from new counts. `completed` proves nothing: DataHub
 * drops a task's error and failures. Pure.
 */

export interface Evidence {
  record: Unresolved;
  /** Over the record's own windows. */
  after: Counts;
  /** The search engine has no such index any more: its counts are zero. */
  indexGone: boolean;
  /** The physical index now, if the server reports it. */
  indexName: string | undefined;
  sizeMb: number | undefined;
  /** Our task's status at its end, if it could be read. */
  task: OwnTask | undefined;
  /** Why it is judged: its task has ended; or there is no progress and no status says otherwise; or its task hangs. */
  end: 'task' | 'still' | 'stuck';
  /** The task's record is gone. */
  vanished: boolean;
  /**
   * The fewest rows to delete that any look of this run has seen: late-arriving rows may hide that rows were deleted.
   */
  lowestToDelete: number | undefined;
  /** When any progress was last seen, and when it ended as far as known; epoch milliseconds of the run's clock. */
  lastMovedAt: number | undefined;
  endedAt: number;
  startedAt: number;
  now: number;
}

export function judge(evidence: Evidence): Judgement {
  const { record, task, indexName, end } = evidence;
  const was = whatItWas(record, task, indexName);
  if (end === 'still' && record.state === 'sending' && isUnchanged(evidence, was)) return unchanged(evidence);
  return was === 'delete-by-query' ? judgeDelete(evidence) : judgeReindex(evidence);
}

/** Nothing was started, as far as can be seen. Rows that other processes deleted in the meantime are counted anyway. */
function unchanged(evidence: Evidence): Judgement {
  const { record, after } = evidence;
  const lost = shortfallOf(record.windows, after.windows);
  const { answer } = record.attempt;
  return {
    outcome: 'failed',
    cause: { kind: 'unchanged', ...(answer && { error: answer.error }) },
    facts: lost && lost.rows > 0 ? { rowsMissing: lost.rows } : {},
    closes: 'idle',
  };
}

/** Counts alone prove a delete by query. */
function judgeDelete(evidence: Evidence): Judgement {
  const { record, after, task, indexName, end } = evidence;
  const { rowsToDelete: planned } = record.attempt.baseline;
  const lost = shortfallOf(record.windows, after.windows);
  if (lost?.isMissing) return rowsMissing(evidence, lost);

  const base = { facts: factsOf(evidence, lost), closes: 'idle' as const };
  const counters = countersOf(evidence);
  const replaced = replacedBy(evidence);
  if (end === 'stuck') return { ...base, ...stuck(evidence) };
  if (task && deletedNothing(task) && (conflictsOnly(task) || !isRemainder(after.rowsToDelete, planned))) {
    // Another process deleted or changed all of its rows first.
    const facts = { ...base.facts, rowsDeleted: 0 };
    return { ...base, facts, outcome: 'incomplete', cause: { kind: 'all-conflicts', ...counters } };
  }
  if (isRemainder(after.rowsToDelete, planned)) {
    if (end === 'still') return { ...base, ...unseen(evidence, unsettled(evidence)) };
    // Late-arriving rows may replace deleted ones: the lowest count of any look decides.
    const fewest = Math.min(after.rowsToDelete, evidence.lowestToDelete ?? after.rowsToDelete);
    if (task && saysAllDeleted(task) && fewest >= planned - slack(planned)) {
      const cause: Cause = {
        kind: 'not-refreshed',
        ...counters,
        ...(indexName !== undefined && { indexNow: indexName }),
      };
      return { ...base, outcome: 'incomplete', cause };
    }
    return { ...base, outcome: 'incomplete', cause: { kind: 'remains', ...counters, ...replaced } };
  }
  // Another index was put behind the alias, and our own task cannot be queried: whose rows were deleted is unknown.
  if (replaced.movedBy === 'others' && task === undefined) return { ...base, ...unseen(evidence, unsettled(evidence)) };
  if (mayHaveCopied(evidence)) return { ...base, ...unseen(evidence, unsettled(evidence)) };
  const cause: Cause = { kind: 'verified', by: 'counts', ...counters, ...replaced, ...restOf(evidence) };
  return { ...base, outcome: 'truncated', cause };
}

/**
 * A reindex moves the alias to an empty index before it copies, and late rows refill what a broken copy has lost:
 * counts alone cannot prove it. Without proof a single missing row closes the index, and the absence of missing rows
 * proves nothing.
 */
export function judgeReindex(evidence: Evidence): Judgement {
  const { record, after, end } = evidence;
  const lost = shortfallOf(record.windows, after.windows);
  const gap = whatProofLacks(evidence);
  const facts = factsOf(evidence, lost);
  // A hanging copy may resume: its rows are not missing yet.
  if (end === 'stuck') return { facts, ...stuck(evidence) };
  if (gap !== undefined) {
    if (lost && lost.rows > 0) return rowsMissing(evidence, lost);
    const cause: Cause = { kind: 'unproven', why: gap, ...unprovenFacts(evidence), ...replacedBy(evidence) };
    return { facts, ...unseen(evidence, cause) };
  }
  const expected = Math.max(0, ...record.windows.map(({ rows }) => rows));
  if (after.rowsTotal === 0 && expected > 0) return notRefreshed(evidence, facts);
  if (lost?.isMissing) return rowsMissing(evidence, lost);
  const base = { facts, closes: 'idle' as const };
  // Rows that were written but not yet searchable when the copy began are only in the old index (servers up to
  // 1.1).
  const { indexName: stragglersIn } = record.attempt.baseline;
  const stragglers = stragglersIn === undefined ? {} : { stragglersIn };
  if (isRemainder(after.rowsToDelete, record.attempt.baseline.rowsToDelete)) {
    return { ...base, outcome: 'incomplete', cause: { kind: 'remains', ...countersOf(evidence), ...stragglers } };
  }
  const indexNow = evidence.indexName === undefined ? {} : { indexNow: evidence.indexName };
  return { ...base, outcome: 'truncated', cause: { kind: 'verified', by: 'proof', ...stragglers, ...indexNow } };
}

/**
 * Proof that a copy is complete: a flawless status of our own task, at least the rows that should stay, and an index
 * created when our reindex would have created it.
 */
export function whatProofLacks({ record, task, indexName }: Evidence): 'status' | 'imperfect' | 'name' | undefined {
  if (task?.works !== 'reindex' || !task.completed) return 'status';
  const { total, created = 0, updated = 0, versionConflicts = 0, cancelled } = task.counters;
  const upToStart = keptOf(record.windows)?.rows ?? 0;
  if (total === undefined || cancelled || versionConflicts > 0 || created + updated !== total) return 'imperfect';
  if (isMissing(upToStart - total, upToStart)) return 'imperfect';
  return movedBy(record, indexName) === 'us' ? undefined : 'name';
}

/**
 * Its counters say that the copy is complete, but no search finds a row: the newest servers leave the new index without
 * refreshes.
 */
function notRefreshed(evidence: Evidence, facts: Partial<EntryFacts>): Judgement {
  const { indexName } = evidence;
  const { indexName: before } = evidence.record.attempt.baseline;
  return {
    outcome: 'rows-missing',
    cause: {
      kind: 'not-refreshed',
      ...countersOf(evidence),
      ...(indexName !== undefined && { indexNow: indexName }),
      ...(before !== undefined && { indexBefore: before }),
    },
    facts,
    closes: 'quarantined',
  };
}

function rowsMissing(evidence: Evidence, { rows, before, after }: Shortfall): Judgement {
  const { record, indexName, indexGone } = evidence;
  const { rowsIn, deadline } = recoveryFacts(record.attempt.baseline.indexName, indexName);
  return {
    outcome: 'rows-missing',
    cause: {
      kind: 'rows-missing',
      expected: before.rows,
      found: after.rows,
      ...countersOf(evidence),
      ...replacedBy(evidence),
      ...(rowsIn !== undefined && { rowsIn }),
      ...(deadline !== undefined && { deadline }),
      ...(indexGone && { indexGone }),
    },
    facts: { ...factsOf(evidence, undefined), rowsMissing: rows },
    closes: 'quarantined',
  };
}

/**
 * The server reported the index's name before, but does not now: without a status either, a reindex cannot be ruled
 * out.
 */
const mayHaveCopied = ({ record, task, indexName }: Evidence): boolean =>
  record.attempt.baseline.indexName !== undefined && indexName === undefined && task === undefined;

/**
 * Nobody saw it end. The record stays unresolved for a later look until it is 20 h old: then a delete by query can
 * simply be repeated, while a reindex may have left the alias on half an index.
 */
function unseen(evidence: Evidence, cause: Cause): Pick<Judgement, 'outcome' | 'cause' | 'closes'> {
  const { record, task, indexName, end, vanished } = evidence;
  const isDelete = whatItWas(record, task, indexName) === 'delete-by-query' && !mayHaveCopied(evidence);
  const outcome = isDelete && vanished && end === 'still' ? 'lost' : 'unknown';
  if (!isAbandoned(evidence)) return { outcome, cause, closes: 'no' };
  return { outcome, ...closedAs(canBeRepeated(evidence, isDelete) ? 'idle' : 'quarantined', cause) };
}

export const isAbandoned = ({ record, now }: Evidence): boolean =>
  now - record.attempt.sendingSince >= abandonAfterMillis;

/** A server may have turned it into a reindex of an index that cannot be seen now. */
export const canBeRepeated = ({ record, indexName }: Evidence, isDelete: boolean): boolean =>
  isDelete && !leadsElsewhere(record, indexName);

const closedAs = (closes: 'idle' | 'quarantined', cause: Cause): Pick<Judgement, 'cause' | 'closes'> => ({
  cause: { ...cause, closed: closes === 'idle' ? 'given-up' : 'quarantined' } as Cause,
  closes,
});

/**
 * Its status says that it is running, but there is no progress. However old its record is, nothing is started alongside
 * it until it has been stuck for 20 h; no single run sees that, so the record says since when.
 */
export function stuck(evidence: Evidence): Pick<Judgement, 'outcome' | 'cause' | 'closes' | 'stood'> {
  const { record, task, after, lastMovedAt, now, indexName } = evidence;
  const toDelete = after.rowsToDelete;
  const { deleted = 0, created = 0, updated = 0 } = task?.counters ?? {};
  const done = deleted + created + updated;
  const { stood: before } = record.attempt;
  const stoodStill = before !== undefined && done <= before.done && toDelete >= before.toDelete;
  const since = stoodStill ? before.since : (lastMovedAt ?? now);
  const cause: Cause = { kind: 'stuck', ...lastMoved(evidence), ...replacedBy(evidence) };
  if (now - since < abandonAfterMillis) {
    return { outcome: 'unknown', cause, closes: 'no', stood: { since, done, toDelete } };
  }
  const isDelete = whatItWas(record, task, indexName) === 'delete-by-query';
  return { outcome: 'unknown', ...closedAs(isDelete ? 'idle' : 'quarantined', cause) };
}

function unsettled(evidence: Evidence): Cause {
  const { answer } = evidence.record.attempt;
  return {
    kind: 'unsettled',
    ...(evidence.vanished && { vanished: true }),
    ...(answer && { error: answer.error }),
    ...lastMoved(evidence),
    ...replacedBy(evidence),
  };
}

/**
 * After a call without a task id: no look of this run has seen any change over a whole stillness window that ended
 * after the server must have acted, if it ever will. The total is not compared: it changes with ingestion.
 */
export function isUnchanged(
  { record, after, indexName, lowestToDelete }: Evidence,
  was: ReturnType<typeof whatItWas>,
): boolean {
  const { baseline } = record.attempt;
  // There is nothing to compare for a truncation that another version sent.
  if (baseline.rowsToDelete === 0) return false;
  // With only a few rows, most of them could be gone and still be within the tolerance.
  const allowed = was === 'delete-by-query' ? Math.min(slack(baseline.rowsToDelete), baseline.rowsToDelete / 2) : 0;
  const fewest = Math.min(after.rowsToDelete, lowestToDelete ?? after.rowsToDelete);
  if (fewest < baseline.rowsToDelete - allowed) return false;
  const lost = shortfallOf(record.windows, after.windows);
  if (lost?.isMissing) return false;
  const bothKnown = baseline.indexName !== undefined && indexName !== undefined;
  if (bothKnown) return baseline.indexName === indexName;
  return was === 'delete-by-query' || after.rowsToDelete === baseline.rowsToDelete;
}

const slack = (rows: number): number => Math.max(incompleteRows, rows * incompleteShare);

/** More than 1 % of the plan and more than 10 rows; or nothing was deleted at all. */
export const isRemainder = (remaining: number, planned: number): boolean =>
  planned > 0 && (remaining >= planned || (remaining > planned * incompleteShare && remaining > incompleteRows));

const deletedNothing = ({ counters: { total = 0, deleted } }: OwnTask): boolean => total > 0 && deleted === 0;

const conflictsOnly = ({ counters: { total = 0, versionConflicts = 0 } }: OwnTask): boolean =>
  versionConflicts >= total;

const saysAllDeleted = ({ counters: { total = 0, deleted = 0 } }: OwnTask): boolean => total > 0 && deleted === total;

/** What a bite has left for later nights: the rows between its cutoff and the policy's. */
function restOf({ record, after }: Evidence): { rest?: number; nights?: number } {
  const { nights = 0 } = record.attempt;
  const rest = windowOf(after.windows, 'backlog')?.rows ?? 0;
  if (rest === 0) return {};
  return { rest, ...(nights > 1 && { nights: nights - 1 }) };
}

const lastMoved = ({ lastMovedAt }: Evidence) => (lastMovedAt === undefined ? {} : { lastMovedAt });

function replacedBy({ record, indexName }: Evidence) {
  const by = movedBy(record, indexName);
  const { indexName: before } = record.attempt.baseline;
  if (by === undefined || before === undefined || indexName === undefined) return {};
  return { indexBefore: before, indexNow: indexName, movedBy: by };
}

/** The task's counters, unless they simply say that all is done. */
function countersOf({ task }: Evidence) {
  if (!task) return {};
  const { total, deleted = 0, created = 0, updated = 0, versionConflicts = 0, cancelled } = task.counters;
  const done = task.works === 'reindex' ? created + updated : deleted;
  return {
    ...(cancelled && { cancelled }),
    ...(versionConflicts > 0 && { conflicts: versionConflicts }),
    ...(total !== undefined && done !== total && { done, total }),
  };
}

function unprovenFacts({ record, task }: Evidence) {
  const { answer } = record.attempt;
  return { ...(task?.counters.cancelled && { cancelled: true }), ...(answer && { error: answer.error }) };
}

function factsOf(evidence: Evidence, lost: Shortfall | undefined): Partial<EntryFacts> {
  const { record, after, indexName, sizeMb, endedAt, startedAt } = evidence;
  return {
    rowsDeleted: Math.max(0, record.attempt.baseline.rowsToDelete - after.rowsToDelete),
    rowsRemaining: after.rowsToDelete,
    ...(lost && lost.rows > 0 && { rowsMissing: lost.rows }),
    durationSeconds: Math.max(0, Math.round((endedAt - startedAt) / 1000)),
    ...(sizeMb !== undefined && { sizeAfterMb: sizeMb }),
    ...(indexName !== undefined && { indexName }),
  };
}
