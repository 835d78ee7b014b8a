import { expect, test } from 'vitest';
import type { Operations } from '../../../lambda/gms/operations.ts';
import { readSizes } from '../../../lambda/truncation/sizes.ts';

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
