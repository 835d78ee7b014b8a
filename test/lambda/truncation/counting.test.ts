import { describe, expect, test } from 'vitest';
import type { DryRun, TruncateFields } from '../../../lambda/operations/operations.ts';
import { countWindow, physicalIndex } from '../../../lambda/truncation/counting.ts';

const fields: TruncateFields = { entityType: 'dataset', aspect: 'operation', endTimeMillis: 100 };

const loose = { runStart: 200, exact: false };
const exact = { runStart: 200, latelyUntil: 300, exact: true };

/** A server that answers the cutoff's counts from a list, and the window's with one number. */
function server(cutoffCounts: number[], windowCount: number) {
  const asked: number[] = [];
  const ask = async ({ endTimeMillis }: TruncateFields): Promise<DryRun> => {
    asked.push(endTimeMillis);
    const rowsToDelete =
      endTimeMillis === 100 ? (cutoffCounts.length > 1 ? cutoffCounts.shift()! : cutoffCounts[0]!) : windowCount;
    return { rowsToDelete, rowsTotal: 10_000, strategy: 'delete-by-query' };
  };
  return { ask, asked };
}

describe('counting the kept rows over the closed window', () => {
  test('takes the cutoff before and after, and ends with a dry run of the very fields', async () => {
    const { ask, asked } = server([600], 1000);
    expect(await countWindow(ask, fields, loose)).toMatchObject({
      rowsToDelete: 600,
      rowsKept: 400,
      rowsTotal: 10_000,
    });
    expect(asked).toEqual([100, 200, 100]);
  });

  test('counts again when the two differ by more than 1 %', async () => {
    const { ask, asked } = server([600, 500, 500], 1000);
    expect(await countWindow(ask, fields, loose)).toMatchObject({ rowsToDelete: 500, rowsKept: 500 });
    expect(asked).toEqual([100, 200, 100, 200, 100]);
  });

  test('counts again, too, when 1 % of the rows to delete would hide a loss among few kept rows', async () => {
    const { ask, asked } = server([100_000, 99_500, 99_500], 99_600);
    expect(await countWindow(ask, fields, loose)).toMatchObject({ rowsKept: 100 });
    expect(asked).toHaveLength(5);
  });

  test('for a reindex counts a second window, and bears no difference at all', async () => {
    const { ask, asked } = server([600, 599, 599], 1000);
    expect(await countWindow(ask, fields, exact)).toMatchObject({ rowsKept: 401, rowsKeptLately: 401 });
    expect(asked).toEqual([100, 200, 300, 100, 200, 300, 100]);
  });

  test('gives up when the counts keep moving', async () => {
    const { ask } = server([600, 500, 400, 300, 200], 1000);
    expect(await countWindow(ask, fields, loose)).toBeUndefined();
  });

  test('does not believe in fewer rows in the window than before the cutoff', async () => {
    const { ask } = server([600], 500);
    expect(await countWindow(ask, fields, loose)).toBeUndefined();
  });
});

describe('the physical index', () => {
  const sizes = [
    { indexName: 'a_1', entityType: 'dataset', aspect: 'operation', sizeMb: 1 },
    { indexName: 'b_1', entityType: 'dataset', aspect: 'datasetprofile' },
    { indexName: 'b_2', entityType: 'dataset', aspect: 'datasetprofile' },
  ];

  test('is found without regard to case', () => {
    expect(physicalIndex(sizes, 'Dataset', 'Operation')?.indexName).toBe('a_1');
  });

  test('is unknown when there are several, none, or no sizes', () => {
    expect(physicalIndex(sizes, 'dataset', 'datasetProfile')).toBeUndefined();
    expect(physicalIndex(sizes, 'chart', 'x')).toBeUndefined();
    expect(physicalIndex(undefined, 'dataset', 'operation')).toBeUndefined();
  });
});
