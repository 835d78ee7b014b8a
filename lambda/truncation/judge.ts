import type { Cause } from '../facts/cause.ts';
import { incompleteRows, incompleteShare, invisibleShare } from '../facts/limits.ts';
import type { EntryFacts } from '../facts/report-schema.ts';
import type { ServerError } from '../facts/server-error.ts';
import type { Unresolved } from '../ledger/record.ts';
import type { Judgement } from '../ledger/settle.ts';
import { mayHaveCopied, type Replaced, replacedBy, whatProofLacks } from './copied.ts';
import { type OwnTask, rowsDone } from './own-task.ts';
import { recoveryFacts } from './recovery.ts';
import type { Everything } from './see.ts';
import type { End, Watch } from './watch.ts';
import { keptOf, type Shortfall, shortfallOf, windowOf } from './windows.ts';

/**
 * Judges a truncation that has ended, or makes no more progress, by new counts. `completed` proves nothing: DataHub
 * drops a task's error and failures. Pure.
 */

export interface Evidence extends Everything {
  record: Unresolved;
  /** This look included. */
  watch: Watch;
  /** Why it is judged. */
  end: End;
  /** Our task's status, if it could be read. */
  task: OwnTask | undefined;
  /** The task's record is gone. */
  vanished: boolean;
  /** This run closes it, whatever it finds. */
  isOld: boolean;
  /** It may have copied (`mayHaveCopied`). */
  copied: boolean;
}

export function judge(evidence: Evidence): Judgement {
  if (isUntouched(evidence)) return unchanged(evidence);
  const loss = lossOf(evidence);
  const { copied } = evidence;
  const gap = copied ? whatProofLacks(evidence.record, evidence) : undefined;
  if (gap !== undefined) {
    return loss.rows > 0 && !mayComeBack(evidence) ? missing(evidence, loss) : unsettled(evidence, gap, loss);
  }
  if (copied && isInvisible(evidence)) return notRefreshed(evidence, loss);
  if (loss.isMissing) return missing(evidence, loss);
  if (isElsewhere(evidence)) return unsettled(evidence, 'replaced', loss);
  if (isConflicted(evidence)) return remains(evidence, loss, 'conflicts');
  if (!hasRemainder(evidence) && evidence.end !== 'hung') return verified(evidence, loss);
  if (evidence.end !== 'task') return unsettled(evidence, evidence.end === 'hung' ? 'hung' : 'still', loss);
  return isUnmoved(evidence) ? notRefreshed(evidence, loss) : remains(evidence, loss, 'rows');
}

/** What is known about an index that cannot be counted. */
export interface Uncountable {
  /** Why its counts fail; undefined if they contradict each other. */
  error?: ServerError;
  task?: OwnTask | undefined;
  /** The physical index, if the server reports it. */
  indexName: string | undefined;
}

/** An old record whose index cannot be counted, although the server answers. */
export function judgeUncountable(record: Unresolved, watch: Watch, { error, task, indexName }: Uncountable): Judgement {
  const isCounted = watch.lowestToDelete !== undefined || error === undefined;
  const copied = mayHaveCopied(record, { task, indexName, isCounted });
  const { closes, ...rest } = closedAs(copied);
  const why = { why: 'uncountable', ...(error && { error }) } as const;
  return { outcome: 'unknown', cause: { kind: 'unsettled', ...why, ...rest }, facts: {}, closes };
}

export const replacedIn = ({ record, indexName, copied }: Evidence): Replaced | undefined =>
  replacedBy(record, indexName, copied);

/**
 * After a call without a task id: no look of this run has seen any change over a whole stillness window that ended
 * after the server must have acted, if it ever will. The total is not compared: it changes with ingestion.
 */
export function isUntouched(evidence: Evidence): boolean {
  const { record, after, indexName, watch, end, copied } = evidence;
  if (end !== 'still' || record.state !== 'sending') return false;
  const { rowsToDelete: before, indexName: nameBefore } = record.attempt.baseline;
  // If there are only a few rows, most of them could be gone and still be within the tolerance.
  const allowed = copied ? 0 : Math.min(slack(before), before / 2);
  const fewest = Math.min(after.rowsToDelete, watch.lowestToDelete ?? after.rowsToDelete);
  if (fewest < before - allowed || lossOf(evidence).isMissing) return false;
  if (nameBefore !== undefined && indexName !== undefined) return nameBefore === indexName;
  return !copied || after.rowsToDelete === before;
}

