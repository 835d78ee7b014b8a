import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { biteTolerance } from '../../../lambda/facts/limits.ts';
import { biteLimit, biteOf, findBite, nightsOf } from '../../../lambda/truncation/bite.ts';

const hour = 3_600_000;
const day = 24 * hour;
const startMillis = Date.UTC(2026, 2, 1, 3, 30);
const cutoffMillis = startMillis - 30 * day;

/** Finds a bite among rows that a server counts. */
async function bite(timestamps: number[], most: number, time = 1000) {
  const rows = [...timestamps].sort((one, other) => one - other);
  const upTo = (moment: number) => {
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle]! <= moment) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const asked: number[] = [];
  const rowsTotal = rows.length + 30_000;
  const found = await findBite({
    cutoffMillis,
    whole: { rowsToDelete: upTo(cutoffMillis), rowsTotal },
    bite: most,
    async ask(moment) {
      if (asked.length >= time) return undefined;
      asked.push(moment);
      return { rowsToDelete: upTo(moment), rowsTotal, strategy: 'delete-by-query' };
    },
  });
  return { found, asked, upTo, rows: found.kind === 'no-time' ? 0 : upTo(found.cutoffMillis) };
}

const evenly = (count: number, days: number) =>
  Array.from({ length: count }, (_, at) => cutoffMillis - Math.floor(((at + 0.5) * days * day) / count));
const midnights = (days: number, each: number) =>
  Array.from({ length: days * each }, (_, at) => Math.floor((cutoffMillis - Math.floor(at / each) * day) / day) * day);
const stamped = (count: number, moment: number): number[] => Array(count).fill(moment);
const midnight = Math.floor(cutoffMillis / day) * day;

describe('a bite', () => {
  test.each<[string, number[], number, number, number]>([
    ['evenly over three years', evenly(100_000, 1000), 10_000, 10_000, 16],
    ['evenly over 25 years', evenly(100_000, 9000), 10_000, 10_000, 21],
    ['evenly over two days', evenly(100_000, 2), 10_000, 8333, 16],
    ['at 200 midnights', midnights(200, 500), 10_400, 10_000, 16],
    ['at two midnights', midnights(2, 5000), 5000, 5000, 16],
    [
      'at every hour',
      Array.from({ length: 1200 }, (_, at) => stamped(100, midnight - at * hour)).flat(),
      10_000,
      10_000,
      16,
    ],
    ['half at the beginning of time', [...stamped(50_000, 1000), ...evenly(50_000, 100)], 60_000, 60_000, 16],
    ['at the beginning of time alone, but for one', [1, ...stamped(5000, 9 * hour)], 10, 1, 22],
  ])('of rows stamped %s takes as many of the oldest as whole hours allow', async (_, rows, most, taken, dryRuns) => {
    const search = await bite(rows, most);
    expect([search.found.kind, search.rows, search.asked.length]).toEqual(['found', taken, dryRuns]);
  });

  test.each([
    ['in one moment', midnight - 400 * day, 16],
    ['around a midnight', midnight, 16],
    ['in the first hour of all', 1, 22],
    ['in the hour before the policy’s cutoff', cutoffMillis, 16],
  ])('is too large if the oldest hour alone has more rows (%s)', async (_, moment, dryRuns) => {
    const { found, asked, upTo } = await bite([...stamped(5000, moment), ...stamped(500, cutoffMillis)], 1000);
    if (found.kind !== 'too-large') throw new Error(found.kind);
    expect(found.rows).toBe(upTo(found.cutoffMillis));
    expect(found.rows).toBeGreaterThanOrEqual(5000);
    expect(found.cutoffMillis - hour).toBeLessThan(moment);
    expect(asked).toHaveLength(dryRuns);
  });

  test('takes the best so far when time runs out', async () => {
    const { found, rows } = await bite(evenly(100_000, 1000), 10_000, 6);
    expect(found.kind).toBe('found');
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThan(10_000);
  });

  test.each([0, 1, 2, 15])('is not reported as too large when time runs out after %i dry runs', async (time) => {
    const rows = [...stamped(5000, cutoffMillis - 400.3 * day), ...evenly(10_000, 30)];
    const { found, asked } = await bite(rows, 1000, time);
    expect([found, asked.length]).toEqual([{ kind: 'no-time' }, time]);
  });

  test('is the youngest whole hour that holds no more, found in at most 22 dry runs, 16 for rows of four years', async () => {
    const moments = (oldest: number) =>
      fc.array(fc.integer({ min: oldest, max: cutoffMillis }), { minLength: 5, maxLength: 300 });
    const age = fc.constantFrom(2, 100, 1300, 5000, cutoffMillis / day);
    const rows = age.chain((days) => fc.tuple(fc.constant(days), moments(Math.ceil(cutoffMillis - days * day))));
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 200 }), async ([days, timestamps], most) => {
        fc.pre(timestamps.length > most);
        const { found, asked, upTo } = await bite(timestamps, most);
        expect(asked.length).toBeLessThanOrEqual(days < 1365 ? 16 : 22);
        expect(new Set(asked).size).toBe(asked.length);
        if (found.kind === 'no-time') throw new Error(found.kind);
        const { cutoffMillis: sent } = found;
        expect((cutoffMillis - sent) % hour).toBe(0);
        if (found.kind === 'too-large') {
          expect(found.rows).toBe(upTo(sent));
          expect(found.rows).toBeGreaterThan(most);
          expect(upTo(sent - hour)).toBe(0);
          return;
        }
        expect(asked).toContain(sent);
        expect(sent).toBeLessThan(cutoffMillis);
        expect(found.dryRun.rowsToDelete).toBe(upTo(sent));
        expect(upTo(sent)).toBeGreaterThan(0);
        expect(upTo(sent)).toBeLessThanOrEqual(most);
        expect(upTo(sent + hour)).toBeGreaterThan(most);
      }),
    );
  });
});

