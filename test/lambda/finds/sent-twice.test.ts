import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { fileLedger } from '../../../lambda/ledger/file.ts';
import { plan } from '../../../lambda/run/plan/plan.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { anIndexOf, deployments, outcomesOf } from '../../support/deployment.ts';
import { anIndex } from '../../support/records.ts';
import { entryOf, name, operation } from './nights.ts';

/** Sent twice, or after it should have stopped. (Find 11, a stopped `npm start`, is shown on processes: test/local.) */

const started = deployments();
const slow = { ...operation, batchSize: 10 };

test('find 8: one search index under two names is planned by two runs side by side, and truncated by one', async () => {
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

describe('find 9: a ledger file whose tail a power loss has filled with zeros', () => {
  let folder: string | undefined;
  afterEach(() => folder && rmSync(folder, { recursive: true, force: true }));

  test('is read as far as it was written: what runs is picked up, and nothing is sent a second time', async () => {
    folder = mkdtempSync(join(tmpdir(), 'finds-'));
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

describe('find 10: the answer to the last dry run', () => {
  test.each([
    [59_000, 'watched', 1],
    [60_000, 'not-started', 0],
    [420_000, 'not-started', 0],
  ])('that is %i ms old when the record says sending: %s', async (age, outcome, sent) => {
    const deployment = await started();
    const execution = { name: 'run-1', startTime: new Date(deployment.clock.time).toISOString() };
    const state = await plan({ input: {}, execution }, deployment.during('plan'));
    const services = deployment.during('truncate');
    let dryRuns = 0;
    const operations = {
      ...services.operations,
      async dryRun(...question: Parameters<typeof services.operations.dryRun>) {
        const answer = await services.operations.dryRun(...question);
        // Cutoff, window, cutoff: the last one justifies the call.
        if (++dryRuns === 3) deployment.clock.time += age;
        return answer;
      },
    };
    const [entry] = (await truncate(state, { ...services, operations })).entries;
    expect(entry?.phase === 'done' ? entry.entry.outcome : entry?.phase).toBe(outcome);
    expect(deployment.realTruncates()).toHaveLength(sent);
  });

  test.each([
    ['the clock of the wall', { wall: 60_000, steady: 0 }],
    ['a steady clock, while the clock of the wall was set back', { wall: -5, steady: 60_000 }],
  ])('is too old for the call where %s says so', async (_, passes) => {
    const deployment = await started();
    const execution = { name: 'run-1', startTime: new Date(deployment.clock.time).toISOString() };
    const state = await plan({ input: {}, execution }, deployment.during('plan'));
    const services = deployment.during('truncate');
    let steady = 0;
    const begun = deployment.clock.time;
    const clock = {
      now: () => deployment.clock.time,
      realNow: () => deployment.clock.time,
      monotonic: () => deployment.clock.time - begun + steady,
    };
    const operations = {
      ...services.operations,
      async truncate(...call: Parameters<typeof services.operations.truncate>) {
        deployment.clock.time += passes.wall;
        steady += passes.steady - passes.wall;
        return services.operations.truncate(...call);
      },
    };
    const [entry] = (await truncate(state, { ...services, clock, operations })).entries;
    expect(entry?.entry).toMatchObject({ outcome: 'failed', cause: { kind: 'no-time', what: 'send' } });
    expect(deployment.realTruncates()).toHaveLength(0);
    expect(await deployment.ledger.read(anIndex)).toMatchObject({ state: 'idle' });
  });
});

test('find 12: the next run starts no other index while the one that was left is still deleting', async () => {
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