/** As far as counts show, nothing was started. Rows that other processes deleted in the meantime are counted anyway. */
function unchanged(evidence: Evidence): Judgement {
  const { answer } = evidence.record.attempt;
  const { rows } = lossOf(evidence);
  return {
    outcome: 'failed',
    cause: { kind: 'unchanged', ...(answer && { error: answer.error }) },
    facts: rows > 0 ? { rowsMissing: rows } : {},
    closes: 'idle',
  };
}

const noLoss = { rows: 0, isMissing: false } as const;

const lossOf = ({ record, after }: Evidence): Shortfall | typeof noLoss =>
  shortfallOf(record.windows, after.windows) ?? noLoss;

/** A hanging copy may continue; a copy whose rows rose in this run has not ended when the run has to close it. */
const mayComeBack = ({ end, isOld, watch }: Evidence): boolean =>
  end !== 'task' && (isOld ? watch.rose?.kept === true : end === 'hung');

/**
 * The proof is complete, but searches find next to nothing: the newest servers leave the new index without refreshes,
 * and only rows written just after the swap may be visible (ESIndexBuilder.reindexInPlaceAsync).
 */
function isInvisible({ record, after }: Evidence): boolean {
  const expected = keptOf(record.windows)?.rows ?? 0;
  return (keptOf(after.windows)?.rows ?? 0) < expected * invisibleShare;
}

/** Its counters say that it deleted every row, but no look of this run has seen fewer. */
function isUnmoved({ record, task, after, watch }: Evidence): boolean {
  const planned = record.attempt.baseline.rowsToDelete;
  const { total = 0, deleted = 0 } = task?.counters ?? {};
  // Late rows may replace deleted ones: the lowest count of any look decides.
  const fewest = Math.min(after.rowsToDelete, watch.lowestToDelete ?? after.rowsToDelete);
  return total > 0 && deleted === total && fewest >= planned - slack(planned);
}

/** Another index was put behind the alias, and no status of ours says what was deleted where. */
const isElsewhere = (evidence: Evidence): boolean =>
  evidence.task?.does !== 'delete' && replacedIn(evidence)?.movedBy === 'others';

/** Another process deleted or changed all of its rows first. */
function isConflicted(evidence: Evidence): boolean {
  const { total = 0, deleted, versionConflicts = 0 } = evidence.task?.counters ?? {};
  if (evidence.copied || total === 0 || deleted !== 0 || evidence.end === 'hung') return false;
  return versionConflicts >= total || !hasRemainder(evidence);
}

const hasRemainder = ({ record, after }: Evidence): boolean =>
  isRemainder(after.rowsToDelete, record.attempt.baseline.rowsToDelete);

/** More than 1 % of the plan and more than 10 rows; or nothing was deleted at all. */
export const isRemainder = (remaining: number, planned: number): boolean =>
  planned > 0 && (remaining >= planned || (remaining > planned * incompleteShare && remaining > incompleteRows));

const slack = (rows: number): number => Math.max(incompleteRows, rows * incompleteShare);

type Loss = ReturnType<typeof lossOf>;

function verified(evidence: Evidence, loss: Loss): Judgement {
  const { indexName: indexNow, copied } = evidence;
  const how: Cause = copied
    ? { kind: 'verified', by: 'proof', ...stragglersOf(evidence), ...(indexNow !== undefined && { indexNow }) }
    : { kind: 'verified', by: 'counts', ...countersOf(evidence), ...replacedIn(evidence), ...restOf(evidence) };
  return { outcome: 'truncated', cause: how, facts: factsOf(evidence, loss), closes: 'idle', ...provenIn(evidence) };
}

/** A copy without proof never gets this far. */
const provenIn = ({ copied, indexName }: Evidence): Pick<Judgement, 'provenName'> =>
  copied && indexName !== undefined ? { provenName: indexName } : {};

function remains(evidence: Evidence, loss: Loss, why: 'rows' | 'conflicts'): Judgement {
  return {
    outcome: 'incomplete',
    cause: {
      kind: 'remains',
      why,
      ...countersOf(evidence),
      ...(evidence.copied ? stragglersOf(evidence) : replacedIn(evidence)),
    },
    facts: { ...factsOf(evidence, loss), ...(why === 'conflicts' && { rowsDeleted: 0 }) },
    closes: 'idle',
    ...provenIn(evidence),
  };
}

/**
 * Deletions that the counters report but searches do not show. After a copy the index is closed, because a loss would
 * be invisible too.
 */
function notRefreshed(evidence: Evidence, loss: Loss): Judgement {
  const { record, indexName: indexNow, copied } = evidence;
  const { indexName: indexBefore } = record.attempt.baseline;
  return {
    outcome: copied ? 'rows-missing' : 'incomplete',
    cause: {
      kind: 'not-refreshed',
      ...countersOf(evidence),
      ...(indexNow !== undefined && { indexNow }),
      ...(copied && indexBefore !== undefined && { indexBefore }),
    },
    facts: factsOf(evidence, loss),
    ...(copied ? { closes: 'quarantined' } : { closes: 'idle' }),
  };
}

