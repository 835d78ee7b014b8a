import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import { type Lived, livedByUs } from '../named/lived.ts';
import type { Situation } from '../named/situations.ts';
import type { World } from '../world/world.ts';

/** What happens if a ledger is not the only one, or not the latest, as docs/testing.md says. */

const profile = '0.13.2-1.1';

const twice = (secondAfterSeconds: number, wire: (world: World) => void): Situation => ({
  name: 'an assumption does not hold',
  profiles: [profile],
  old: 'some',
  server: { rowsPerSecond: 2, batchOverheadMillis: 100 },
  secondAfterSeconds,
  wire,
});

const told = ({ said, sent, rowsLost }: Lived) => ({ said, sent, rowsLost });

describe('two stages on one server (one-stage)', () => {
  const apart = (seconds: number) =>
    twice(seconds, (world) => {
      world.ledger.open = () => memoryLedger();
    });

  test.each([0, 1, 30])('that delete %s s apart lose nothing, and the slower one is incomplete', async (seconds) => {
    const lived = await livedByUs(apart(seconds), profile, 'delete-by-query');
    expect(told(lived)).toEqual({ said: 'truncated / incomplete', sent: 2, rowsLost: 0 });
  });

  test.each([
    [1, 'not-started'],
    [30, 'nothing-to-delete'],
  ])('that reindex %s s apart: the second does not start (%s)', async (seconds, second) => {
    const lived = await livedByUs(apart(seconds), profile, 'reindex');
    expect(told(lived)).toEqual({ said: `${second} / truncated`, sent: 1, rowsLost: 0 });
  });

  test('that reindex in the same second leave rows behind, and both reports say so', async () => {
    const lived = await livedByUs(apart(0.1), profile, 'reindex');
    expect(told(lived)).toEqual({ said: 'rows-missing / rows-missing', sent: 2, rowsLost: 400 });
  });
});

describe('a ledger restored to the day before while a truncation runs (ledger-kept)', () => {
  const restored = twice(60, (world) => {
    world.time.at(world.time.now() + 30_000, () => world.ledger.records.clear());
  });

  test('lets a second delete begin, which loses nothing', async () => {
    const lived = await livedByUs(restored, profile, 'delete-by-query');
    expect(told(lived)).toEqual({ said: 'unknown / truncated', sent: 2, rowsLost: 0 });
  });

  test('lets no second reindex begin', async () => {
    const lived = await livedByUs(restored, profile, 'reindex');
    expect(told(lived)).toEqual({ said: 'unknown / nothing-to-delete', sent: 1, rowsLost: 0 });
  });
});
