import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DryRun } from '../../../lambda/operations/operations.ts';
import { biteLimit, biteOf, findBite, nightsOf } from '../../../lambda/truncation/bite.ts';

const day = 86_400_000;
const startMillis = Date.UTC(2026, 2, 1, 3, 30);
const cutoffMillis = startMillis - 30 * day;

/** Finds a bite among rows that a server counts. */
async function bite(timestamps: number[], most: number, stay = 30_000, isOver = () => false) {
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
  const whole = { rowsToDelete: upTo(cutoffMillis), rowsTotal: upTo(cutoffMillis) + stay };
  const found = await findBite({
    cutoffMillis,
    whole,
    startMillis,
    bite: most,
    isOver,
    async ask(moment) {
      asked.push(moment);
      return { rowsToDelete: upTo(moment), rowsTotal: whole.rowsTotal, strategy: 'delete-by-query' };
    },
  });
  return { found, asked, rows: found.kind === 'no-time' ? 0 : upTo(found.cutoffMillis) };
}

const evenly = (count: number, days: number) =>
  Array.from({ length: count }, (_, at) => cutoffMillis - Math.floor(((at + 0.5) * days * day) / count));
const midnights = (days: number, each: number) =>
  Array.from({ length: days * each }, (_, at) => Math.floor((cutoffMillis - Math.floor(at / each) * day) / day) * day);

