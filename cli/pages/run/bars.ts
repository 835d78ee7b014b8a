import { dayMillis } from '../../../lambda/facts/limits.ts';
import type { Outcome } from '../../../lambda/facts/outcomes.ts';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import type { Policy } from '../../../lambda/policy/schema.ts';
import { freedMb } from '../../screen/text.ts';
import { byAge, type Cut, type Older } from '../by-age.ts';
import type { Bar, Part } from '../model.ts';

/** What a run did, or would do, to the rows of one index, as a bar. */

/** Truncations that were not seen to end well: what was deleted is known only for those that delete in place. */
const unended: readonly Outcome[] = ['still-running', 'incomplete', 'unknown'];

/**
 * @param older rows by age, if they were counted: after the run, at the ages that they had when it began
 * @param startMillis the run's start
 * @returns undefined if the run counted nothing
 */
export function barOf(
  entry: PolicyEntry,
  policy: Policy | undefined,
  older: Older | undefined,
  startMillis: number,
): Bar | undefined {
  const { rowsTotal, retentionDays: days, rowsToDelete = 0, sizeBeforeMb } = entry;
  if (rowsTotal === undefined) return undefined;
  const freed = entry.outcome === 'would-truncate' ? freedMb(rowsToDelete, rowsTotal, sizeBeforeMb) : undefined;
  const parts =
    entry.outcome === 'rows-missing'
      ? missingParts(entry, rowsTotal)
      : partsOf(entry, rowsTotal, older ?? new Map(), startMillis);
  return {
    parts,
    ...(days !== undefined && { cutDays: days }),
    ...(policy && { threshold: policy.minDeletePercent }),
    ...(policy?.maxDeletePercent !== undefined && { ceiling: policy.maxDeletePercent }),
    ...(freed !== undefined && { freedMb: freed }),
  };
}

/** The ages of missing rows cannot be counted. */
function missingParts(
  { rowsDeleted, rowsToDelete = 0, rowsMissing = 0, retentionDays }: PolicyEntry,
  rowsTotal: number,
): Part[] {
  const went = Math.min(rowsTotal, rowsDeleted ?? rowsToDelete);
  const missing = Math.min(rowsTotal - went, rowsMissing);
  return [
    { fate: 'went', rows: went, ...(retentionDays !== undefined && { from: retentionDays }) },
    { fate: 'missing', rows: missing },
    { fate: 'stays', rows: rowsTotal - went - missing },
  ];
}

function partsOf(entry: PolicyEntry, rowsTotal: number, older: Older, startMillis: number): Part[] {
  const {
    outcome,
    retentionDays: days,
    rowsToDelete = 0,
    rowsPastRetention = rowsToDelete,
    rowsDeleted,
    strategy,
  } = entry;
  const past = Math.min(rowsTotal, rowsPastRetention);
  if (days === undefined)
    return [
      { fate: 'overdue', rows: past },
      { fate: 'stays', rows: rowsTotal - past },
    ];
  const cut = (rows: number, fate: Cut['fate'], at = days): Cut => ({
    days: at,
    rows: Math.min(rowsTotal, rows),
    fate,
  });
  // The age at which a bite is cut, which is higher than the retention.
  const biteDays = entry.cutoffMillis === undefined ? days : tenth((startMillis - entry.cutoffMillis) / dayMillis);
  const isBite = rowsPastRetention > rowsToDelete && biteDays > days;
  if (outcome === 'truncated') {
    const went = rowsDeleted ?? rowsToDelete;
    const cuts = [cut(went, 'went', isBite ? biteDays : days), ...(isBite ? [cut(past, 'later')] : [])];
    return byAge(rowsTotal, afterwards(older, went, Math.max(went, isBite ? past : 0), days), cuts);
  }
  if (outcome === 'would-truncate') {
    return byAge(
      rowsTotal,
      older,
      isBite ? [cut(rowsToDelete, 'goes', biteDays), cut(past, 'later')] : [cut(past, 'goes')],
    );
  }
  const went = unended.includes(outcome) && strategy === 'delete-by-query' ? Math.min(past, rowsDeleted ?? 0) : 0;
  if (went > 0) {
    return [
      { fate: 'went', rows: went, from: days },
      { fate: 'overdue', rows: past - went, from: days },
      { fate: 'stays', rows: rowsTotal - past, to: days },
    ];
  }
  return byAge(rowsTotal, older, [cut(past, 'overdue')]);
}

/** Counts made after the deletion, as they would have been before it; only of rows that stay. */
function afterwards(older: Older, went: number, past: number, days: number): Older {
  const left = older.get(days) ?? past - went;
  return new Map(
    [...older].flatMap(([age, rows]) => (age < days ? [[age, Math.max(0, rows - left) + past] as const] : [])),
  );
}

const tenth = (value: number): number => Math.round(value * 10) / 10;
