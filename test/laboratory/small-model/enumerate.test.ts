import { expect, test } from 'vitest';
import { enumerate } from './enumerate.ts';

test.each(['delete-by-query', 'reindex'] as const)(
  'two executions over one index, a fault at any step, every order, %s: no history breaks a rule',
  async (strategy) => {
    const { states, complete, violations } = await enumerate(strategy, 1, 0);
    expect(violations).toEqual([]);
    expect(states).toBeGreaterThan(3000);
    expect(complete).toBeGreaterThan(100);
  },
);
