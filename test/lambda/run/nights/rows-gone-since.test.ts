import { describe, expect, test } from 'vitest';
import { anIndexOf, deployments } from '../../../support/deployment.ts';
import { day, entryOf, hour, mailOf, name, operation, recordOf } from './nights.ts';

/** Rows that were there at the last verdict and are gone now. */

const started = deployments();

test('rows lost to another process’s reindex are reported with the index that holds them', async () => {
  const deployment = await started();
  await deployment.night();
  const before = deployment.service.engine.indices()[0]!.name;
  deployment.clock.time += 12 * hour;
  const { engine } = deployment.service;
  engine.set({ reindexFailsAfterSwap: 400 });
  engine.truncateByOthers(name, { endTimeMillis: deployment.clock.time - 30 * day, forceReindex: true });
  deployment.clock.time += 12 * hour;
  const report = await deployment.night();
  expect(entryOf(report)).toMatchObject({
    outcome: 'rows-missing',
    cause: { kind: 'missing', expected: 400, found: 0, rowsIn: before },
  });
  expect(mailOf(report)).toContain(`{"add":{"index":"${before}"`);
  expect(mailOf(report)).not.toContain('Find out what else deletes here');
});

describe('rows gone since the last verdict', () => {
  test('are reported even if the policy refuses the server’s strategy', async () => {
    const policies = [{ ...operation, strategy: 'delete-by-query-only' }];
    const deployment = await started({ policies, indices: [anIndexOf(300, 600)] });
    deployment.service.engine.set({ knowsForceFlags: false, mode: 'reindex-above-half' });
    expect(entryOf(await deployment.night()).outcome).toBe('truncated');
    deployment.service.engine.removeRows(name, () => true);
    deployment.service.engine.addRows(name, Array(100).fill(deployment.clock.time - 40 * day));
    deployment.clock.time += day;
    expect(entryOf(await deployment.night())).toMatchObject({
      outcome: 'rows-missing',
      cause: { kind: 'missing', since: expect.any(Number) },
    });
  });

  test('are not missing if the search engine says only once that it has no such index', async () => {
    const deployment = await started({ indices: [anIndexOf(300, 600)] });
    expect(entryOf(await deployment.night()).outcome).toBe('truncated');
    deployment.clock.time += day;
    const { operations } = deployment.services;
    let answers = 0;
    deployment.services.operations = {
      ...operations,
      async dryRun(fields, options) {
        if (answers++ > 0) return operations.dryRun(fields, options);
        return operations.dryRun({ ...fields, aspect: 'absent' }, options);
      },
    };
    const entry = entryOf(await deployment.night());
    expect(entry).toMatchObject({ outcome: 'failed', cause: { kind: 'server', error: { kind: 'no-index' } } });
    expect((await recordOf(deployment)).state).toBe('idle');
  });
});

describe('rows that others delete past their retention', () => {
  test('are not missing when datahub-gc deletes at the same age every night', async () => {
    const deployment = await started({ indices: [anIndexOf(600, 3000)] });
    for (let night = 0; night < 18; night++) {
      expect([night, entryOf(await deployment.night()).outcome]).toEqual([
        night,
        expect.not.stringMatching('rows-missing'),
      ]);
      deployment.clock.time += day;
      const { time } = deployment.clock;
      deployment.service.engine.addRows(name, Array(150).fill(time - hour));
      deployment.service.engine.removeRows(name, ({ timestamp }) => timestamp < time - 30 * day);
    }
  });

  test('are not missing when they were the backlog of a bite', async () => {
    const deployment = await started({
      indices: [anIndexOf(6000, 1000)],
      policies: [{ ...operation, maxRowsPerRun: 1000, minDeletePercent: 0 }],
    });
    expect(entryOf(await deployment.night()).outcome).toBe('truncated');
    deployment.clock.time += day;
    const { time } = deployment.clock;
    deployment.service.engine.removeRows(name, ({ timestamp }) => timestamp < time - 30 * day);
    expect(entryOf(await deployment.night()).outcome).toBe('nothing-to-delete');
  });
});
