import type { CauseOf } from '../../facts/cause.ts';
import { usualBatchSize } from '../../facts/limits.ts';
import { concernsServer } from '../../facts/server-error.ts';
import type { Quarantined } from '../../ledger/record.ts';
import { asResult } from '../../operations/operations.ts';
import { recount } from '../../truncation/counts.ts';
import { physicalIndex } from '../../truncation/optional-reads.ts';
import { windowOf } from '../release.ts';
import type { Entry } from '../state.ts';
import { isLate, type PolicyContext } from './context.ts';

type Today = CauseOf<'quarantined'>['today'];

/**
 * Counts the window of every quarantined index again, after everything else (rule 11): a person who decides
 * about a release needs to know what is there today. What cannot be counted is said, and changes no result.
 */
export async function countedToday(entries: readonly Entry[], context: PolicyContext): Promise<Entry[]> {
  const counted: Entry[] = [];
  let isAway = false;
  for (const entry of entries) {
    const record = context.prepared.records.get(entry.index);
    const cause = entry.phase === 'done' ? entry.entry.cause : undefined;
    if (cause?.kind !== 'quarantined' || record?.state !== 'quarantined' || isAway || isLate(context)) {
      counted.push(entry);
      continue;
    }
    const today = await countToday(record, context);
    isAway = today !== undefined && 'error' in today && concernsServer(today.error);
    counted.push({ ...entry, entry: { ...entry.entry, cause: { ...cause, today } } } as Entry);
  }
  return counted;
}

async function countToday(record: Quarantined, { services, signal, sizes }: PolicyContext): Promise<Today> {
  const window = windowOf(record);
  if (!window) return undefined;
  const fields = { entityType: record.entityType, aspect: record.aspect, batchSize: usualBatchSize };
  const counted = await asResult(() =>
    recount((asked) => services.operations.dryRun(asked, { signal }), fields, window),
  );
  if (counted.kind === 'failed') return { error: counted.error };
  const { rows: found, isAbsent } = counted.value;
  if (isAbsent) return { error: { kind: 'no-index', operation: 'dry-run' } };
  const before = record.attempt?.baseline.indexName;
  const now = physicalIndex(sizes, record)?.indexName;
  const sameIndex = before === undefined || now === undefined ? undefined : before === now;
  return { expected: window.rows, found, sameIndex };
}
