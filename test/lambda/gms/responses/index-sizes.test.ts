import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readIndexSizes } from '../../../../lambda/gms/responses/index-sizes.ts';
import { Unreadable } from '../../../../lambda/gms/responses/server-text.ts';
import { holds } from '../../../properties.ts';

const usage = {
  indexName: 'dataset_datasetusagestatisticsaspect_v1_1693050512123',
  entityName: 'dataset',
  aspectName: 'datasetusagestatistics',
  sizeInMb: 8078.398031,
};
const usageRead = {
  indexName: usage.indexName,
  entityType: 'dataset',
  aspect: 'datasetusagestatistics',
  sizeMb: 8078.398031,
};
const sizesOf = (...rows: unknown[]) => {
  const read = readIndexSizes({ value: { indexSizes: rows } });
  if (read instanceof Unreadable) throw new Error(read.excerpt);
  return read;
};

describe('index sizes', () => {
  test.each([
    ['a value that is an object, as servers send it', { value: { indexSizes: [usage] } }],
    ['a value that is a string, as the documentation says', { value: JSON.stringify({ indexSizes: [usage] }) }],
    ['no envelope', { indexSizes: [usage] }],
    ['the old field beside the new one', { value: { indexSizes: [{ ...usage, sizeMb: 0.0 }] } }],
    ['a size as text', { value: { indexSizes: [{ ...usage, sizeInMb: '8078.398031' }] } }],
  ])('are read from %s', (_, answer) => {
    expect(readIndexSizes(answer)).toEqual([usageRead]);
  });

  test('correct the old field, which is a thousand times too large, and do without any', () => {
    expect(sizesOf({ indexName: 'x', sizeMb: 0.208 }, { indexName: 'y' }, { indexName: 'z', sizeInMb: -1 })).toEqual([
      { indexName: 'x', sizeMb: 0.000208 },
      { indexName: 'y' },
      { indexName: 'z' },
    ]);
  });

  test('derive missing names behind the prefix of the other rows', () => {
    const named = { indexName: 'prod_eu_dataset_operationaspect_v1', entityName: 'dataset', aspectName: 'operation' };
    expect(sizesOf(named, { indexName: 'prod_eu_chart_chartusagestatisticsaspect_v1' })[1]).toEqual({
      indexName: 'prod_eu_chart_chartusagestatisticsaspect_v1',
      entityType: 'chart',
      aspect: 'chartusagestatistics',
    });
  });

  test.each([
    ['a custom entity with underscores', 'my_entity_operationaspect_v1'],
    ['no entity', '_operationaspect_v1'],
    ['no aspect', 'dataset_aspect_v1'],
  ])('leave names out for %s', (_, indexName) => {
    expect(sizesOf({ indexName })).toEqual([{ indexName }]);
  });

  test('leave names out when other rows disagree about the prefix', () => {
    const rows = ['a_', 'b_'].map((prefix) => ({
      indexName: `${prefix}dataset_operationaspect_v1`,
      entityName: 'dataset',
      aspectName: 'operation',
    }));
    expect(sizesOf(...rows, { indexName: 'a_chartaspect_v1' })[2]).toEqual({ indexName: 'a_chartaspect_v1' });
  });

  test('of a Postgres backend have no names, because one table holds all aspects', () => {
    const row = { indexName: 'public.metadata_timeseries_aspect', entityName: '*', aspectName: '*', sizeInMb: 123.4 };
    expect(sizesOf(row)).toEqual([{ indexName: 'public.metadata_timeseries_aspect', sizeMb: 123.4 }]);
  });

  test('skip rows without a name', () => {
    expect(sizesOf(null, 3, [], {}, { indexName: ' ' }, { indexName: 5 }, usage)).toEqual([usageRead]);
  });

  test.each([
    ['a sentence', { value: 'User is unauthorized to get index sizes.' }],
    ['an object without rows', { value: {} }],
    ['rows that are not a list', { value: { indexSizes: 'none' } }],
    ['nothing', null],
  ])('cannot be read from %s', (_, answer) => {
    expect(readIndexSizes(answer)).toBeInstanceOf(Unreadable);
  });

  test('do not throw on any JSON', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const row = fc.record({ indexName: value, entityName: value, aspectName: value, sizeInMb: value, sizeMb: value });
    holds(
      fc.property(fc.oneof(value, fc.array(row)), (rows) => {
        for (const shape of [rows, { value: rows }, { value: { indexSizes: rows } }]) {
          expect(() => readIndexSizes(shape)).not.toThrow();
        }
      }),
    );
  });

  test('round-trip any entity and aspect name, with and without the time of a reindex', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9]{0,20}$/);
    holds(
      fc.property(name, name, fc.boolean(), (entityType, aspect, reindexed) => {
        const indexName = `${entityType}_${aspect}aspect_v1${reindexed ? '_1693050512123' : ''}`;
        expect(sizesOf({ indexName })).toEqual([{ indexName, entityType, aspect }]);
      }),
    );
  });
});

const hostile = ['a\u001b[2Jaspect_v1', 'a\rbaspect_v1', 'x\nDELETE /_all\naspect_v1', 'a b', 'x'.repeat(300)];

test.each(hostile)('leaves out an index name that is not valid: %j', (indexName) => {
  expect(sizesOf({ indexName, sizeInMb: 1 })).toEqual([]);
});
