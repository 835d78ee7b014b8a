import { expect, test } from 'vitest';
import { enumerate } from './enumerate.ts';

test('two executions over one index, a fault at any step: the first orders of their steps break no rule', async () => {
  const told = ['own', '504'] as const;
  // `npm run faults -- --enumerate` plays all of them.
  const size = { strategy: 'delete-by-query', faults: 1, looks: 0, told, recorded: false, mostHistories: 40 } as const;
  const { states, complete, violations } = await enumerate(size);
  expect(violations).toEqual([]);
  expect(states).toBeGreaterThan(100);
  expect(complete).toBeGreaterThan(3);
});
