import { grouped } from '../facts/grouped.ts';
import { isForeign, type StoredRecord, type Verdict } from '../ledger/record.ts';
import { fullIndexIn } from '../truncation/recovery.ts';
import { isMissing } from '../truncation/verdict.ts';
import type { Entry } from './state.ts';

/**
 * What a person released from quarantine before its rows were back: releasing forgets how many there should be, so no
 * later run can say it again. Each is a note that makes the run's result at least `attention`; so is one that this run
 * did not count, because it is about other policies, or could not.
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
    if (!record || isForeign(record)) return [];
    const { lastVerdict } = record;
    const expected = rowsExpected(lastVerdict);
    if (!lastVerdict || expected === undefined) return [];
    const name = `${lastVerdict.entry.entityType}.${lastVerdict.entry.aspect}`;
    const old = fullIndexIn(lastVerdict.entry.reason);
    const where = `${old ? `; they may still be in ${old}` : ''}. No later run says so again.`;
    const rowsTotal = entries.find((entry) => entry.index === index)?.entry.rowsTotal;
    if (rowsTotal === undefined) {
      return [`${notCounted} ${name}, where at least ${grouped(expected)} rows should have stayed${where}`];
    }
    if (!isMissing(expected - rowsTotal, expected)) return [];
    return [
      `${tooFew} ${name} holds ${grouped(rowsTotal)} rows, and at least ${grouped(expected)} should have stayed${where}`,
    ];
  });
}

const tooFew = 'Released although rows are missing:';
const notCounted = 'Released, and not counted by this run:';

export const isReleasedTooEarly = (note: string): boolean => note.startsWith(tooFew) || note.startsWith(notCounted);

/** True where this run has seen that they are missing. */
export const isReleasedWithMissing = (note: string): boolean => note.startsWith(tooFew);

/** Rows that the verdict missed and those that it found. Plan's verdict counts what is left, that of a truncation what there was. */
function rowsExpected(verdict: Verdict | undefined): number | undefined {
  const { outcome, rowsTotal, rowsToDelete, rowsRemaining, rowsMissing } = verdict?.entry ?? {};
  if (rowsTotal === undefined || rowsToDelete === undefined) return undefined;
  const foundByPlan = outcome === 'rows-missing' && rowsRemaining === undefined;
  return foundByPlan ? rowsTotal + (rowsMissing ?? 0) : rowsTotal - rowsToDelete;
}
