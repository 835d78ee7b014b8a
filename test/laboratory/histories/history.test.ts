import { describe, expect, test } from 'vitest';
import { runCampaign } from '../campaign/campaign.ts';
import { violationText } from '../rules/checker.ts';
import { live } from './history.ts';
import { scenarioOf } from './scenario.ts';

/** A small campaign inside `npm test`; `.ci/run` plays more histories, and `npm run faults` thousands. */

const seed = 20_261_123;
const runs = [0, 1, 2, 3, 4, 5];

describe('the fault laboratory', () => {
  test(`${runs.length} histories of seed ${seed} break no rule`, async () => {
    const { violations, sums, letters, outcomes } = await runCampaign(seed, runs);
    expect(violations.map((violation) => `run ${violation.run}: ${violationText(violation)}`)).toEqual([]);
    // A campaign that never gets to the dangerous part proves nothing.
    expect(sums['real truncates']).toBeGreaterThan(2 * runs.length);
    expect(Object.keys(letters).length).toBeGreaterThan(40);
    expect(Object.keys(outcomes).length).toBeGreaterThan(6);
  });

  test('the same seed and run are the same history', async () => {
    const journal = async () => JSON.stringify((await live(scenarioOf(seed, 1))).world.journal);
    expect(await journal()).toBe(await journal());
  });
});
