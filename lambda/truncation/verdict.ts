import { grouped } from '../facts/grouped.ts';
import { incompleteRows, incompleteShare, missingRows, missingShare } from '../facts/limits.ts';
import type { Attempt } from '../ledger/record.ts';
import type { TaskCounters } from '../operations/operations.ts';
import type { WindowCounts } from './counting.ts';
import { recoveryText } from './recovery.ts';

/** What counting again says of an ended truncation. */
export interface Judgement {
  outcome: 'truncated' | 'incomplete' | 'rows-missing';
  reason: string;
  /** Rows of the closed window that are gone. */
  rowsMissing: number;
  /** Of these, what is added to the record's sum of small shrinks. */
  shrunkRows: number;
}

export interface Evidence {
  attempt: Attempt & { baseline: NonNullable<Attempt['baseline']> };
  after: WindowCounts;
  /** The physical index now, where the server tells it. */
  indexName: string | undefined;
  /** Sum of small shrinks that earlier verdicts left in the record. */
  shrunkBefore: number;
  /** Counters of the finished task, where it could be asked. */
  counters: TaskCounters | undefined;
}

/**
 * Judges an ended truncation by counts; counters that disagree are only mentioned, because
 * `completed` and counters hide failures (DataHub drops the task's error and failures).
 */
export function judge(evidence: Evidence): Judgement {
  const { attempt, after, indexName, shrunkBefore } = evidence;
  const { baseline } = attempt;
  const missing = missingIn(attempt, after);
  const moved = baseline.indexName !== undefined && indexName !== undefined && baseline.indexName !== indexName;
  const cause = attempt.answer ? ` The server had answered: ${attempt.answer.reason}` : '';
  const lost = (why: string): Judgement => ({
    outcome: 'rows-missing',
    reason: `${why}: ${rowsLeft(attempt, after)}.${cause} ${recoveryText(attempt, indexName)}`,
    rowsMissing: missing,
    shrunkRows: 0,
  });

  if (attempt.strategy === 'delete-by-query') {
    if (moved) return lost('the index behind the alias changed during a delete by query');
    if (isMissing(missing, baseline.rowsKept)) return lost('rows that should stay are gone');
    if (isMissing(shrunkBefore + missing, baseline.rowsKept)) {
      return lost(`rows that should stay are gone, ${grouped(shrunkBefore + missing)} over several runs`);
    }
  } else if (missing > 0) {
    return lost('the reindex did not bring back every row that should stay');
  }

  const notes = [...remarks(evidence, missing)];
  const remains = isRemainder(after.rowsToDelete, baseline.rowsToDelete);
  const deleted = Math.max(0, baseline.rowsToDelete - after.rowsToDelete);
  return {
    outcome: remains ? 'incomplete' : 'truncated',
    reason: [
      remains
        ? `the task ended, but ${remainderText(after.rowsToDelete, baseline.rowsToDelete)}; the next run tries again`
        : `${grouped(deleted)} rows deleted, verified by counting again`,
      ...notes,
    ].join('; '),
    rowsMissing: missing,
    shrunkRows: missing,
  };
}

/**
 * Rows that should stay and are gone: over the closed window; after a reindex also over the wider window, and in all
 * (its filter drops rows without a timestamp). Ingestion can only make the last two smaller.
 */
function missingIn({ strategy, baseline }: Evidence['attempt'], after: WindowCounts): number {
  const inWindow = baseline.rowsKept - after.rowsKept;
  if (strategy === 'delete-by-query') return Math.max(0, inWindow);
  const lately = (baseline.rowsKeptLately ?? 0) - (after.rowsKeptLately ?? baseline.rowsKeptLately ?? 0);
  const inAll = baseline.rowsTotal - baseline.rowsToDelete - (after.rowsTotal - after.rowsToDelete);
  return Math.max(0, inWindow, lately, inAll);
}

function rowsLeft({ strategy, baseline }: Evidence['attempt'], after: WindowCounts): string {
  if (strategy === 'delete-by-query')
    return `${grouped(after.rowsKept)} of ${grouped(baseline.rowsKept)} rows newer than the cutoff are left`;
  const [before, now] = [baseline, after].map((counts) => grouped(counts.rowsTotal - counts.rowsToDelete));
  return `${now} of ${before} rows newer than the cutoff are there`;
}

/** More than 2 % and more than 10 rows: entities are deleted in ordinary nights. */
export const isMissing = (missing: number, kept: number): boolean =>
  missing > kept * missingShare && missing > missingRows;

/** More than 1 % of the plan and more than 10 rows; or nothing went at all. */
export const isRemainder = (remaining: number, planned: number): boolean =>
  remaining >= planned || (remaining > planned * incompleteShare && remaining > incompleteRows);

/** Rows get older, and late ones come in: there may be more than when the truncation began. */
export const remainderText = (remaining: number, planned: number): string =>
  remaining <= planned
    ? `${grouped(remaining)} of ${grouped(planned)} rows to delete are still there`
    : `${grouped(remaining)} rows to delete are there, more than the ${grouped(planned)} when it began`;

function* remarks({ attempt, after, counters }: Evidence, missing: number): Generator<string> {
  if (missing > 0)
    yield `${grouped(missing)} rows newer than the cutoff are gone as well, as after ordinary entity deletions`;
  if (after.rowsToDelete > 0 && !isRemainder(after.rowsToDelete, attempt.baseline!.rowsToDelete)) {
    yield `${grouped(after.rowsToDelete)} rows older than the cutoff remain`;
  }
  if (!counters) return;
  const { total, deleted = 0, created = 0, updated = 0, versionConflicts = 0, canceled } = counters;
  const done = attempt.strategy === 'delete-by-query' ? deleted : created + updated;
  if (canceled !== undefined) yield 'the task says that it was cancelled';
  if (total !== undefined && done !== total) yield `the task's counters say ${grouped(done)} of ${grouped(total)}`;
  if (versionConflicts > 0) yield `${grouped(versionConflicts)} rows changed meanwhile and were left`;
}
