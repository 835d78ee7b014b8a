import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { fileLedger } from '../../../../lambda/ledger/file.ts';
import { plan } from '../../../../lambda/run/plan/plan.ts';
import { poll } from '../../../../lambda/run/poll.ts';
import { deployments } from '../../../support/deployment.ts';
import { day, entryOf, hour, recordOf, slow } from './nights.ts';

/** Truncations that outlive their run: picked up, waited for, closed. */

const started = deployments();

describe('a ledger file that a power loss filled up with zeros', () => {
  let folder: string | undefined;
  afterEach(() => folder && rmSync(folder, { recursive: true, force: true }));

  test('is read as far as it was written: the running truncation is picked up and not sent again', async () => {
    folder = mkdtempSync(join(tmpdir(), 'ledger-'));
    const path = join(folder, 'in-flight.json');
    const deployment = await started({ rowsPerSecond: 0.05, policies: [slow] });
    deployment.settings.maxRunHours = 1;
    deployment.services.ledger = fileLedger(path);
    expect(entryOf(await deployment.night()).outcome).toBe('still-running');
    appendFileSync(path, Buffer.alloc(4096));
    deployment.settings.maxRunHours = 12;
    deployment.services.ledger = fileLedger(path);
    expect(entryOf(await deployment.night())).toMatchObject({ outcome: 'truncated', adopted: true });
    expect(deployment.realTruncates()).toHaveLength(1);
  });
});

test('a task that says completed: false forever, with nothing left to delete, has ended', async () => {
  const deployment = await started();
  deployment.service.engine.onRequest = ({ path }) => {
    if (!path.includes('getEsTaskStatus')) return undefined;
    const task = { completed: false, status: { total: 600, deleted: 600 } };
    const body = JSON.stringify({ value: JSON.stringify(task) });
    return { kind: 'fail-before', answer: { kind: 'status', status: 200, body } };
  };
  expect(entryOf(await deployment.night()).outcome).toBe('truncated');
  expect((await recordOf(deployment)).state).toBe('idle');
});

test('a running truncation is in the report once, even if the clock is set back while Plan works', async () => {
  const other = { ...slow, aspect: 'datasetProfile' };
  const deployment = await started({ rowsPerSecond: 0.05, policies: [slow] });
  deployment.settings.maxRunHours = 1;
  await deployment.night();
  deployment.policies = [slow, other];
  const { operations } = deployment.services;
  deployment.services.operations = {
    ...operations,
    async dryRun(fields, options) {
      if (fields.aspect === other.aspect) deployment.clock.time -= 2 * day;
      return operations.dryRun(fields, options);
    },
  };
  const { policies } = await deployment.night({ mode: 'preview' });
  expect(policies.map(({ aspect }) => aspect).sort()).toEqual(['datasetProfile', 'operation']);
});

test('one failed status at the end of a run does not give up a deletion that goes on, nor start a second one', async () => {
  const deployment = await started({ rowsPerSecond: 0.002, policies: [{ ...slow, batchSize: 1 }] });
  deployment.settings.maxRunHours = 1;
  expect(entryOf(await deployment.night()).outcome).toBe('still-running');
  deployment.clock.time += 20 * hour;
  const end = deployment.clock.time + 12 * hour;
  let failed = 0;
  deployment.service.engine.onRequest = ({ path }) => {
    if (!path.includes('getEsTaskStatus') || deployment.clock.time < end || failed++ > 0) return undefined;
    return { kind: 'fail-before', answer: { kind: 'status', status: 502 } };
  };
  deployment.settings.maxRunHours = 12;
  expect(entryOf(await deployment.night()).outcome).toBe('still-running');
  expect(failed).toBeGreaterThan(0);
  expect((await recordOf(deployment)).state).toBe('running');
  deployment.settings.maxRunHours = 1;
  await deployment.night();
  expect(deployment.realTruncates()).toHaveLength(1);
});

test('a clock that is ahead until the first answer of a Poll does not make its look the last of the run', async () => {
  const deployment = await started({ rowsPerSecond: 0.002, policies: [{ ...slow, batchSize: 1 }] });
  const { clock, services, settings } = deployment;
  settings.maxRunHours = 1;
  await deployment.night();
  settings.maxRunHours = 12;
  clock.time += 20 * hour;
  const execution = { name: 'second', startTime: new Date(clock.time).toISOString() };
  const planned = await plan({ input: {}, execution }, deployment.during('plan'));
  clock.time += planned.waitSeconds * 1000 + 13 * hour;
  const { operations } = services;
  services.operations = {
    ...operations,
    async taskStatus(...call) {
      clock.time -= 13 * hour;
      return operations.taskStatus(...call);
    },
  };
  const polled = await poll(planned, deployment.during('poll'));
  expect(polled.entries).toMatchObject([{ phase: 'watched' }]);
  expect((await recordOf(deployment)).state).toBe('running');
});