function missing(evidence: Evidence, loss: Loss): Judgement {
  const { record, indexName, indexGone } = evidence;
  const { before, after } = 'before' in loss ? loss : { before: { rows: 0 }, after: { rows: 0 } };
  const replaced = replacedIn(evidence);
  const where = replaced?.movedBy === 'us' ? recoveryFacts(record.attempt.baseline.indexName, indexName) : {};
  return {
    outcome: 'rows-missing',
    cause: {
      kind: 'missing',
      expected: before.rows,
      found: after.rows,
      ...countersOf(evidence),
      ...replaced,
      ...where,
      ...(indexGone && { indexGone }),
    },
    facts: { ...factsOf(evidence, noLoss), rowsMissing: loss.rows },
    closes: 'quarantined',
  };
}

/**
 * How it ended is unknown. The record stays unresolved for a later look until it is 20 h old. After that, a truncation
 * that cannot have copied is simply repeated another night; a copy is not, because it may have left the alias on half
 * an index.
 */
function unsettled(evidence: Evidence, why: (Cause & { kind: 'unsettled' })['why'], loss: Loss): Judgement {
  const { record, task, vanished, watch, isOld, copied } = evidence;
  // If another process has since put its own index there, nothing shows any more which one was ours.
  const isSafe = !copied && why !== 'replaced';
  const { closes, ...rest } = isOld ? closedAs(!isSafe) : { closes: 'no' as const, ...(copied && { copied }) };
  const { answer } = record.attempt;
  return {
    outcome: 'unknown',
    cause: {
      kind: 'unsettled',
      why,
      ...(vanished && { vanished }),
      ...(task?.counters.cancelled && { cancelled: true }),
      ...(answer && { error: answer.error }),
      ...(watch.movedAt !== undefined && { lastMovedAt: watch.movedAt }),
      ...replacedIn(evidence),
      ...rest,
    },
    facts: factsOf(evidence, loss),
    closes,
  };
}

const closedAs = (
  copied: boolean,
): { closes: 'idle' | 'quarantined'; closed: 'idle' | 'quarantined'; copied?: true } =>
  copied ? { closes: 'quarantined', closed: 'quarantined', copied } : { closes: 'idle', closed: 'idle' };

/** What a bite has left for later nights: the rows between its cutoff and the policy's. */
function restOf({ record, after }: Evidence): { rest?: number; nights?: number } {
  const { nights = 0 } = record.attempt;
  const rest = windowOf(after.windows, 'backlog')?.rows ?? 0;
  if (rest === 0) return {};
  return { rest, ...(nights > 1 && { nights: nights - 1 }) };
}

/**
 * Rows that were written but not yet searchable when the copy began are only in the old index (servers up to about
 * 1.1).
 */
function stragglersOf({ record }: Evidence): { stragglersIn?: string } {
  const { indexName: stragglersIn } = record.attempt.baseline;
  return stragglersIn === undefined ? {} : { stragglersIn };
}

/** The task's counters, unless they simply say that all is done. */
function countersOf({ task }: Evidence) {
  if (!task) return {};
  const { total, versionConflicts = 0, cancelled } = task.counters;
  const done = rowsDone(task);
  return {
    ...(cancelled && { cancelled }),
    ...(versionConflicts > 0 && { conflicts: versionConflicts }),
    ...(total !== undefined && done !== total && { done, total }),
  };
}

function factsOf(evidence: Evidence, loss: Loss): Partial<EntryFacts> {
  const { record, after, watch, indexName, sizeMb } = evidence;
  return {
    rowsDeleted: Math.max(0, record.attempt.baseline.rowsToDelete - after.rowsToDelete),
    rowsRemaining: after.rowsToDelete,
    ...(loss.rows > 0 && { rowsMissing: loss.rows }),
    durationSeconds: Math.max(0, Math.round((endedAt(evidence) - watch.startedAt) / 1000)),
    ...(sizeMb !== undefined && { sizeAfterMb: sizeMb }),
    ...(indexName !== undefined && { indexName }),
  };
}

/** When it ended, if known; if its status never says so, when progress was last seen. */
function endedAt({ watch, task, end }: Evidence): number {
  if (end !== 'task' || task?.completed === false) return watch.movedAt ?? watch.lastLookAt;
  if (task?.runTimeMillis !== undefined) return watch.startedAt + task.runTimeMillis;
  return watch.completedAt ?? watch.lastLookAt;
}
