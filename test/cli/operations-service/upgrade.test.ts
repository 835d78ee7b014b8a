import { describe, expect, test } from 'vitest';
import { serve, start } from './service.ts';

/** An upgrade of DataHub while the job runs: what it does to rows and names (datahub PR #16887). */

const hour = 3_600_000;
const index = 'dataset.operation';

describe('an upgrade without downtime', () => {
  test('reindexes to an index that is named after the version and the moment, and that nothing lists', async () => {
    const service = await serve({ profile: 'newest' });
    const [before] = await service.sizes();
    const { target } = service.engine.beginUpgrade(index);
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

  test('of an index that was deleted meanwhile ends there', async () => {
    const service = await serve({ profile: 'newest' });
    const upgrade = service.engine.beginUpgrade(index);
    service.engine.deleteIndex(service.engine.indices()[0]?.name ?? '');
    expect(upgrade.swap()).toBe(false);
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
