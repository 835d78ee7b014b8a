import { describe, expect, test } from 'vitest';
import { plan } from '../../../../lambda/run/plan/plan.ts';
import { truncate } from '../../../../lambda/run/truncate.ts';
import { anIndexOf, deployments } from '../../../support/deployment.ts';
import { entryOf, mailOf, operation, runningOf, slow } from './nights.ts';

/** One server under several addresses, several servers under one, and one index under two names. */

const started = deployments();

describe('a server under another address', () => {
  test.each([
    ['localhost', (url: string) => url.replace('127.0.0.1', 'localhost')],
    ['[::1]', (url: string) => url.replace('127.0.0.1', '[::1]')],
    ['a trailing dot', (url: string) => url.replace('127.0.0.1', 'localhost.')],
    ['doubled slashes', (url: string) => `${url}//`],
    ['capitals', (url: string) => url.replace('http://127.0.0.1', 'HTTP://LOCALHOST')],
  ])('spelled with %s is the same server, and its truncation is picked up', async (_, spelled) => {
    const deployment = await started({ rowsPerSecond: 0.05, policies: [{ ...operation, batchSize: 10 }] });
    deployment.settings.maxRunHours = 1;
    await deployment.night();
    deployment.settings.gmsUrl = spelled(deployment.service.url);
    deployment.settings.maxRunHours = 12;
    expect(entryOf(await deployment.night())).toMatchObject({ outcome: 'truncated', adopted: true });
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test.each([
    ['another port', (url: string) => url.replace(/:\d+$/, ':9999')],
    ['/api/gms', (url: string) => `${url}/api/gms`],
    ['another name', () => 'https://datahub.example.com/gms'],
  ])('at %s keeps its index closed, unwatched and unjudged, and the report names both addresses', async (_, other) => {
    const deployment = await started({ rowsPerSecond: 0.05, policies: [{ ...operation, batchSize: 10 }] });
    deployment.settings.maxRunHours = 1;
    await deployment.night();
    deployment.settings.gmsUrl = other(deployment.service.url);
    const report = await deployment.night();
    expect(entryOf(report)).toMatchObject({ outcome: 'in-flight', cause: { kind: 'foreign', why: 'address' } });
    expect(mailOf(report)).toContain(deployment.service.url.replace('127.0.0.1', 'localhost'));
    expect(mailOf(report)).toContain(deployment.settings.gmsUrl.replace('127.0.0.1', 'localhost'));
    expect(deployment.realTruncates()).toHaveLength(1);
  });
});

test('another server behind the same address does not supply the verdict', async () => {
  const deployment = await started({ rowsPerSecond: 0.05, policies: [slow] });
  const { engine } = deployment.service;
  engine.schedule(deployment.clock.time + 30 * 60_000, () => {
    const [there] = engine.indices();
    engine.deleteIndex(there!.name);
    engine.addIndex(anIndexOf(0, 400));
    // It does not know our tasks.
    engine.set({ statusKnown: false });
  });
  const entry = entryOf(await deployment.night());
  expect(['lost', 'unknown']).toContain(entry.outcome);
  expect(entry.cause).toMatchObject({ movedBy: 'others' });
  expect(entry.reason).not.toContain('verified');
});

test('a run redeployed with another address after it sent does not report that nothing was started', async () => {
  const deployment = await started({ rowsPerSecond: 0.01 });
  const execution = { name: 'run-1', startTime: new Date(deployment.clock.time).toISOString() };
  const planned = await plan({ input: {}, execution }, deployment.during('plan'));
  await truncate(planned, deployment.during('truncate'));
  expect((await runningOf(deployment)).attempt.runId).toBe('run-1');
  // Stopped, deployed with another address, and redriven.
  deployment.settings.gmsUrl = 'http://gms.example.com:8080';
  const redriven = await truncate(planned, deployment.during('truncate'));
  expect(redriven.entries).toMatchObject([{ entry: { outcome: 'unknown' } }]);
  expect(deployment.realTruncates()).toHaveLength(1);
});

test('a search index under two names is truncated by only one of two parallel runs', async () => {
  const deployment = await started({ indices: [anIndexOf(600, 400, 'b_c', 'a')], rowsPerSecond: 0.05 });
  const planned = async (run: string, entityType: string, aspect: string) => {
    deployment.policies = [{ entityType, aspect, retentionDays: 30 }];
    const execution = { name: run, startTime: new Date(deployment.clock.time).toISOString() };
    return plan({ input: {}, execution }, deployment.during('plan'));
  };
  const first = await planned('run-1', 'a', 'b_c');
  const second = await planned('run-2', 'a_b', 'c');
  expect(second.entries[0]?.index).toBe(first.entries[0]?.index);
  deployment.policies = [{ entityType: 'a', aspect: 'b_c', retentionDays: 30 }];
  await truncate(first, deployment.during('truncate'));
  deployment.policies = [{ entityType: 'a_b', aspect: 'c', retentionDays: 30 }];
  const state =
    second.entries[0]?.phase === 'approved' ? await truncate(second, deployment.during('truncate')) : second;
  expect(state.entries[0]).toMatchObject({ phase: 'done' });
  expect(deployment.realTruncates()).toHaveLength(1);
});
