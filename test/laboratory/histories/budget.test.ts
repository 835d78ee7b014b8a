import { expect, test } from 'vitest';
import { maxHistoryEvents } from '../../../lambda/facts/limits.ts';
import { bytesOf, maxStateBytes } from '../../support/states.ts';
import { weathers } from '../alphabet/weather.ts';
import { eventsOf } from '../rules/events.ts';
import { startExecution } from '../world/execution.ts';
import { withVirtualTimers } from '../world/virtual-time.ts';
import { createWorld } from '../world/world.ts';
import { firstNight } from './history.ts';

const day = 86_400_000;
/** More tasks than the run has hours, so the last ones wait until its end. */
const policies = 8;

test.each(['calm', 'unsettled'] as const)(
  'a night of 8 policies, %s: state and history stay within the budget, and every policy is in the report',
  async (weather) => {
    const aspects = Array.from({ length: policies }, (_, number) => `anAspectWithAnOrdinaryName${number}`);
    const old = Array.from({ length: 30 }, (_, row) => firstNight - (40 + row) * day);
    const fresh = Array.from({ length: 30 }, (_, row) => firstNight - (1 + row / 2) * day);
    const world = createWorld({
      seed: 8,
      start: firstNight,
      profile: '0.13.2-1.1',
      indices: aspects.map((aspect) => ({ entityType: 'dataset', aspect, timestamps: [...old, ...fresh] })),
      policies: aspects.map((aspect) => ({
        name: `/x/policies/dataset.${aspect}`,
        text: JSON.stringify({ entityType: 'dataset', aspect, retentionDays: 30, batchSize: 10 }),
      })),
      settings: {
        stage: 'budget',
        gmsUrl: 'http://gms.test:8080',
        mode: 'enforce',
        minRetentionDays: 7,
        maxRunHours: 6,
      },
    });
    world.weather = weathers[weather];
    // Each task takes an hour, so that all of them take longer than the run may.
    world.front.engine.set({ batchOverheadMillis: 1_200_000 });
    await withVirtualTimers(world.time, async () => {
      const execution = startExecution(world, 'night-0', {});
      await world.time.run(() => execution.ended);
    });
    const journal = { world } as never;
    const [published] = eventsOf(journal, 'published');
    expect(new Set(published!.report.policies.map(({ aspect }) => aspect)).size).toBe(policies);
    const sizes = eventsOf(journal, 'state').map(({ state }) => bytesOf(state));
    expect(Math.max(...sizes)).toBeLessThan(maxStateBytes);
    const [ended] = eventsOf(journal, 'ended');
    expect(ended!.how).toBe('succeeded');
    expect(ended!.events).toBeLessThan(maxHistoryEvents);
    // A calm night really uses the budget; in an unsettled one the run may end early, but still with a report.
    expect(ended!.events).toBeGreaterThan(weather === 'calm' ? 250 : 10);
  },
);
