import type { SampleIndex } from '../../../cli/operations-service/samples.ts';
import { type Chances, createChances } from '../world/chances.ts';

/** Initial rows. */

const dayMillis = 86_400_000;

/** Timestamps between two ages in days. */
export const aged = (chances: Chances, count: number, from: number, to: number, now: number): number[] =>
  Array.from({ length: count }, () => Math.round(now - (to + (from - to) * chances.next()) * dayMillis));

/** An index with this many rows aged 31 to 120 days, and this many aged up to 29 days. */
export function sampleOf(
  { old, fresh }: { old: number; fresh: number },
  [entityType, aspect]: readonly [string, string],
  seed: number,
  now: number,
): SampleIndex {
  const chances = createChances(seed);
  const timestamps = [...aged(chances, old, 120, 31, now), ...aged(chances, fresh, 29, 0.2, now)];
  return { entityType, aspect, timestamps: timestamps.sort((one, other) => one - other) };
}
