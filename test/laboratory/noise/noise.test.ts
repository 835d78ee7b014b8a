import { expect, test } from 'vitest';
import { liveNoise } from './nights.ts';
import { isQuiet } from './noise.ts';

// Three months, with ambiguous answers and upgrades among them, are `npm run faults -- --noise`, which `.ci/run` does.
test('five nights of an ordinary production: nothing stuck, nothing closed that is whole, and all of them ok', async () => {
  const noise = await liveNoise(7, 5);
  expect(noise.truncates).toBeGreaterThan(11);
  expect(noise.nights.map(({ result }) => result)).toEqual(Array(5).fill('ok'));
  expect({ stuck: noise.stuck, closed: noise.falseQuarantines }).toEqual({ stuck: [], closed: [] });
  expect(isQuiet(noise)).toBe(true);
});
