import { expect, test } from 'vitest';
import { enumerate } from './enumerate.ts';

test('two executions over one index, a fault at any step, every order: no history breaks a rule', async () => {
  const told = ['own', '504'] as const;
  const { states, complete, violations } = await enumerate({ strategy: 'delete-by-query', faults: 1, looks: 0, told });
  expect(violations).toEqual([]);
  expect(states).toBeGreaterThan(3000);
  expect(complete).toBeGreaterThan(100);
});
