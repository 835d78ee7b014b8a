import type { Fate, Part } from './model.ts';

/** By age in days: the rows that are at least that old. */
export type Older = ReadonlyMap<number, number>;

/** A point in time, the rows older than that, and what happens to them. */
export interface Cut {
  days: number;
  rows: number;
  fate: Fate;
}

/**
 * The rows of an index by age, the oldest first.
 * @param cuts the oldest first; rows younger than the last one stay
 *
 * Counts taken at different times may contradict each other, because rows arrived or were deleted in between: each span
 * gets what the older ones leave, and never less than zero, so that the sum is always the total.
 */
export function byAge(rowsTotal: number, older: Older, cuts: readonly Cut[]): Part[] {
  const counted = new Map([...older, ...cuts.map(({ days, rows }) => [days, rows] as const)]);
  const days = [...counted.keys()].filter((day) => day > 0).sort((one, other) => other - one);
  const fateOf = (day: number): Fate => cuts.find((cut) => day >= cut.days)?.fate ?? 'stays';
  const parts: Part[] = [];
  let before = 0;
  days.forEach((day, at) => {
    // The decision was based on the cut's own count: counts of older rows are kept below it.
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

/** A bite deletes the oldest of the rows that are due; later runs delete the rest. */
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
