import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { fileLedger } from '../../../../lambda/ledger/file.ts';
import { anIndexOf, deployments, outcomesOf } from '../../../support/deployment.ts';
import { day, entryOf, hour, name, operation, recordOf, slow } from './nights.ts';

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

test('the next run starts no other index while the truncation left to it is still deleting', async () => {
  const deployment = await started({
    rowsPerSecond: 0.05,
    indices: [anIndexOf(600, 400), anIndexOf(20, 30, 'datasetProfile')],
    policies: [slow],
  });
  deployment.settings.maxRunHours = 3;
  await deployment.night();
  const left = deployment.states.length;
  deployment.policies = [slow, { ...operation, aspect: 'datasetProfile' }];
  deployment.settings.maxRunHours = 12;
  expect(outcomesOf(await deployment.night())).toEqual({ [name]: 'truncated', 'dataset.datasetProfile': 'truncated' });
  for (const { entries } of deployment.states.slice(left)) {
    const first = entries.find(({ entry }) => entry.aspect === 'operation');
    const second = entries.find(({ entry }) => entry.aspect === 'datasetProfile');
    if (first?.phase === 'watched') expect(second?.phase).toBe('approved');
  }
});

test('a task that hangs does not hold up the other policies forever', async () => {
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

test('nothing is sent alongside a task that is still running, although its record is older than 20 h', async () => {
  const deployment = await started({
    indices: [anIndexOf(900, 400)],
    rowsPerSecond: 10 / (3.5 * 3600),
    policies: [{ ...operation, batchSize: 10 }],
  });
  await deployment.night({}, 'run-1');
  deployment.clock.time += 8 * hour;
  await deployment.night({}, 'run-2');
  await deployment.night({}, 'run-3');
  expect(deployment.realTruncates()).toHaveLength(1);
  expect((await recordOf(deployment)).state).toBe('running');
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

test('a task that hangs with rows left is unknown, and its record is closed the next night', async () => {
  const deployment = await started({ rowsPerSecond: 1e-6 });
  const report = await deployment.night();
  expect(entryOf(report)).toMatchObject({ outcome: 'unknown', cause: { kind: 'unsettled', why: 'hung' } });
  deployment.clock.time += day;
  expect(entryOf(await deployment.night())).toMatchObject({
    outcome: 'unknown',
    cause: { why: 'hung', closed: 'idle' },
  });
  expect((await recordOf(deployment)).state).toBe('idle');
});
