import { describe, expect, test } from 'vitest';
import { type Operations, OperationsError, type TruncateFields } from '../../../lambda/gms/operations.ts';
import {
  countFields,
  countRows,
  countTruncation,
  countWindow,
  truncateFields,
} from '../../../lambda/truncation/counts.ts';
import { physicalIndex, readSizes } from '../../../lambda/truncation/sizes.ts';
import { aPolicy } from '../../support/policies.ts';
import { anAttempt } from '../../support/records.ts';

/** Counting by cutoffs; the transcripts show which, in which order, and what they add up to. */

/** An index with one row at each of these moments; remembers the cutoffs that it was asked for. */
function anIndexWith(...timestamps: number[]) {
  const asked: TruncateFields[] = [];
  return {
    asked,
    cutoffs: () => asked.map(({ cutoffMillis }) => cutoffMillis),
    async ask(fields: TruncateFields) {
      asked.push(fields);
      const rowsToDelete = timestamps.filter((timestamp) => timestamp <= fields.cutoffMillis).length;
      return { rowsToDelete, rowsTotal: timestamps.length, method: 'delete' as const };
    },
  };
}

const fields = anAttempt().fields;
const failing = (kind: 'no-index' | 'server-error') => async () => {
  throw new OperationsError({ kind, operation: 'dry-run', status: 500 });
};

describe('a truncation is counted', () => {
  const given = { fields, policyCutoffMillis: 500_000, countedAtMillis: 1_000_000 };

  test('with the fields that name an index, and nothing that only a truncate needs', async () => {
    const index = anIndexWith(1);
    await countTruncation(index.ask, given);
    expect(index.asked[0]).toEqual({
      entityType: 'dataset',
      aspect: 'operation',
      batchSize: 10_000,
      cutoffMillis: 500_000,
    });
  });

  test('never as less than nothing, where rows come in between the two counts', async () => {
    let count = 10;
    const shrinking = async () => ({ rowsToDelete: count--, rowsTotal: 10, method: 'delete' as const });
    expect((await countTruncation(shrinking, given)).rowsToKeep).toBe(0);
  });
});

test('an index that the search engine does not know has no rows; any other failure is one', async () => {
  expect(await countRows(failing('no-index'), fields, { a: 1, b: 2 })).toEqual({
    rows: { a: 0, b: 0 },
    isAbsent: true,
    isEmpty: true,
  });
  await expect(countRows(failing('server-error'), fields, { a: 1 })).rejects.toThrow(OperationsError);
});

test.each([
  ['know the index', failing('no-index'), OperationsError],
  [
    'find rows in it',
    async () => ({ rowsToDelete: 0, rowsTotal: 0, method: 'delete' as const }),
    'dry-run contradiction',
  ],
])('where only some of the answers %s, nothing is counted: two servers have answered', async (_, odd, error) => {
  const usual = async () => ({ rowsToDelete: 5, rowsTotal: 9, method: 'delete' as const });
  for (const at of [1, 2]) {
    const ask = ({ cutoffMillis }: { cutoffMillis: number }) => (cutoffMillis === at ? odd() : usual());
    await expect(countRows(ask, fields, { a: 1, b: 2 }), String(at)).rejects.toThrow(error);
  }
});

describe('the window between two runs', () => {
  const counted = { rowsLeft: 0, rowsToKeep: 3, rowsUntilEnd: 4 };

  test('is none where this count finds an empty index, and the check before it found rows', async () => {
    const ask = async () => ({ rowsToDelete: 0, rowsTotal: 0, method: 'delete' as const });
    await expect(countWindow(ask, anAttempt(), counted, 1_300_000)).rejects.toThrow('dry-run contradiction');
    const none = { ...counted, rowsToKeep: 0, rowsUntilEnd: 0 };
    expect(await countWindow(ask, anAttempt(), none, 1_300_000)).toMatchObject({ rows: 0 });
  });

  test('is none where the index is not known', async () => {
    expect(await countWindow(failing('no-index'), anAttempt(), counted, 1_300_000)).toBeUndefined();
  });
});

test('a request leaves out the field that the server refuses, and a time-out that the policy has not', () => {
  expect(JSON.parse(JSON.stringify(truncateFields(aPolicy(), 42, true)))).toEqual({
    entityType: 'dataset',
    aspect: 'operation',
    cutoffMillis: 42,
    batchSize: 10_000,
  });
  expect(countFields(truncateFields(aPolicy({ timeoutSeconds: 3 }), 42, false), 7)).not.toHaveProperty(
    'timeoutSeconds',
  );
});

describe('the physical index', () => {
  const size = { indexName: 'dataset_operationaspect_v1_1', entityType: 'DATASET', aspect: 'Operation' };
  const names = { entityType: 'dataset', aspect: 'operation' };
  test.each([
    ['is found in any spelling', [size, { indexName: 'x' }], size.indexName],
    ['is not known where sizes are not', undefined, undefined],
    ['is not known where two answer to the name', [size, { ...size, indexName: 'other' }], undefined],
    ['is not known where names are missing', [{ indexName: size.indexName }], undefined],
  ])('%s', (_, sizes, expected) => {
    expect(physicalIndex(sizes, names)?.indexName).toBe(expected);
  });
});

test('sizes are asked for once, until the step’s time is over', async () => {
  const { signal } = new AbortController();
  const given: unknown[] = [];
  const indexSizes: Operations['indexSizes'] = async (options) => {
    given.push(options);
    return [];
  };
  await readSizes({ indexSizes }, signal);
  expect(given).toEqual([{ signal, attempts: 1 }]);
});
