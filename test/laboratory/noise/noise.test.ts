import { expect, test } from 'vitest';
import { liveNoise } from './nights.ts';
import { isQuiet } from './noise.ts';

test('twelve nights of an ordinary production, two with ambiguous answers: nothing stuck, nothing closed that is whole', async () => {
  const noise = await liveNoise(7, 12);
  expect(noise.truncates).toBeGreaterThan(11);
  expect(noise.nights.slice(0, 9).map(({ result }) => result)).toEqual(Array(9).fill('ok'));
  expect({ stuck: noise.stuck, closed: noise.falseQuarantines }).toEqual({ stuck: [], closed: [] });
  expect(isQuiet(noise)).toBe(true);
});