describe('whether an index goes in bites', () => {
  test.each([
    [undefined, 10 ** 9, undefined, undefined],
    [100, 100, undefined, undefined],
    [1000, 1005, undefined, undefined],
    [1000, 1006, undefined, 1000],
    [1000, 5000, 2000, 2000],
    [1000, 5000, 5000, undefined],
    [1000, 5000, 10, 1000],
  ])('maxRowsPerRun %s, %i rows, approved %s: %s', (most, rows, approved, expected) => {
    expect(biteOf(most, rows, approved)).toBe(expected);
  });

  test('may be exceeded by a hundredth, or up to the approved rows, when it is sent', () => {
    expect(biteTolerance).toBe(0.01);
    expect(biteLimit(1000, undefined)).toBe(1010);
    expect(biteLimit(1000, 5000)).toBe(5000);
    expect(biteLimit(1000, 5)).toBe(1010);
  });
});

describe('the forecast of nights', () => {
  test.each([
    [{ rowsToDelete: 1_000_000, rowsTotal: 1_500_000 }, 100_000, 0, undefined, 10],
    [{ rowsToDelete: 1_000_001, rowsTotal: 1_500_000 }, 100_000, 0, undefined, 11],
    [{ rowsToDelete: 1_000_000, rowsTotal: 1_900_000 }, 100_000, 10, undefined, 9],
    [{ rowsToDelete: 1_000_000, rowsTotal: 1_500_000 }, 100_000, 0, 50_000, 20],
    [{ rowsToDelete: 1_000_000, rowsTotal: 1_500_000 }, 100_000, 0, 100_000, undefined],
    [{ rowsToDelete: 1_000_000, rowsTotal: 1_500_000 }, 100_000, 100, undefined, 10],
    [{ rowsToDelete: 10, rowsTotal: 10_000 }, 5, 50, undefined, 1],
    [{ rowsToDelete: 40_000, rowsTotal: 50_000 }, 100, 0, undefined, 400],
    [{ rowsToDelete: 40_001, rowsTotal: 50_000 }, 100, 0, undefined, undefined],
    [{ rowsToDelete: 40_000, rowsTotal: 50_000 }, 100, 0, 100 - 1e-13, undefined],
    [{ rowsToDelete: 40_000, rowsTotal: 50_000 }, 100, 0, Number.NaN, undefined],
  ])('%j in bites of %i down to %i percent, growing by %s: %s', (counts, most, percent, growth, nights) => {
    expect(nightsOf(counts, most, percent, growth)).toBe(nights);
  });
});
