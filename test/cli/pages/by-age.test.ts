import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitten, byAge } from '../../../cli/pages/by-age.ts';

const sum = (parts: ReadonlyArray<{ rows: number }>) => parts.reduce((all, { rows }) => all + rows, 0);
const older = new Map([
  [30, 900],
  [90, 500],
  [180, 200],
]);

describe('rows by age', () => {
  it('are sorted with the oldest first, on both sides of the cutoff', () => {
    expect(byAge(1000, older, [{ days: 90, rows: 500, fate: 'goes' }])).toEqual([
      { fate: 'goes', rows: 200, from: 180 },
      { fate: 'goes', rows: 300, from: 90, to: 180 },
      { fate: 'stays', rows: 400, from: 30, to: 90 },
      { fate: 'stays', rows: 100, to: 30 },
    ]);
  });

  it('keep the number by which the run decided if later counts are higher', () => {
    const parts = byAge(1000, new Map([[180, 600]]), [{ days: 90, rows: 500, fate: 'goes' }]);
    expect(sum(parts.filter(({ fate }) => fate === 'goes'))).toBe(500);
  });

  it('add up to the total, however the counts contradict each other', () => {
    const rows = fc.nat(2000);
    fc.assert(
      fc.property(rows, fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), rows)), rows, (total, counts, cut) => {
        const parts = byAge(total, new Map(counts), [{ days: 90, rows: Math.min(cut, total), fate: 'goes' }]);
        expect(sum(parts)).toBe(total);
        for (const part of parts) expect(part.rows).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('a bite', () => {
  const parts = byAge(1000, older, [{ days: 90, rows: 500, fate: 'goes' }]);

  it('takes the oldest rows now, and the rest of what goes later', () => {
    expect(bitten(parts, 250).map(({ fate, rows }) => [fate, rows])).toEqual([
      ['goes', 200],
      ['goes', 50],
      ['later', 250],
      ['stays', 400],
      ['stays', 100],
    ]);
  });

  it('that is larger than the rows to delete changes nothing', () => {
    expect(bitten(parts, 10_000)).toEqual(parts);
  });
});
