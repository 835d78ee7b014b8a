import { describe, expect, test } from 'vitest';
import { onlyEntry, worlds } from '../../support/world.ts';

/** How many requests a run with one truncation makes: people watch their server's load. */

const open = worlds();
const requests = async (prepare: (world: Awaited<ReturnType<typeof open>>) => void = () => {}, options = {}) => {
  const world = await open(options);
  prepare(world);
  const run = await world.run();
  return { entry: onlyEntry(run), looks: run.states.at(-1)?.looks ?? 0, asked: world.standIn.asked().length };
};

describe('a run makes', () => {
  test('12 requests for a delete that goes well', async () => {
    const { entry, asked } = await requests();
    expect([entry.outcome, asked]).toEqual(['truncated', 12]);
  });

  test('13 for a copy: whether its status can be read is one more', async () => {
    const { entry, asked } = await requests(({ standIn }) => standIn.fault('ignores-force-flags'));
    expect([entry.outcome, asked]).toEqual(['truncated', 13]);
  });

  test('one more for each look that shows progress', async () => {
    const policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, batchSize: 10 }];
    const { entry, looks, asked } = await requests(
      ({ standIn }) => standIn.set({ rowsPerSecond: 10, batchOverheadMillis: 0 }),
      { policies },
    );
    expect(entry.outcome).toBe('truncated');
    // The first look has nothing to compare with, and counts.
    expect(asked).toBe(12 + (looks - 1) + 2);
  });

  test('at most 30 if the answer never comes and nothing was started', async () => {
    const { entry, asked } = await requests(({ standIn }) =>
      standIn.between(({ body }) =>
        body.includes('"dryRun":false')
          ? { kind: 'fail-before', answer: { kind: 'status', status: 504, body: '' } }
          : undefined,
      ),
    );
    expect(entry.outcome).toBe('failed');
    expect(asked).toBeLessThanOrEqual(30);
  });

  test('two for an index that needs nothing', async () => {
    const { asked } = await requests(({ standIn }) => standIn.removeRows('dataset.operation', () => true));
    expect(asked).toBe(2);
  });
});
