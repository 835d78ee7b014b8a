import { expect, test } from 'vitest';
import { plan } from '../../../lambda/run/plan/plan.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { anAttempt, anIndex, aQuarantined, aRunning } from '../../support/records.ts';
import { aPolicyFor, type World, worlds } from '../../support/world.ts';

/** A defect of our own is no answer of the server: the step fails, the workflow tries it again, and nothing is reported. */

const open = worlds();
const server = 'https://datahub.example.com';

const defect = async (): Promise<never> => {
  throw new TypeError('a defect');
};
const event = (world: World, input: object) => ({
  input,
  execution: { name: 'run-1', startTime: new Date(world.clock.time).toISOString() },
});

/** Services of which the server's operations have a defect after so many good answers. */
function broken(world: World, part: 'dryRun' | 'indexSizes', after = 0): RunServices {
  const during = world.during('plan');
  let asked = 0;
  const dryRun: typeof during.operations.dryRun = (...given) =>
    asked++ < after ? during.operations.dryRun(...given) : defect();
  return {
    ...during,
    operations: { ...during.operations, ...(part === 'dryRun' ? { dryRun } : { indexSizes: defect }) },
  };
}

test.each<[string, object, object, 'dryRun' | 'indexSizes', number, boolean]>([
  ['a dry run', {}, {}, 'dryRun', 0, false],
  ['the sizes', {}, {}, 'indexSizes', 0, false],
  ['the search for a bite', {}, { maxRowsPerRun: 10 }, 'dryRun', 1, false],
  ['a preview of what is unresolved', { mode: 'preview' }, {}, 'dryRun', 0, true],
  ['a release', { release: ['dataset.operation'] }, {}, 'dryRun', 0, true],
])('A defect in %s fails Plan', async (_, input, fields, part, after, hasRecord) => {
  const world = await open({ policies: [aPolicyFor('operation', fields)] });
  const lastSender = { runId: 'run-0', runStartMillis: 1 };
  const attempt = anAttempt({ ...lastSender, judgeableAt: 2 });
  const record = 'release' in input ? aQuarantined({ server, attempt }) : aRunning({ server, lastSender, attempt });
  if (hasRecord) world.ledger.stored.set(anIndex, record);
  await expect(plan(event(world, input), broken(world, part, after))).rejects.toThrow('a defect');
});

test('A defect in the last dry run fails Truncate, and nothing is sent', async () => {
  const world = await open();
  const state = await plan(event(world, { mode: 'enforce' }), world.during('plan'));
  await expect(truncate(state, broken(world, 'dryRun', 2))).rejects.toThrow('a defect');
  expect([world.realTruncates(), world.ledger.stored.size]).toEqual([[], 0]);
});
