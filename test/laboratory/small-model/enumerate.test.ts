import { expect, test } from 'vitest';
import { enumerate } from './enumerate.ts';

test('two executions over one index, a fault at any step: the first orders of their steps break no rule', async () => {
  // `npm run faults -- --enumerate` plays all of them.
  const size = {
    server: 'deletes in place',
    faults: 1,
    checks: 0,
    answers: 'few',
    second: 'at any time',
    mostHistories: 40,
  } as const;
  const { states, complete, violations } = await enumerate(size);
  expect(violations).toEqual([]);
  expect(states).toBeGreaterThan(100);
  expect(complete).toBeGreaterThan(3);
});
