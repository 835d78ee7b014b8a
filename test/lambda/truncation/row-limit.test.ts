import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hourMillis } from '../../../lambda/model/time.ts';
import { findCutoff, rowLimit } from '../../../lambda/truncation/row-limit.ts';
import { holdsInTime } from '../../properties.ts';

/** Tonight's cutoff, where more rows are due than one run may delete. */

const cutoffMillis = Date.UTC(2026, 0, 30);
const hoursAgo = (hours: number): number => cutoffMillis - hours * hourMillis;

/** Searches among rows of these ages, in hours before the cutoff. */
async function search(ages: number[], maxRows: number, mostQuestions = Number.POSITIVE_INFINITY) {
  let asked = 0;
  const rows = (until: number) => ages.filter((age) => hoursAgo(age) <= until).length;
  const dryRun = (until: number) => ({ rowsToDelete: rows(until), rowsTotal: ages.length, method: 'delete' as const });
  const found = await findCutoff({
    cutoffMillis,
    rows: rows(cutoffMillis),
    maxRows,
    ask: async (until) => (++asked > mostQuestions ? undefined : dryRun(until)),
  });
  return { found, asked, rows };
}

test.each<[string, number | undefined, number, number | undefined, number | undefined]>([
  ['not without maxRowsPerRun', undefined, 1000, undefined, undefined],
  ['not for as many rows', 100, 100, undefined, undefined],
  ['for one row more', 100, 101, undefined, 100],
  ['not up to what was approved', 100, 500, 500, undefined],
  ['of what was approved, if that is more', 100, 501, 500, 500],
  ['of maxRowsPerRun, if less was approved', 100, 501, 50, 100],
])('a row limit holds %s', (_, most, rows, approved, expected) => {
  expect(rowLimit(most, rows, approved)).toBe(expected);
});

test('when time runs out, what was found so far is used; without anything the search says so', async () => {
  const ages = Array.from({ length: 100 }, (_, age) => age * 100 + 0.5);
  const whole = await search(ages, 10);
  const part = await search(ages, 10, whole.asked - 3);
  expect(part.found.kind).toBe('found');
  expect((await search(ages, 10, 2)).found).toEqual({ kind: 'no-time' });
});

test('for any rows: never more rows go, one hour more would be too many, in at most 22 questions', async () => {
  const ages = fc.array(fc.double({ min: 0, max: 60_000, noNaN: true }), { minLength: 2, maxLength: 200 });
  await holdsInTime(
    fc.asyncProperty(ages, fc.integer({ min: 1, max: 100 }), async (given, most) => {
      const maxRows = Math.min(most, given.length - 1);
      const { found, asked, rows } = await search(given, maxRows);
      expect(asked).toBeLessThanOrEqual(22);
      if (found.kind === 'found') {
        expect(found.dryRun.rowsToDelete).toBe(rows(found.cutoffMillis));
        expect(found.dryRun.rowsToDelete).toBeLessThanOrEqual(maxRows);
        expect(rows(found.cutoffMillis + hourMillis)).toBeGreaterThan(maxRows);
        return;
      }
      expect(found.kind).toBe('too-large');
      if (found.kind !== 'too-large') return;
      expect(found.rows).toBe(rows(found.cutoffMillis));
      expect(found.rows).toBeGreaterThan(maxRows);
      expect(rows(found.cutoffMillis - hourMillis)).toBe(0);
    }),
    300,
  );
});
