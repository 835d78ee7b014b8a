import { describe, expect, test } from 'vitest';
import { anIndexOf, deployments } from '../../../support/deployment.ts';
import { day, entryOf, hour, mailOf, name, operation, slow } from './nights.ts';

/** Other processes that replace, delete or change an index during a truncation. */

const started = deployments();

describe('an upgrade that replaces the index during a truncation', () => {
  const reindexes = { endTimeMillis: 0, forceReindex: true, batchSize: 100, timeoutSeconds: 300 };

  test('with the alias moved after its copy is complete: the index is judged by its rows, and no alias is moved back', async () => {
    const deployment = await started({ rowsPerSecond: 1, policies: [slow] });
    const { engine } = deployment.service;
    const [old] = engine.indices();
    let copy: string | undefined;
    engine.schedule(deployment.clock.time + 2 * 60_000, () => {
      engine.truncateByOthers(name, reindexes);
      copy = engine.indices().find(({ index }) => index === name)?.name;
      engine.pointAlias(name, old!.name);
    });
    engine.schedule(deployment.clock.time + 60 * 60_000, () => engine.pointAlias(name, copy!));
    const report = await deployment.night();
    const { outcome, reason } = entryOf(report);
    expect(outcome).toBe('truncated');
    expect(`${reason}${mailOf(report)}`).not.toContain('_aliases');
  });

  test('with the alias moved before its copy: nothing is judged while the copy goes on', async () => {
    const deployment = await started({ rowsPerSecond: 0.5, policies: [slow] });
    const { engine } = deployment.service;
    engine.schedule(deployment.clock.time + 15 * 60_000, () => engine.truncateByOthers(name, reindexes));
    const report = await deployment.night();
    const { outcome, cause, reason } = entryOf(report);
    expect(['truncated', 'incomplete']).toContain(outcome);
    expect(cause).toMatchObject({ movedBy: 'others' });
    expect(reason).toContain('was replaced meanwhile');
    expect(`${reason}${mailOf(report)}`).not.toContain('_aliases');
  });
});

test('a task that ended early is not judged while another process goes on deleting', async () => {
  const deployment = await started({ faults: ['abort-at=0.5'], rowsPerSecond: 20 });
  const { engine } = deployment.service;
  const cutoff = deployment.clock.time - 30 * day;
  for (let turn = 1; turn <= 30; turn++) {
    engine.schedule(deployment.clock.time + turn * 10_000, () => {
      let left = 12;
      engine.removeRows(name, ({ timestamp }) => timestamp <= cutoff && left-- > 0);
    });
  }
  expect(entryOf(await deployment.night())).toMatchObject({ outcome: 'truncated', rowsRemaining: 0 });
});

test('a task of another total that took our task’s number after a restart is not ours', async () => {
  const deployment = await started({ faults: ['task-numbers-restart'], rowsPerSecond: 1 });
  const { engine } = deployment.service;
  engine.schedule(deployment.clock.time + 30_000, () => {
    engine.restartNode();
    engine.addIndex(anIndexOf(50, 10, 'datasetProfile'));
  });
  const report = await deployment.night();
  expect(entryOf(report)).toMatchObject({ outcome: 'unknown', cause: { kind: 'unsettled', vanished: true } });
});

test('entity deletions of 0.1 % a night raise no alarm in a month', async () => {
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
