import { isForeign, type StoredRecord, type Verdict } from '../ledger/record.ts';
import { grouped } from '../policy/grouped.ts';
import { fullIndexIn } from './recovery.ts';
import type { Entry } from './state.ts';
import { isMissing } from './verdict.ts';

/**
 * What a person released from quarantine before its rows were back: releasing forgets how many there should be, so no
 * later run can say it again. Each is a note that makes the run's result at least `attention`.
 * @param cleared indices that this run released
 * @param records the ledger's, after the release
 * @param entries with the counts of this run's dry runs
 */
export function releasedTooEarly(
  cleared: readonly string[],
  records: ReadonlyMap<string, StoredRecord>,
  entries: readonly Entry[],
): string[] {
  return cleared.flatMap((index) => {
    const record = records.get(index);
    const counted = entries.find((entry) => entry.index === index)?.entry;
    if (!record || isForeign(record) || counted?.rowsTotal === undefined) return [];
    const expected = rowsExpected(record.lastVerdict);
    if (expected === undefined) return [];
    if (!isMissing(expected - counted.rowsTotal, expected)) return [];
    const holds = `${counted.entityType}.${counted.aspect} holds ${grouped(counted.rowsTotal)} rows`;
    const where = fullIndexIn(record.lastVerdict!.entry.reason);
    return [
      `${start} ${holds}, and at least ${grouped(expected)} should have stayed${where ? `; they may still be in ${where}` : ''}. No later run says so again.`,
    ];
  });
}

const start = 'Released although rows are missing:';

export const isReleasedTooEarly = (note: string): boolean => note.startsWith(start);

/** Rows that the verdict missed and those that it found. Plan's verdict counts what is left, that of a truncation what there was. */
function rowsExpected(verdict: Verdict | undefined): number | undefined {
  const { outcome, rowsTotal, rowsToDelete, rowsRemaining, rowsMissing } = verdict?.entry ?? {};
  if (rowsTotal === undefined || rowsToDelete === undefined) return undefined;
  const foundByPlan = outcome === 'rows-missing' && rowsRemaining === undefined;
  return foundByPlan ? rowsTotal + (rowsMissing ?? 0) : rowsTotal - rowsToDelete;
}
