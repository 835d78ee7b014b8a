import { describe, expect, test } from 'vitest';
import {
  aliasFor,
  aliasOf,
  baseOf,
  expungeRequest,
  isUpgraded,
  madeAtOf,
  mayBeCopiedUntil,
  type PhysicalName,
  physicalNameOf,
  stopRequest,
  taskRequest,
} from '../../../lambda/operations/backend.ts';

const alias = 'dataset_operationaspect_v1';

describe('the name of a physical index', () => {
  test.each<[string, string | undefined, PhysicalName | undefined]>([
    ['created with the installation', alias, { alias, isReindexed: false }],
    ['a reindex in place', `${alias}_1693050512123`, { alias, madeAt: 1_693_050_512_123, isReindexed: true }],
    [
      'an upgrade without downtime',
      `${alias}_1_7_0-0_1754300000000`,
      { alias, madeAt: 1_754_300_000_000, isReindexed: false },
    ],
    [
      'an upgrade behind a prefix',
      `prod_${alias}_1_7_0-0_1754300000000`,
      { alias: `prod_${alias}`, madeAt: 1_754_300_000_000, isReindexed: false },
    ],
    [
      'a reindex in place behind a prefix',
      `prod_${alias}_1693050512123`,
      { alias: `prod_${alias}`, madeAt: 1_693_050_512_123, isReindexed: true },
    ],
    ['the first one behind a prefix', `prod_${alias}`, { alias: `prod_${alias}`, isReindexed: false }],
    [
      'two timestamps',
      `${alias}_1693050512123_1754300000000`,
      { alias, madeAt: 1_754_300_000_000, isReindexed: false },
    ],
    ['a version without a time', `${alias}_1_7_0-0`, { alias, isReindexed: false }],
    ['a digit too few', `${alias}_169305051212`, { alias, isReindexed: false }],
    ['a digit too many', `${alias}_16930505121234`, { alias, isReindexed: false }],
    ['something after the time', `${alias}_1693050512123_x`, { alias, isReindexed: false }],
    ['an entity index', 'datasetindex_v2_1693050512123', undefined],
    ['nothing but the ending', 'aspect_v1', undefined],
    ['no name', undefined, undefined],
  ])('%s', (_, name, expected) => {
    expect(physicalNameOf(name)).toEqual(expected);
    expect(madeAtOf(name)).toBe(expected?.madeAt);
  });

  test('distinguishes an upgrade’s index from every other', () => {
    const names = [`${alias}_1_7_0-0_1754300000000`, `${alias}_1754300000000`, alias, undefined];
    expect(names.map(isUpgraded)).toEqual([true, false, false, false]);
  });

  test('says how long a copy into it may go on: 36 h, or 14 days for an upgrade’s', () => {
    const madeAt = 1_754_300_000_000;
    const hours = (name: string) => ((mayBeCopiedUntil(name) ?? Number.NaN) - madeAt) / 3_600_000;
    expect(hours(`${alias}_${madeAt}`)).toBe(36);
    expect(hours(`${alias}_1_7_0-0_${madeAt}`)).toBe(14 * 24);
    expect(mayBeCopiedUntil(alias)).toBeUndefined();
  });

  test('leads back to the alias, whether DataHub, an upgrade or a reindex made the index', () => {
    for (const name of [alias, `${alias}_1754300000000`, `${alias}_1_7_0-0_1754300000000`]) {
      expect([aliasOf(name), baseOf(name)]).toEqual([alias, 'dataset_operation']);
    }
    expect([aliasOf('datasetindex_v2'), baseOf('datasetindex_v2')]).toEqual(['datasetindex_v2', undefined]);
  });
});

test('two spellings with one search index have one alias', () => {
  expect(aliasFor({ entityType: 'a_b', aspect: 'C' })).toBe(aliasFor({ entityType: 'a', aspect: 'b_c' }));
});

test('only a task of the search engine has requests that show and stop it', () => {
  const task = 'aB1cdEf2GHIJKLMnoPQr3S:123';
  expect([taskRequest(task), stopRequest(task)]).toEqual([`GET _tasks/${task}`, `POST _tasks/${task}/_cancel`]);
  for (const other of ['3f0c1d9e-8a55-4f0e-9a3e-0c6c5b1f2d77', 'node:1/_all', undefined]) {
    expect([taskRequest(other), stopRequest(other)]).toEqual([undefined, undefined]);
  }
});

test('deleted rows are expunged without merging everything into one segment', () => {
  expect(expungeRequest(alias)).toBe(`POST /${alias}/_forcemerge?only_expunge_deletes=true`);
});
