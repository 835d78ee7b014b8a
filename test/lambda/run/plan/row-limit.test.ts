import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../../../lambda/facts/report-schema.ts';
import type { RunServices } from '../../../../lambda/run/services.ts';
import { firstRun } from '../../../support/stand-in.ts';
import { aPolicyFor, type World, worlds } from '../../../support/world.ts';

/** More rows are due than one run may delete: what the search for tonight's cutoff makes of odd servers, and of its time. */

const open = worlds();
const hour = 3_600_000;
const day = 24 * hour;

/** One row each hour, of which 700 are past their 30 days. */
const limited = (maxRowsPerRun: number) =>
  open({
    indices: [
      {
        entityType: 'dataset',
        aspect: 'operation',
        timestamps: Array.from({ length: 1000 }, (_, row) => firstRun - 30 * day + (300 - row) * hour - 1),
      },
    ],
    policies: [aPolicyFor('operation', { maxRowsPerRun })],
  });

/** Does something before each dry run, except the first ones. */
function beforeDryRuns(world: World, from: number, then: () => void): RunServices {
  let asked = 0;
  return world.during('plan', ({ dryRun }) => ({
    dryRun(...given) {
      if (++asked > from) then();
      return dryRun(...given);
    },
  }));
}

async function only(world: World, services?: RunServices) {
  const [entry] = (await world.plan({}, services)).entries;
  const { outcome, cause } = (entry?.facts ?? {}) as Partial<PolicyEntry>;
  return { ...entry, outcome, cause };
}

test('The oldest rows up to the limit go, also below the threshold, and the entry says how many stay', async () => {
  const world = await limited(50);
  const policyCutoffMillis = world.clock.time - 30 * day;
  const cutoffMillis = policyCutoffMillis - 650 * hour;
  expect(await only(world)).toMatchObject({
    phase: 'approved',
    plan: { rowsToDelete: 50, deletesInPlace: true, limited: { cutoffMillis, rest: 650 } },
    facts: { rowsToDelete: 50, rowsTotal: 1000, rowsPastRetention: 700, cutoffMillis, policyCutoffMillis },
  });
});

test('An approval that does not cover the oldest hour stands beside the limit, and is not called the limit', async () => {
  const timestamps = Array.from({ length: 500 }, (_, row) => firstRun - 60 * day - row);
  const world = await open({
    indices: [{ entityType: 'dataset', aspect: 'operation', timestamps: [...timestamps, firstRun - day] }],
    policies: [aPolicyFor('operation', { maxRowsPerRun: 100, maxDeletePercent: 100 })],
  });
  const input = { mode: 'enforce', indices: ['dataset.operation'], approveRows: 300 } as const;
  const [entry] = (await world.plan(input)).entries;
  expect(entry).toMatchObject({ facts: { cause: { kind: 'above-ceiling', rowLimit: 100, approved: 300 } } });
});

test('The search leaves out the field that the server refuses', async () => {
  const world = await limited(100);
  world.standIn.fault('refuses-force-flags');
  world.standIn.set({ mode: 'always-delete' });
  expect(await only(world)).toMatchObject({ facts: { rowsPastRetention: 700, rowsToDelete: 100 } });
});

describe('During the search', () => {
  test.each<[string, string, object]>([
    [
      'the clock of the server goes wrong',
      'clock-skew=3600',
      { outcome: 'failed', cause: { kind: 'guard', which: 'server-clock' } },
    ],
    [
      'the server announces a reindex',
      'ignores-force-flags',
      { outcome: 'not-started', cause: { kind: 'changed', what: 'reindex', was: false, now: true } },
    ],
    [
      'the server stops counting',
      'sentence=reworded',
      { outcome: 'failed', cause: { kind: 'server', error: { kind: 'unreadable' }, sent: 'no' } },
    ],
  ])('%s: nothing is approved', async (_, fault, expected) => {
    const world = await limited(100);
    expect(
      await only(
        world,
        beforeDryRuns(world, 1, () => world.standIn.fault(fault)),
      ),
    ).toMatchObject(expected);
  });

  test('Plan’s time ends: it is not started', async () => {
    const world = await limited(100);
    const late = beforeDryRuns(world, 2, () => {
      world.clock.time += 870_000;
    });
    expect(await only(world, late)).toMatchObject({
      outcome: 'not-started',
      cause: { kind: 'stopped', by: 'plan-time' },
    });
  });
});
