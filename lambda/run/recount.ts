import { asResult, type Operations, type Result, type TaskCounters } from '../gms/operations.ts';
import { overdueAfterMillis } from '../ledger/ownership.ts';
import type { Quarantined, Unresolved } from '../ledger/record.ts';
import { defaultBatchSize } from '../model/policy-fields.ts';
import { countTruncation, dryRunnerOf, type TruncationCounts } from '../truncation/counts.ts';
import { exceedsTolerance, keptRows, unwrittenIn, whyNotVisible } from '../truncation/kept.ts';
import { isInPlace } from '../truncation/watch.ts';

/** The rows to keep of a truncation, counted once more for a person: at its release, and each night of a quarantine. */

export type SentRecord = Unresolved | Quarantined;

/** @param isStrict as for `countTruncation` */
export function recount(
  { attempt }: SentRecord,
  server: { operations: Operations; signal: AbortSignal },
  isStrict = false,
): Promise<Result<TruncationCounts>> {
  const { countedAtMillis } = attempt.baseline;
  const fields = { ...attempt.fields, batchSize: defaultBatchSize };
  return asResult(() => countTruncation(dryRunnerOf(server), { ...attempt, fields, countedAtMillis }, isStrict));
}

/**
 * What the counts say beside the record's baseline, in the words of causes and notes. Pure. Of a delete, only `missing`
 * counts.
 * @param end the counters of the task's completed status, if one was read
 */
export function compareWithBaseline(
  record: SentRecord,
  counts: TruncationCounts,
  end: TaskCounters | undefined,
  now: number,
) {
  const { attempt, state } = record;
  const missing = Math.max(0, attempt.baseline.rowsToKeep - counts.rowsToKeep);
  if (!isInPlace(attempt, counts)) {
    const hasTask = 'taskId' in record && record.taskId !== undefined;
    const isOld = now - attempt.sendingSince >= overdueAfterMillis;
    const isUntouched = !hasTask && isOld && !exceedsTolerance(attempt, missing);
    return { missing, inPlace: false, nothingChanged: isUntouched || undefined };
  }
  const kept = keptRows(attempt, counts, end);
  // Rows that were missing once are reported as missing until they are counted. In an index that the search engine does
  // not know, nothing can be refreshed.
  const isLost = state === 'quarantined' && record.lastVerdict.verdict.outcome === 'rows-missing';
  const notVisible = isLost || counts.isAbsent ? undefined : whyNotVisible(kept);
  return { missing, inPlace: true, notVisible, unwritten: unwrittenIn(kept) };
}
