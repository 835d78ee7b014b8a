import { describe, expect, test } from 'vitest';
import type { AttemptWindow } from '../../../lambda/ledger/record.ts';
import { goneSince, sinceMillis, windowSince } from '../../../lambda/truncation/gone-since.ts';
import { aSentAttempt } from '../../support/records.ts';

const day = 86_400_000;

describe('rows gone since the last verdict', () => {
  /** The verdict counted `rows` in (10, 20]; `left` of them are there now, above 5 older ones. */
  const found = async (left: number, { cutoff = 10, rows = 100 } = {}) => {
    const asked: number[] = [];
    const upTo = async (moment: number) => {
      asked.push(moment);
      return moment === 20 ? 5 + left : 5;
    };
    return { gone: await goneSince({ from: 10, to: 20, rows }, cutoff, upTo), asked };
  };

  test.each<[string, number, { cutoff?: number; rows?: number }, unknown]>([
    ['all of them are there', 100, {}, undefined],
    ['half of them are there', 50, {}, undefined],
    ['less than half are', 49, {}, { found: 49 }],
    ['none is', 0, {}, { found: 0 }],
    ['the counts contradict each other', -3, {}, { found: 0 }],
    ['the cutoff is older than the window', 49, { cutoff: 5 }, { found: 49 }],
    ['ten of a few are gone', 5, { rows: 15 }, undefined],
    ['eleven of a few are gone', 5, { rows: 16 }, { found: 5 }],
  ])('where %s', async (_, left, given, expected) => {
    expect((await found(left, given)).gone).toEqual(expected);
  });

  test('are counted from the younger end first, so that deletions in between do not look like a loss', async () => {
    expect((await found(100)).asked).toEqual([20, 10]);
  });

  test('are not missed where old rows come in between the two counts', async () => {
    const counts = [100, 60, 160];
    const asked: number[] = [];
    const gone = await goneSince({ from: 10, to: 20, rows: 100 }, 10, async (at) => {
      asked.push(at);
      return counts[asked.length - 1]!;
    });
    expect({ gone, asked }).toEqual({ gone: undefined, asked: [20, 10, 20] });
  });

  test.each([
    ['the cutoff has reached the window', { cutoff: 11 }],
    ['the window held too few to miss', { rows: 10 }],
  ])('are not counted if %s', async (_, given) => {
    expect(await found(0, given)).toEqual({ gone: undefined, asked: [] });
  });
});

describe('the window that a verdict keeps', () => {
  const attempt = aSentAttempt({
    runStartMillis: 100 * day,
    fields: { ...aSentAttempt().fields, endTimeMillis: 60 * day },
  });
  const kept: AttemptWindow = { role: 'kept', from: 60 * day, to: 100 * day, rows: 500 };
  const after = { rowsToDelete: 30, rowsTotal: 1000, windows: [kept], dryRun: { rowsToDelete: 30, rowsTotal: 1000 } };

  test('begins a quarter of the way from the policy’s cutoff to the run’s start', () => {
    expect(sinceMillis(attempt)).toBe(70 * day);
    expect(sinceMillis({ ...attempt, policyCutoffMillis: 80 * day })).toBe(85 * day);
    expect(sinceMillis({ ...attempt, runStartMillis: 60 * day + 1 })).toBe(60 * day);
  });

  test('counts the younger rows, up to the run’s start', () => {
    const window = { from: 70 * day, to: 100 * day, rows: 380 };
    expect(windowSince(attempt, after, { rowsToDelete: 150, rowsTotal: 1000 })).toEqual(window);
    expect(windowSince(attempt, after, { rowsToDelete: 530, rowsTotal: 1000 })).toEqual({ ...window, rows: 0 });
  });

  test.each([
    ['rows went between the counts', after, { rowsToDelete: 150, rowsTotal: 999 }],
    ['the counts contradict each other', after, { rowsToDelete: 531, rowsTotal: 1000 }],
    ['what is kept was not counted', { ...after, windows: [] }, { rowsToDelete: 0, rowsTotal: 1000 }],
  ])('is unknown if %s', (_, counts, older) => {
    expect(windowSince(attempt, counts, older)).toBeUndefined();
  });
});
