import { expect, test } from 'vitest';
import { played, situations } from './situations.ts';

test.each(situations.map((situation) => [situation.name, situation] as const))('%s', async (_, situation) => {
  expect(await played(situation)).toBeUndefined();
});
