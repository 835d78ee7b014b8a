import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { baseOf, createdAtOf, readTaskId } from '../../../lambda/gms/backend.ts';
import { holds } from '../../properties.ts';
import { anyText } from '../../support/arbitrary.ts';

const alias = 'dataset_operationaspect_v1';

describe('the name of a physical index', () => {
  const base = 'dataset_operation';
  test.each<[string, string, string | undefined, number | undefined]>([
    ['created with the installation', alias, base, undefined],
    ['a reindex in place', `${alias}_1693050512123`, base, 1_693_050_512_123],
    ['an upgrade without downtime', `${alias}_1_7_0-0_1754300000000`, base, 1_754_300_000_000],
    ['one behind a prefix', `prod_${alias}_1693050512123`, `prod_${base}`, 1_693_050_512_123],
    ['a version without a time', `${alias}_1_7_0-0`, base, undefined],
    ['a digit too few', `${alias}_169305051212`, base, undefined],
    ['a digit too many', `${alias}_16930505121234`, base, undefined],
    ['another kind of index', 'datasetindex_v2_1693050512123', undefined, undefined],
    ['nothing but the ending', 'aspect_v1', undefined, undefined],
  ])('%s', (_, name, expected, madeAt) => {
    expect(baseOf(name)).toBe(expected);
    expect(createdAtOf(name)).toBe(madeAt);
  });
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
