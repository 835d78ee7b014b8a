import { describe, expect, test } from 'vitest';
import { day, serve, start } from './service.ts';

/** An upgrade of DataHub while the job runs: what it does to rows and names (datahub PR #16887). */

const hour = 3_600_000;
const index = 'dataset.operation';

describe('an upgrade without downtime', () => {
  test('copies to an index that is named after the version and the moment, and that nothing lists', async () => {
    const service = await serve({ profile: 'newest' });
    const [before] = await service.sizes();
    const { target } = service.engine.beginUpgrade(index, { version: '1.7.0-0' });
    expect(target).toBe(`dataset_operationaspect_v1_1_7_0-0_${start}`);
    expect(await service.sizes()).toEqual([before]);
  });

  test('brings back what was deleted while it copied', async () => {
    const service = await serve({ profile: 'newest' });
    const upgrade = service.engine.beginUpgrade(index);
    await service.startDelete();
    service.pass(hour);
    expect(await service.counts()).toEqual({ matching: 0, total: 300 });
    expect(upgrade.swap()).toBe(true);
    expect(await service.counts()).toEqual({ matching: 700, total: 1000 });
    expect((await service.sizes())[0].indexName).toBe(upgrade.target);
  });

  test('lets rows of its own time follow, a few at a time, and leaves rows about an earlier time behind', async () => {
    const service = await serve({ profile: 'newest' });
    const upgrade = service.engine.beginUpgrade(index);
    service.pass(hour);
    const during = [start + 1, start + 2, start + 3];
    service.engine.addRows(index, [...during, start - day]);
    upgrade.swap();
    expect(service.engine.rows(index)).toHaveLength(1000);
    expect(upgrade.catchUp(2)).toBe(true);
    expect(upgrade.catchUp(2)).toBe(false);
    expect(service.engine.rows(index)).toHaveLength(1003);
    const old = service.engine.indices().find((one) => one.index === undefined);
    expect(service.engine.bringOver(index, old?.name ?? '')).toBe(1);
  });

  test('moves the alias away from where a reindex has moved it', async () => {
    const service = await serve({ profile: '0.13.2-1.1' });
    const upgrade = service.engine.beginUpgrade(index);
    await service.truncate({ dryRun: false, forceReindex: true, batchSize: 100 });
    service.pass(hour);
    service.engine.addRows(index, [service.now()]);
    upgrade.swap();
    // Rows that arrived behind the alias in the meantime are in neither of the two indices that the upgrade knows.
    expect(upgrade.catchUp()).toBe(false);
    expect(service.engine.rows(index)).toHaveLength(1000);
    expect(service.engine.indices()).toHaveLength(3);
  });

  test('of a release that compares live counts fails where rows have gone meanwhile, and passes where none have', async () => {
    for (const [deletes, moved] of [
      [true, false],
      [false, true],
    ] as const) {
      const service = await serve({ profile: 'newest' });
      const upgrade = service.engine.beginUpgrade(index, { comparesLiveCounts: true });
      if (deletes) await service.startDelete();
      service.pass(hour);
      expect(upgrade.swap()).toBe(moved);
    }
  });

  test('of an index that was deleted meanwhile ends there', async () => {
    const service = await serve({ profile: 'newest' });
    const upgrade = service.engine.beginUpgrade(index);
    service.engine.deleteIndex(service.engine.indices()[0]?.name ?? '');
    expect(upgrade.swap()).toBe(false);
    expect(upgrade.catchUp()).toBe(false);
  });

  test('is switched on for all indices, one after another', async () => {
    const indices = ['operation', 'datasetProfile'].map((aspect) => ({
      entityType: 'dataset',
      aspect,
      timestamps: [start - 40 * day],
    }));
    const service = await serve({ profile: 'newest', faults: ['upgrade-after=60'], indices });
    const upgraded = () =>
      service.engine.indices().map((one) => one.index !== undefined && one.name.includes('_1_7_0-0_'));
    service.pass(130_000);
    expect(upgraded()).toEqual([true, false, false, false]);
    service.pass(60_000);
    expect(upgraded()).toEqual([true, true, false, false]);
  });
});

test('an upgrade that blocks writes ends a delete, and every row that was left is in its copy', async () => {
  const service = await serve();
  const task = await service.startDelete();
  service.pass(100);
  service.engine.upgradeIndex(index);
  service.pass(hour);
  expect(await service.status(task)).toMatchObject({ completed: true, status: { deleted: 200, total: 700 } });
  expect(await service.counts()).toEqual({ matching: 500, total: 800 });
});
