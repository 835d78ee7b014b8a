import { expect, test } from 'vitest';
import type { LedgerRecord } from '../../../lambda/ledger/record.ts';
import { deployments, only } from '../../support/deployment.ts';
import { anIndex } from '../../support/records.ts';

const started = deployments();
const hour = 3_600_000;

test('while our clock and the server’s differ by hours, no truncation counts as still or as 20 h old', async () => {
  const deployment = await started({ faults: ['gateway-timeout'], rowsPerSecond: 1, settings: { maxRunHours: 1 } });
  const { engine } = deployment.service;
  // Ours jumps ahead by a day between two looks; the server's Date says so.
  engine.set({ batchOverheadMillis: 2 * hour });
  engine.schedule(deployment.clock.time + 60_000, () => engine.set({ clockSkewSeconds: -24 * 3600 }));
  expect(only(await deployment.night())).toMatchObject({ outcome: 'still-running' });
  const stateNow = async () => ((await deployment.ledger.read(anIndex)) as LedgerRecord).state;
  expect(await stateNow()).toBe('sending');
  engine.set({ clockSkewSeconds: 0, interceptions: [] });
  deployment.clock.time += 23 * hour;
  expect(only(await deployment.night())).toMatchObject({ outcome: 'truncated', adopted: true });
  expect(await stateNow()).toBe('idle');
});

test('while our clock and the server’s differ by hours, an ended task without proof of its copy is not judged', async () => {
  const policy = { entityType: 'dataset', aspect: 'operation', retentionDays: 30, strategy: 'reindex' };
  const deployment = await started({ policies: [policy], settings: { maxRunHours: 1 } });
  const { engine } = deployment.service;
  // The name of the new index is not reported: no proof.
  engine.schedule(deployment.clock.time + 1000, () => engine.set({ denied: ['getIndexSizes'] }));
  expect(only(await deployment.night())).toMatchObject({
    outcome: 'unknown',
    cause: { kind: 'unsettled', copied: true },
  });
  deployment.clock.time += 24 * hour;
  engine.set({ clockSkewSeconds: -24 * 3600 });
  await deployment.night({}, 'by-a-wrong-clock');
  expect(((await deployment.ledger.read(anIndex)) as LedgerRecord).state).toBe('running');
});
