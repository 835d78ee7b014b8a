import { describe, expect, test } from 'vitest';
import type { Window } from '../../../lambda/ledger/record.ts';
import type { DryRun } from '../../../lambda/operations/operations.ts';
import { goneSince, piecesOf } from '../../../lambda/truncation/gone-since.ts';

/** The last verdict counted 100 rows in (10, 20]; this many rows exist up to each moment now. */
const window = { from: 10, to: 20, rows: 100 };
const found = (cutoff: number, upTo: Record<number, number>, parts?: Window[]) => {
  const asked: number[] = [];
  const at = (moment: number): DryRun => ({ rowsToDelete: upTo[moment] ?? 0, rowsTotal: 999 });
  const ask = async (moment: number) => {
    asked.push(moment);
    return at(moment);
  };
  return { gone: goneSince({ window, ...(parts && { parts }) }, cutoff, at(cutoff), ask), asked };
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
    const gone = await found(cutoff, upTo).gone;
    expect(gone && { expected: gone.expected, found: gone.found }).toEqual(expected);
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
    expect(
      await goneSince({ window: { ...window, rows: 0 } }, 10, { rowsToDelete: 0, rowsTotal: 0 }, never),
    ).toBeUndefined();
  });
});

describe('where the verdict counted the window in pieces', () => {
  const parts = [
    { from: 10, to: 12, rows: 70 },
    { from: 12, to: 16, rows: 10 },
    { from: 16, to: 20, rows: 20 },
  ];

  test.each<[string, number, Record<number, number>, object | undefined]>([
    ['old rows that others took since are not missed', 11, { 12: 0, 20: 30 }, undefined],
    [
      'half of the younger ones are missed',
      11,
      { 12: 0, 20: 14 },
      { expected: 30, found: 14, window: { from: 12, to: 20, rows: 30 } },
    ],
    ['a piece that begins at the cutoff is younger', 12, { 12: 70, 20: 84 }, { expected: 30, found: 14 }],
    ['a piece that the cutoff has reached is left out', 13, { 16: 5, 20: 14 }, { expected: 20, found: 9 }],
    ['no piece is younger', 17, {}, undefined],
    ['a cutoff that is older than the window compares it whole', 9, { 10: 0, 20: 49 }, { expected: 100, found: 49 }],
  ])('%s', async (_, cutoff, upTo, expected) => {
    const { gone } = found(cutoff, upTo, parts);
    if (expected) expect(await gone).toMatchObject(expected);
    else expect(await gone).toBeUndefined();
  });
});

describe('the pieces of a window', () => {
  const day = 86_400_000;

  test('begin behind the cutoffs of the next nights', () => {
    expect(piecesOf({ from: 0, to: 30 * day, rows: 1 })).toEqual([1.5 * day, 5 * day, 12 * day]);
  });

  test('of a bite leave its backlog out', () => {
    expect(piecesOf({ from: 0, to: 40 * day, rows: 1 }, 10 * day)).toEqual([10, 11.5, 15, 22].map((at) => at * day));
  });

  test('of a short window are quarters of it', () => {
    expect(piecesOf({ from: 0, to: 4 * day, rows: 1 })).toEqual([day, 2 * day, 3 * day]);
  });

  test('are none where the next cutoff passes all of it', () => {
    expect(piecesOf({ from: 0, to: day - 1, rows: 1 })).toEqual([]);
    expect(piecesOf({ from: 0, to: 9 * day, rows: 1 }, 9 * day)).toEqual([]);
  });
});