describe('a bite', () => {
  test.each<[string, number[]]>([
    ['rows that are spread evenly', evenly(100_000, 1000)],
    ['rows that are all young', evenly(100_000, 2)],
    ['rows that are very old', evenly(100_000, 9000)],
    ['rows with a few from the epoch', [...evenly(99_990, 500), ...Array(10).fill(1000)]],
  ])('of %s is as large as it may be', async (_, timestamps) => {
    const { found, asked, rows } = await bite(timestamps, 10_000);
    expect(found.kind).toBe('found');
    expect(rows).toBeLessThanOrEqual(10_000);
    expect(rows).toBeGreaterThanOrEqual(9_990);
    expect(asked.length).toBeLessThanOrEqual(16);
  });

  test('of rows stamped with midnight ends at a step of the staircase', async () => {
    const { rows, found } = await bite(midnights(200, 500), 10_400);
    expect([found.kind, rows]).toEqual(['found', 10_000]);
  });

  test('of rows in bursts takes as many as it may', async () => {
    const bursts = Array.from(
      { length: 50_000 },
      (_, at) => cutoffMillis - ((at % 37) ** 2 * 0.7 * day + (at % 3600) * 1000),
    );
    const { rows, asked } = await bite(bursts, 5_000);
    expect(rows).toBeLessThanOrEqual(5_000);
    expect(rows).toBeGreaterThanOrEqual(2_500);
    expect(asked.length).toBeLessThanOrEqual(16);
  });

  const midnight = Math.floor(cutoffMillis / day) * day;
  const stamped = (count: number, moment: number): number[] => Array(count).fill(moment);
  const ever = (count: number) => Array.from({ length: count }, (_, at) => cutoffMillis - day * 0.01 * 1.0007 ** at);

  test.each<[string, number[], number, number, number]>([
    ['evenly over three years', evenly(100_000, 1000), 10_000, 10_000, 7],
    ['evenly over two days', evenly(100_000, 2), 10_000, 10_000, 9],
    ['evenly over 25 years', evenly(100_000, 9000), 10_000, 10_000, 9],
    ['evenly, half of them a bite', evenly(100_000, 100), 50_000, 50_000, 7],
    ['evenly, nearly all of them a bite', evenly(100_000, 100), 90_000, 90_000, 6],
    ['at 200 midnights', midnights(200, 500), 10_400, 10_000, 8],
    ['at ten midnights, one of them a bite', midnights(10, 5000), 5000, 5000, 7],
    ['at ten midnights, four of them a bite', midnights(10, 5000), 22_000, 20_000, 6],
    ['at two midnights', midnights(2, 5000), 5000, 5000, 3],
    [
      'at a midnight and a millisecond before it',
      [...stamped(1000, midnight - 5 * day), ...stamped(1000, midnight - 5 * day - 1)],
      1000,
      1000,
      6,
    ],
    [
      'at a midnight and a millisecond after it',
      [...stamped(1000, midnight - 5 * day), ...stamped(1000, midnight - 5 * day + 1)],
      1000,
      1000,
      8,
    ],
    [
      'at every hour',
      Array.from({ length: 1200 }, (_, at) => stamped(100, cutoffMillis - (at * day) / 24)).flat(),
      10_000,
      10_000,
      12,
    ],
    [
      'at every hour of one day',
      Array.from({ length: 24 }, (_, at) => stamped(100, midnight - 3 * day + (at * day) / 24)).flat(),
      500,
      500,
      7,
    ],
    ['half at the beginning of time', [...stamped(50_000, 1000), ...evenly(50_000, 100)], 60_000, 60_000, 9],
    ['ever more thinly', ever(20_000), 5000, 5000, 11],
  ])('of rows stamped %s is found by few dry runs', async (_, timestamps, most, taken, dryRuns) => {
    const { rows, asked } = await bite(timestamps, most);
    expect([rows, asked.length]).toEqual([taken, dryRuns]);
  });

  test.each([
    ['at midnight', midnight - 400 * day],
    ['at a midnight on which the search ends', midnight - 40 * day],
    ['in the first millisecond', 1],
  ])(
    'is too large if the oldest timestamp alone has more rows (%s), and reports their number and time',
    async (_, moment) => {
      const { found, asked } = await bite([...stamped(5000, moment), ...evenly(10_000, 30)], 1000);
      expect(found).toEqual({ kind: 'too-large', cutoffMillis: moment, rows: 5000, spreadMillis: 1 });
      expect(asked.length).toBeLessThanOrEqual(16);
    },
  );

  test('is too large if sixteen dry runs find no cutoff between the oldest rows, and reports how close together they are', async () => {
    const oldest = cutoffMillis - 400.3 * day;
    const { found, asked } = await bite([...stamped(3, oldest - 7), ...stamped(5000, oldest)], 1000);
    expect(asked).toHaveLength(16);
    if (found.kind !== 'too-large') throw new Error(found.kind);
    expect(found.rows).toBe(5003);
    expect(found.spreadMillis).toBeGreaterThan(7);
    expect(found.spreadMillis).toBeLessThan(day);
    expect(found.cutoffMillis).toBeGreaterThanOrEqual(oldest);
    expect(found.cutoffMillis - found.spreadMillis).toBeLessThan(oldest - 7);
  });

  test('takes the best so far when time runs out', async () => {
    let calls = 0;
    const { found, asked } = await bite(evenly(100_000, 1000), 10_000, 30_000, () => calls++ >= 3);
    expect(asked.length).toBeLessThanOrEqual(3);
    expect(found.kind).toBe('found');
  });

  test.each([0, 1, 2, 15])('is not reported as too large when time runs out after %i dry runs', async (steps) => {
    let calls = 0;
    const rows = [...stamped(5000, cutoffMillis - 400.3 * day), ...evenly(10_000, 30)];
    const { found, asked } = await bite(rows, 1000, 30_000, () => calls++ >= steps);
    expect([found, asked.length]).toEqual([{ kind: 'no-time' }, steps]);
  });

  test('is not searched for between two neighbouring milliseconds', async () => {
    const timestamps = [...stamped(10, 2), ...stamped(1000, 1)];
    const search = (most: number, cutoff: number) => {
      const asked: number[] = [];
      const upTo = (moment: number) => timestamps.filter((timestamp) => timestamp <= moment).length;
      const at = (moment: number): DryRun => ({ rowsToDelete: upTo(moment), rowsTotal: 2000 });
      const found = findBite({
        cutoffMillis: cutoff,
        whole: at(cutoff),
        startMillis,
        bite: most,
        isOver: () => false,
        ask: async (moment) => {
          asked.push(moment);
          return at(moment);
        },
      });
      return found.then((result) => ({ result, asked }));
    };
    expect(await search(500, 1)).toEqual({
      result: { kind: 'too-large', cutoffMillis: 1, rows: 1000, spreadMillis: 1 },
      asked: [],
    });
    expect(await search(1005, 2)).toMatchObject({ result: { kind: 'found', cutoffMillis: 1 }, asked: [1] });
  });

  test('is never above its limit, never younger than the policy’s cutoff, and never without its dry run', async () => {
    const moments = fc.array(fc.integer({ min: 0, max: cutoffMillis }), { minLength: 5, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(moments, fc.integer({ min: 1, max: 200 }), fc.nat(1000), async (timestamps, most, stay) => {
        fc.pre(timestamps.length > most);
        const { found, asked, rows } = await bite(timestamps, most, stay);
        expect(asked.length).toBeLessThanOrEqual(16);
        for (const moment of asked) expect(moment).toBeLessThan(cutoffMillis);
        if (found.kind === 'too-large') {
          const oldest = Math.max(1, Math.min(...timestamps));
          const { cutoffMillis: until, spreadMillis } = found;
          expect(found.rows).toBe(timestamps.filter((timestamp) => timestamp <= until).length);
          expect(found.rows).toBeGreaterThan(most);
          expect(until - spreadMillis).toBeLessThan(oldest);
          return;
        }
        // All rows lie at the beginning of time, and sixteen guesses have not come so far.
        if (found.kind === 'no-time') return;
        expect(rows).toBeLessThanOrEqual(most);
        expect(rows).toBeGreaterThan(0);
        expect(asked).toContain(found.cutoffMillis);
        expect(found.dryRun.rowsToDelete).toBe(rows);
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
