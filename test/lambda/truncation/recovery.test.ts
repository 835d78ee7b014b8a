import { describe, expect, test } from 'vitest';
import { recoveryFacts } from '../../../lambda/truncation/recovery.ts';

const old = 'dataset_operationaspect_v1_1693050512123';
const now = 'dataset_operationaspect_v1_1793050512123';

describe('where missing rows are', () => {
  test('is the index before, until an upgrade deletes it: 60 days after it was made', () => {
    expect(recoveryFacts(old, now)).toEqual({ rowsIn: old, deadline: 1_693_050_512_123 + 60 * 86_400_000 });
  });

  test('has no deadline if the name has no time', () => {
    expect(recoveryFacts('dataset_operationaspect_v1', now)).toEqual({ rowsIn: 'dataset_operationaspect_v1' });
  });

  test.each([
    [old, old],
    [undefined, now],
    [old, undefined],
  ])('is unknown for %s and %s', (before, after) => {
    expect(recoveryFacts(before, after)).toStrictEqual({});
  });
});
