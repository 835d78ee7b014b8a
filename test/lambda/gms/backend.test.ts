import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aliasFor, aliasOf, baseOf, madeAtOf, readTaskId } from '../../../lambda/gms/backend.ts';
import { holds } from '../../properties.ts';
import { anyText } from '../../support/arbitrary.ts';

const alias = 'dataset_operationaspect_v1';

describe('the name of a physical index', () => {
  test.each<[string, string, string, number | undefined]>([
    ['created with the installation', alias, alias, undefined],
    ['a reindex in place', `${alias}_1693050512123`, alias, 1_693_050_512_123],
    ['an upgrade without downtime', `${alias}_1_7_0-0_1754300000000`, alias, 1_754_300_000_000],
    ['one behind a prefix', `prod_${alias}_1693050512123`, `prod_${alias}`, 1_693_050_512_123],
    ['a version without a time', `${alias}_1_7_0-0`, alias, undefined],
    ['a digit too few', `${alias}_169305051212`, alias, undefined],
    ['a digit too many', `${alias}_16930505121234`, alias, undefined],
    ['another kind of index', 'datasetindex_v2_1693050512123', 'datasetindex_v2_1693050512123', undefined],
    ['nothing but the ending', 'aspect_v1', 'aspect_v1', undefined],
  ])('%s', (_, name, expected, madeAt) => {
    expect(aliasOf(name)).toBe(expected);
    expect(madeAtOf(name)).toBe(madeAt);
  });

  test('has a base only if it is that of a time series index', () => {
    expect(baseOf(`prod_${alias}_1693050512123`)).toBe('prod_dataset_operation');
    expect(baseOf('datasetindex_v2')).toBeUndefined();
  });
});

test('two spellings with one search index have one alias', () => {
  expect(aliasFor({ entityType: 'a_b', aspect: 'C' })).toBe(aliasFor({ entityType: 'a', aspect: 'b_c' }));
});

describe('a task id', () => {
  test.each(['qhxGdzytQS-pQek8CwBCZg:533446', 'n:1', '_-:9223372036854775807', '3f0c1d9e-8a55-4f0e-9a3e-0c6c5b1f2d77'])(
    '%s is accepted, with blanks around it',
    (taskId) => expect(readTaskId(` ${taskId}\n`)).toBe(taskId),
  );

  test.each([
    '',
    'hello',
    '123456:aB1cdEf2GHIJKLMnoPQr3S',
    'n:0',
    'n:00',
    'n:-1',
    ':12',
    'n:',
    'a b:12',
    'n:1:2',
    'Reindex dataset operation index',
    `${'n'.repeat(201)}:1`,
    'n:12345678901234567890',
  ])('is not found in "%s"', (text) => {
    expect(readTaskId(text)).toBeUndefined();
  });

  test('is a part of the text, for any text', () => {
    holds(
      fc.property(anyText(), (text) => {
        const read = readTaskId(text);
        expect(read === undefined || text.includes(read)).toBe(true);
      }),
    );
  });
});
