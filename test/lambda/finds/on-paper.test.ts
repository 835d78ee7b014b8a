import { describe, expect, test } from 'vitest';
import { ownTask } from '../../../lambda/truncation/own-task.ts';
import { boundsOf, shortfallOf } from '../../../lambda/truncation/windows.ts';
import { anIndexOf, deployments, firstNight, outcomesOf } from '../../support/deployment.ts';
import { aRunning } from '../../support/records.ts';
import { asReindex, day, entryOf, hour, name, ofYesterday, operation, recordOf } from './nights.ts';

/** Found on paper, in the first draft of the sharpened contract. */

const started = deployments();

test('find 37: a delete that the server turned into a reindex, cut half-way, and refilled by late rows', async () => {
  // Just under a half goes, so that the server promises to delete; then an entity is deleted, and it is more than a half.
  const deployment = await started({ indices: [anIndexOf(499, 501)], rowsPerSecond: 100 });
  const { engine } = deployment.service;
  engine.set({ knowsForceFlags: false, mode: 'reindex-above-half', cancelAtShare: 0.5 });
  const { operations } = deployment.services;
  deployment.services = {
    ...deployment.services,
    operations: {
      ...operations,
      async truncate(...call) {
        let left = 3;
        engine.removeRows(name, ({ timestamp }) => timestamp > deployment.clock.time - 5 * day && left-- > 0);
        return operations.truncate(...call);
      },
    },
  };
  engine.schedule(deployment.clock.time + 90_000, () => engine.addRows(name, ofYesterday(deployment, 300)));
  const entry = entryOf(await deployment.night());
  expect(['rows-missing', 'unknown']).toContain(entry.outcome);
});

describe('find 38: our reindex into a copy that somebody else has not finished', () => {
  test('is not started where the index is younger than 36 hours', async () => {
    const deployment = await started({ policies: [asReindex], rowsPerSecond: 1 });
    const { engine } = deployment.service;
    engine.truncateByOthers(name, { endTimeMillis: 0, forceReindex: true, batchSize: 10, timeoutSeconds: 300 });
    deployment.clock.time += 200_000;
    expect(entryOf(await deployment.night())).toMatchObject({
      outcome: 'not-started',
      cause: { which: 'index-young' },
    });
    expect(deployment.realTruncates()).toEqual([]);
  });
});

test('find 39: an index that others emptied, and that was filled above half again, has lost rows all the same', async () => {
  const deployment = await started();
  await deployment.night();
  deployment.service.engine.removeRows(name, () => true);
  deployment.clock.time += day;
  deployment.service.engine.addRows(name, Array(350).fill(deployment.clock.time - hour));
  expect(entryOf(await deployment.night())).toMatchObject({
    outcome: 'rows-missing',
    cause: { kind: 'gone-since', expected: 400, found: 0 },
  });
});

test('find 40: the backlog that a bite leaves does not hide the loss of two thirds of the young rows', () => {
  const span = { strategy: 'delete-by-query', cutoffMillis: 10, policyCutoffMillis: 20, startMillis: 30 } as const;
  const [backlog, young] = boundsOf(span, 30);
  const before = [
    { ...backlog!, rows: 33_000_000 },
    { ...young!, rows: 900_000 },
  ];
  const after = [
    { ...backlog!, rows: 33_000_000 },
    { ...young!, rows: 300_000 },
  ];
  expect(shortfallOf(before, after)).toMatchObject({ isMissing: true, rows: 600_000 });
});

describe('find 41: another task that carries our task’s number after a restart', () => {
  test('and ends perfectly is not ours: its total does not fit', async () => {
    const deployment = await started({ faults: ['task-numbers-restart'], rowsPerSecond: 1 });
    const { engine } = deployment.service;
    engine.schedule(deployment.clock.time + 30_000, () => {
      engine.restartNode();
      engine.addIndex(anIndexOf(50, 10, 'datasetProfile'));
    });
    const report = await deployment.night();
    expect(entryOf(report)).toMatchObject({ outcome: 'unknown', cause: { kind: 'unsettled', vanished: true } });
  });

  test.each([
    ['a total that fits the plan', { total: 60, deleted: 60 }, undefined, true],
    ['another total', { total: 200, deleted: 200 }, undefined, false],
    ['a run time longer than since the call', { total: 60, deleted: 60 }, 10 ** 9, false],
    ['rows that it has copied and deleted', { total: 60, deleted: 5, created: 5 }, undefined, false],
  ])('by %s', (_, counters, runTimeMillis, ours) => {
    const status = { kind: 'found', completed: true, counters, ...(runTimeMillis && { runTimeMillis }) } as const;
    expect(ownTask(status, aRunning(), 2_000_000) !== undefined).toBe(ours);
  });
});

test('find 42: one task that hangs does not hold up every policy for ever', async () => {
  const deployment = await started({
    rowsPerSecond: 1e-6,
    indices: [anIndexOf(600, 400), anIndexOf(20, 30, 'datasetProfile')],
    policies: [operation],
  });
  deployment.settings.maxRunHours = 1;
  await deployment.night();
  deployment.policies = [operation, { ...operation, aspect: 'datasetProfile' }];
  deployment.service.engine.set({ rowsPerSecond: 1000 });
  const report = await deployment.night();
  expect(outcomesOf(report)).toMatchObject({ 'dataset.datasetProfile': 'truncated' });
  expect(report.noteFacts).toContainEqual({ kind: 'started-beside', index: name });
});

test('find 43: two weeks of ingestion do not make rows come back that are all missing', async () => {
  const deployment = await started({ faults: ['reindex-fails=400'], policies: [asReindex] });
  expect(entryOf(await deployment.night()).outcome).toBe('rows-missing');
  for (let night = 1; night <= 14; night++) {
    deployment.clock.time += day;
    deployment.service.engine.addRows(name, Array(100).fill(deployment.clock.time - hour));
  }
  const report = await deployment.night({ clear: [name] });
  expect(report.noteFacts).toMatchObject([{ kind: 'not-released', rowsMissing: 400 }]);
  expect((await recordOf(deployment)).state).toBe('quarantined');
});

test('find 44: entity deletions of 0.1 % a night raise no alarm in a month', async () => {
  const deployment = await started({
    indices: [anIndexOf(0, 5000)],
    policies: [{ ...operation, minDeletePercent: 0 }],
    rowsPerSecond: 100,
  });
  const { engine } = deployment.service;
  const { clock } = deployment;
  for (let night = 0; night < 35; night++) {
    engine.addRows(name, [...Array(125).fill(clock.time - 31 * day), ...Array(250).fill(clock.time - hour)]);
    engine.schedule(clock.time + 2000, () => {
      let left = 5;
      engine.removeRows(name, ({ timestamp }) => timestamp > clock.time - 25 * day && left-- > 0);
    });
    const entry = entryOf(await deployment.night());
    expect([night, entry.outcome]).toEqual([night, 'truncated']);
    clock.time += day;
  }
});

test('find 45: a reindex of an hour, while entities are deleted, is proven by its status and its name', async () => {
  const deployment = await started({ policies: [{ ...asReindex, batchSize: 20 }], rowsPerSecond: 0.12 });
  const { engine } = deployment.service;
  for (let minute = 2; minute <= 55; minute += 7) {
    engine.schedule(firstNight + minute * 60_000, () => {
      let left = 1;
      engine.removeRows(name, ({ timestamp }) => timestamp > firstNight - 25 * day && left-- > 0);
    });
  }
  const entry = entryOf(await deployment.night());
  expect(entry).toMatchObject({ outcome: 'truncated', cause: { kind: 'verified', by: 'proof' } });
});
