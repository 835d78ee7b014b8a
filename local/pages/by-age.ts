import type { Fate, Part } from './model.ts';

/** Rows at least so many days old. */
export type Older = ReadonlyMap<number, number>;

/** Rows past a moment, and what becomes of those that are older. */
export interface Cut {
  days: number;
  rows: number;
  fate: Fate;
}

/**
 * The rows of an index by age, the oldest first.
 * @param cuts the oldest first; what is younger than the last one stays
 *
 * Counts of several moments may contradict each other by what came or went between them: each span has what the older ones leave,
 * and never less than nothing, so that the sum is always the total.
 */
export function byAge(rowsTotal: number, older: Older, cuts: readonly Cut[]): Part[] {
  const counted = new Map([...older, ...cuts.map(({ days, rows }) => [days, rows] as const)]);
  const days = [...counted.keys()].filter((day) => day > 0).sort((one, other) => other - one);
  const fateOf = (day: number): Fate => cuts.find((cut) => day >= cut.days)?.fate ?? 'stays';
  const parts: Part[] = [];
  let before = 0;
  days.forEach((day, at) => {
    // A cut's own count is what was decided by: counts of older rows stay below it.
    const most = Math.min(rowsTotal, ...cuts.filter((cut) => cut.days <= day).map(({ rows }) => rows));
    const rows = Math.max(before, Math.min(most, counted.get(day)!));
    const upTo = days[at - 1];
    parts.push({ fate: fateOf(day), rows: rows - before, from: day, ...(upTo !== undefined && { to: upTo }) });
    before = rows;
  });
  const youngest = days.at(-1);
  parts.push({ fate: fateOf(0), rows: rowsTotal - before, ...(youngest !== undefined && { to: youngest }) });
  return parts;
}

/** A bite takes the oldest of the rows that go; the rest of them go in later runs. */
export function bitten(parts: readonly Part[], bite: number): Part[] {
  let left = bite;
  return parts.flatMap((part): Part[] => {
    if (part.fate !== 'goes') return [part];
    const now = Math.min(left, part.rows);
    left -= now;
    const split: Part[] = [
      { ...part, rows: now },
      { ...part, fate: 'later', rows: part.rows - now },
    ];
    return split.filter(({ rows }) => rows > 0);
  });
}
