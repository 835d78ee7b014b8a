import { describe, expect, test } from 'vitest';
import type { DryRun } from '../../../lambda/operations/operations.ts';
import { goneSince } from '../../../lambda/truncation/gone-since.ts';

/** The last verdict counted 100 rows in (10, 20]; so many rows stand up to each moment now. */
const window = { from: 10, to: 20, rows: 100 };
const found = (cutoff: number, upTo: Record<number, number>) => {
  const asked: number[] = [];
  const at = (moment: number): DryRun => ({ rowsToDelete: upTo[moment] ?? 0, rowsTotal: 999 });
  const ask = async (moment: number) => {
    asked.push(moment);
    return at(moment);
  };
  return { gone: goneSince(window, cutoff, at(cutoff), ask), asked };
};

describe('rows gone since the last verdict', () => {
  test.each<[string, number, Record<number, number>, unknown]>([
    ['all there, the same cutoff', 10, { 10: 5, 20: 105 }, undefined],
    ['half there', 10, { 10: 5, 20: 55 }, undefined],
    ['fewer', 10, { 10: 5, 20: 54 }, { expected: 100, found: 49 }],
    ['none there', 10, { 10: 5, 20: 5 }, { expected: 100, found: 0 }],
    ['counts that contradict themselves', 10, { 10: 5, 20: 0 }, { expected: 100, found: 0 }],
    ['all there, a cutoff that is older now', 5, { 10: 5, 20: 105 }, undefined],
    ['too few, a cutoff that is older now', 5, { 5: 1, 10: 5, 20: 54 }, { expected: 100, found: 49 }],
    ['half of what today’s cutoff has left', 15, { 10: 0, 15: 80, 20: 100 }, undefined],
    ['less than half of what today’s cutoff has left', 15, { 10: 0, 15: 80, 20: 89 }, { expected: 20, found: 9 }],
    ['overtaken rows alone, in a window that is whole', 15, { 10: 0, 15: 100, 20: 100 }, undefined],
    ['late rows below the window', 15, { 10: 500, 15: 580, 20: 589 }, { expected: 20, found: 9 }],
    ['more overtaken than were there', 15, { 10: 0, 15: 300, 20: 301 }, undefined],
    ['overtaken rows that came late, below the window', 15, { 10: 500, 15: 560, 20: 580 }, undefined],
  ])('%s', async (_, cutoff, upTo, expected) => {
    expect(await found(cutoff, upTo).gone).toEqual(expected);
  });

  test.each([
    ['half of them', 55],
    ['all of them', 95],
  ])('are none where %s are there, whatever today’s cutoff has overtaken: no more is asked', async (_, upToEnd) => {
    const { gone, asked } = found(15, { 15: 5, 20: upToEnd });
    expect(await gone).toBeUndefined();
    expect(asked).toEqual([20]);
  });

  test('are none where the whole window may go by now, and nothing is asked', async () => {
    for (const cutoff of [20, 21]) {
      const { gone, asked } = found(cutoff, {});
      expect(await gone).toBeUndefined();
      expect(asked).toEqual([]);
    }
  });

  test('are none where the window held nothing', async () => {
    const never = async (): Promise<DryRun> => {
      throw new Error('asked');
    };
    expect(await goneSince({ ...window, rows: 0 }, 10, { rowsToDelete: 0, rowsTotal: 0 }, never)).toBeUndefined();
  });
});
