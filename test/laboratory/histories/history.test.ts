import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runCampaign, scenarioOf } from '../campaign/campaign.ts';
import { check, violationText } from '../rules/checker.ts';
import { live } from './history.ts';
import { scenario } from './scenario.ts';

/** A small campaign inside `npm test`; `.ci/run` plays more histories, and `npm run faults` thousands. */

const seed = 20_261_120;
/** Two eventful histories. */
const runs = [3, 5];

describe('the fault laboratory', () => {
  test(`${runs.length} histories of seed ${seed} break no rule`, async () => {
    const { violations, truncates, letters, outcomes } = await runCampaign(seed, runs);
    expect(violations.map((violation) => `run ${violation.run}: ${violationText(violation)}`)).toEqual([]);
    // A campaign that never gets to the dangerous part proves nothing.
    expect(truncates).toBeGreaterThan(2 * runs.length);
    expect(Object.keys(letters).length).toBeGreaterThan(40);
    expect(Object.keys(outcomes).length).toBeGreaterThan(6);
  });

  test('histories that fast-check makes break no rule, and shrink where they do', async () => {
    const breaksNoRule = fc.asyncProperty(scenario, async (given) => {
      const violations = check(await live(given));
      if (violations.length > 0) throw new Error(violations.map(violationText).join('\n'));
    });
    await fc.assert(breaksNoRule, { seed, numRuns: 2, interruptAfterTimeLimit: 10_000 });
  });

  test('the same seed and run are the same history', async () => {
    const journal = async () => JSON.stringify((await live(scenarioOf(seed, 1))).world.journal);
    expect(await journal()).toBe(await journal());
  });
});
