import { expect, test } from 'vitest';
import { truncate } from '../../../lambda/run/truncate.ts';
import { anAttempt, anIndex, aQuarantined } from '../../support/records.ts';
import { aPolicyFor, server, type World, worlds } from '../../support/world.ts';

/** A defect of our own is no answer of the server: the step fails, the workflow tries it again, and nothing is reported. */

const open = worlds();

const defect = async (): Promise<never> => {
  throw new TypeError('a defect');
};

/** Services of which the server's operations have a defect after so many good answers. */
function broken(world: World, part: 'dryRun' | 'indexSizes', after = 0) {
  let asked = 0;
  return world.during('plan', ({ dryRun }) =>
    part === 'dryRun'
      ? { dryRun: (...given) => (asked++ < after ? dryRun(...given) : defect()) }
      : { indexSizes: defect },
  );
}

test.each<[string, object, object, 'dryRun' | 'indexSizes', number, boolean]>([
  ['a dry run', {}, {}, 'dryRun', 0, false],
  ['the sizes', {}, {}, 'indexSizes', 0, false],
  ['the search for a cutoff within the row limit', {}, { maxRowsPerRun: 10 }, 'dryRun', 1, false],
  ['a release', { release: ['dataset.operation'] }, {}, 'dryRun', 0, true],
])('A defect in %s fails Plan', async (_, input, fields, part, after, hasRecord) => {
  const world = await open({ policies: [aPolicyFor('operation', fields)] });
  const lastSender = { runId: 'run-0', runStartMillis: 1 };
  const attempt = anAttempt({ ...lastSender, judgeableAt: 2 });
  if (hasRecord) world.ledger.stored.set(anIndex, aQuarantined({ server, lastSender, attempt }));
  await expect(world.plan(input, broken(world, part, after))).rejects.toThrow('a defect');
});

test('A defect in the last dry run fails Truncate, and nothing is sent', async () => {
  const world = await open();
  await expect(truncate(await world.plan(), broken(world, 'dryRun', 2))).rejects.toThrow('a defect');
  expect([world.realTruncates(), world.ledger.stored.size]).toEqual([[], 0]);
});
