import { asResult } from '../../gms/operations.ts';
import { addressElsewhere, overdueAfterMillis } from '../../ledger/ownership.ts';
import type { Quarantined } from '../../ledger/record.ts';
import type { CauseOf } from '../../model/cause.ts';
import { defaultBatchSize } from '../../model/policy-fields.ts';
import { countTruncation } from '../../truncation/counts.ts';
import { exceedsTolerance, keptRows, unwrittenIn, whyNotVisible } from '../../truncation/kept.ts';
import { isInPlace } from '../../truncation/watch.ts';
import { doneEntry } from '../entries.ts';
import type { Entry } from '../state.ts';
import type { PlanContext } from './policy.ts';

/**
 * Counts the rows to keep of every quarantined reindex again, after everything else: a message names what is missing
 * once its new index has been put in place. It decides nothing, and what cannot be counted changes no result.
 */
export async function recountQuarantined(
  entries: readonly Entry[],
  context: PlanContext,
  signal: AbortSignal,
): Promise<Entry[]> {
  const counted: Entry[] = [];
  for (const entry of entries) {
    const record = context.records.get(entry.index);
    const cause = entry.phase === 'done' ? entry.decision?.cause : undefined;
    const isReindex = record?.state === 'quarantined' && record.attempt.method === 'reindex';
    if (
      cause?.kind !== 'quarantined' ||
      !isReindex ||
      addressElsewhere(record, context.state) ||
      context.requests.isLate()
    ) {
      counted.push(entry);
    } else {
      counted.push(doneEntry(entry, 'quarantined', { ...cause, today: await countToday(record, context, signal) }));
    }
  }
  return counted;
}

async function countToday(
  record: Quarantined,
  { services: { operations, clock } }: PlanContext,
  signal: AbortSignal,
): Promise<CauseOf<'quarantined'>['today']> {
  const { attempt, taskId, lastVerdict } = record;
  const { fields, policyCutoffMillis, baseline } = attempt;
  const { countedAtMillis } = baseline;
  const counted = await asResult(() =>
    countTruncation((some) => operations.dryRun(some, { signal }), {
      fields: { ...fields, batchSize: defaultBatchSize },
      policyCutoffMillis,
      countedAtMillis,
    }),
  );
  if (counted.kind === 'failed') return { error: counted.error };
  // That an index is not known says nothing about its rows: its alias may be moving at this moment.
  if (counted.value.isAbsent) return { error: { kind: 'no-index', operation: 'dry-run' } };
  const { rowsToKeep: expected } = baseline;
  const { rowsToKeep: found } = counted.value;
  const inPlace = isInPlace(attempt, counted.value);
  // Rows that were missing once are reported as missing until they are counted.
  const mayBeHidden = lastVerdict.verdict.outcome !== 'rows-missing';
  const kept = inPlace ? keptRows(attempt, counted.value, attempt.end) : undefined;
  const isOld = clock.now() - attempt.sendingSince >= overdueAfterMillis;
  const isUntouched = !inPlace && !exceedsTolerance(attempt, expected - found);
  return {
    expected,
    found,
    inPlace,
    notVisible: mayBeHidden && kept ? whyNotVisible(kept) : undefined,
    unwritten: kept && unwrittenIn(kept),
    nothingChanged: (taskId === undefined && isOld && isUntouched) || undefined,
  };
}
