import { describe, expect, test } from 'vitest';
import { MemoryError } from '../../../../lambda/memory/night.ts';
import { anIndexOf, deployments, firstNight, only } from '../../../support/deployment.ts';
import { policyFor, slowly } from '../../../support/nights/night.ts';
import { anIndex } from '../../../support/records.ts';

/** What each night remembers, and what it is used for. */

const started = deployments();
const day = 86_400_000;
const hour = 3_600_000;
const name = 'dataset.operation';
const old = (count: number, at: number) => Array(count).fill(at - 40 * day);

describe('a night', () => {
  test('is remembered by Plan, and again by the verdict', async () => {
    const { night, nights, service } = await started();
    await night();
    const physical = service.engine.indices()[0]!.name;
    expect(nights.all).toEqual([
      {
        index: anIndex,
        night: new Date(firstNight).toISOString(),
        rows: 1000,
        overdue: 600,
        mb: expect.any(Number),
        rowsLeft: 400,
        mbLeft: expect.any(Number),
        name: physical,
        outcome: 'truncated',
        deleted: 600,
        seconds: expect.any(Number),
      },
    ]);
  });

  test('reports since when an index has the same problem, found by Plan or by a verdict', async () => {
    const policies = [policyFor('operation'), policyFor('b')];
    const deployment = await started({ faults: ['cancel-at=0.5'], policies });
    const ends = async () => (await deployment.night()).policies.map(({ outcome, since }) => [outcome, since]).sort();
    expect(await ends()).toEqual([
      ['failed', undefined],
      ['incomplete', undefined],
    ]);
    deployment.clock.time += day;
    const first = new Date(firstNight).toISOString();
    expect(await ends()).toEqual([
      ['failed', first],
      ['incomplete', first],
    ]);
  });

  test('reports the same of a truncation that had not ended with its run', async () => {
    const deployment = await started({ ...slowly, indices: [anIndexOf(6000, 400)] });
    expect(only(await deployment.night())).toMatchObject({ outcome: 'still-running' });
    expect(deployment.nights.all).toMatchObject([{ rows: 6400, outcome: 'still-running' }]);
    expect(deployment.nights.all[0]).not.toHaveProperty('deleted');
  });

  test('that only previews is not remembered', async () => {
    const { night, nights } = await started();
    await night({ mode: 'preview' });
    expect(nights.all).toEqual([]);
  });

  test('remembers the largest indices without a policy by their size', async () => {
    const { night, nights } = await started({ indices: [anIndexOf(600, 400), anIndexOf(50, 5000, 'datasetProfile')] });
    await night();
    expect(nights.all).toContainEqual({
      index: 'dataset_datasetprofileaspect_v1',
      night: new Date(firstNight).toISOString(),
      mb: expect.any(Number),
      name: expect.stringContaining('datasetprofile'),
    });
  });

  test('goes on without a memory, with one note', async () => {
    const deployment = await started({ indices: [anIndexOf(600, 400), anIndexOf(600, 400, 'b')] });
    deployment.policies.push({ entityType: 'dataset', aspect: 'b', retentionDays: 30 });
    const fails = async () => {
      throw new MemoryError('cannot read the table');
    };
    deployment.services.nights = { read: fails, write: fails };
    const report = await deployment.night();
    expect(report.policies.map(({ outcome }) => outcome)).toEqual(['truncated', 'truncated']);
    expect(report.notes).toMatchObject([{ kind: 'memory-unavailable', problem: 'cannot read the table' }]);
  });
});

describe('the memory shows', () => {
  test('how long a truncation took last time', async () => {
    const deployment = await started({ rowsPerSecond: 10 });
    const first = only(await deployment.night());
    deployment.clock.time += day;
    deployment.service.engine.addRows(name, old(1200, deployment.clock.time));
    const preview = only(await deployment.night({ mode: 'preview' }));
    expect(preview.cause).toMatchObject({ kind: 'due', seconds: expect.closeTo(2 * first.durationSeconds!, -1) });
    await deployment.night();
    const planned = deployment.states
      .map(({ entries }) => entries[0])
      .filter((entry) => entry?.phase === 'approved')
      .at(-1);
    expect(planned).toMatchObject({ plan: { seconds: expect.closeTo(2 * first.durationSeconds!, -1) } });
  });

  test('that a truncation will not end before its run', async () => {
    const deployment = await started({ rowsPerSecond: 1 });
    await deployment.night();
    deployment.clock.time += day;
    deployment.service.engine.addRows(name, old(50_000, deployment.clock.time));
    const report = await deployment.night();
    expect(report.notes).toContainEqual(
      expect.objectContaining({ kind: 'longer-than-run', index: name, seconds: expect.any(Number), hours: 12 }),
    );
  });

  test('growth, and nights until the threshold', async () => {
    const deployment = await started({
      indices: [anIndexOf(0, 10_000)],
      policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, minDeletePercent: 10 }],
    });
    for (let night = 0; night < 5; night++) {
      deployment.service.engine.addRows(name, [
        ...old(50, deployment.clock.time),
        ...Array(50).fill(deployment.clock.time - hour),
      ]);
      const entry = only(await deployment.night());
      expect(entry.outcome).toBe('below-threshold');
      if (night === 4) {
        expect(entry).toMatchObject({
          rowsPerDay: 100,
          cause: { kind: 'below-threshold', nights: expect.any(Number) },
        });
        const { nights } = entry.cause as { nights: number };
        // Now 250 of 10,500 are due; each day 50 more are, and 100 rows arrive.
        expect(nights).toBe(Math.ceil((1050 - 250) / (50 - 10)));
      }
      deployment.clock.time += day;
    }
  });

  test.each([
    ['deleted', false],
    ['reindexed away', true],
  ])('that another process emptied an index that we never truncated: %s', async (_, reindexed) => {
    const deployment = await started({ indices: [anIndexOf(0, 4005)] });
    const before = deployment.service.engine.indices()[0]!.name;
    for (let night = 0; night < 3; night++) {
      expect(only(await deployment.night()).outcome).toBe('nothing-to-delete');
      deployment.clock.time += day;
    }
    if (reindexed) {
      deployment.service.engine.set({ reindexFailsAfterSwap: 400 });
      deployment.service.engine.truncateByOthers(name, {
        endTimeMillis: deployment.clock.time - 30 * day,
        forceReindex: true,
      });
    } else deployment.service.engine.removeRows(name, () => true);
    deployment.clock.time += hour;
    const report = await deployment.night();
    expect(report.result).toBe('attention');
    const entry = only(report);
    expect(entry).toMatchObject({
      outcome: 'emptied',
      cause: { kind: 'emptied', rowsBefore: 4005, nights: 3, indexBefore: before },
    });
    expect(entry.reason.includes('_aliases')).toBe(reindexed);
    // No quarantine, no breaker.
    expect(await deployment.ledger.read(anIndex)).toBeUndefined();
  });

  test('an index that another process’s failed reindex emptied is reported as emptied', async () => {
    const deployment = await started({ indices: [anIndexOf(0, 4005)] });
    for (let night = 0; night < 3; night++) {
      await deployment.night();
      deployment.clock.time += day;
    }
    deployment.service.engine.removeRows(name, () => true);
    expect(only(await deployment.night())).toMatchObject({ outcome: 'emptied', rowsTotal: 0 });
  });
});
