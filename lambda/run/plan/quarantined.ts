import { addressElsewhere } from '../../ledger/ownership.ts';
import type { Quarantined } from '../../ledger/record.ts';
import type { CauseOf } from '../../model/cause.ts';
import { doneEntry } from '../entries.ts';
import { compareWithBaseline, recount } from '../recount.ts';
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
  const counted = await recount(record, { operations, signal });
  if (counted.kind === 'failed') return { error: counted.error };
  // That an index is not known says nothing about its rows: its alias may be moving at this moment.
  if (counted.value.isAbsent) return { error: { kind: 'no-index', operation: 'dry-run' } };
  const { missing: _, ...compared } = compareWithBaseline(record, counted.value, record.attempt.end, clock.now());
  return { expected: record.attempt.baseline.rowsToKeep, found: counted.value.rowsToKeep, ...compared };
}
