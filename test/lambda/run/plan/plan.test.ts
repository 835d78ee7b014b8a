import { describe, expect, test } from 'vitest';
import { serverAddress } from '../../../../lambda/operations/http/base-url.ts';
import { searchIndex } from '../../../../lambda/policy/aspects.ts';
import { plan } from '../../../../lambda/run/plan/plan.ts';
import type { RunServices } from '../../../../lambda/run/services.ts';
import type { RunState } from '../../../../lambda/run/state.ts';
import { anIndexOf, type Deployment, deployments } from '../../../support/deployment.ts';
import {
  aKey,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aReserved,
  aRunning,
  aSending,
  aVerdict,
} from '../../../support/records.ts';

const started = deployments();
const planned = ({ clock }: Deployment, services: RunServices, input: unknown = {}) =>
  plan({ input, execution: { name: 'run-1', startTime: new Date(clock.time).toISOString() } }, services);
const outcomes = ({ entries }: RunState) =>
  entries.map((entry) => [entry.entry.aspect, entry.phase === 'done' ? entry.entry.outcome : entry.phase]);
const policy = (aspect: string) => ({ entityType: 'dataset', aspect, retentionDays: 30 });

describe('Plan', () => {
  test('sees what a policy under another name of the same search index left in the ledger', async () => {
    const deployment = await started({
      indices: [anIndexOf(600, 400, 'b_c', 'a')],
      policies: [{ entityType: 'a', aspect: 'b_c', retentionDays: 30 }],
    });
    const key = { index: searchIndex({ entityType: 'a_b', aspect: 'c' }), entityType: 'a_b', aspect: 'c' };
    const server = serverAddress(deployment.settings.gmsUrl);
    deployment.ledger.stored.set(key.index, aSending({ ...key, server, judgeableAt: deployment.clock.time + 1 }));
    const { entries } = await planned(deployment, deployment.during('plan'));
    expect(entries).toMatchObject([{ index: key.index, entry: { outcome: 'in-flight', cause: { state: 'sending' } } }]);
    deployment.ledger.stored.set(key.index, aQuarantined({ ...key, server }));
    expect(outcomes(await planned(deployment, deployment.during('plan')))).toEqual([['b_c', 'quarantined']]);
  });

  test('is not blocked by a reservation whose time to send is over', async () => {
    const deployment = await started();
    const attempt = anAttempt({ sendBy: deployment.clock.time });
    deployment.ledger.stored.set(anIndex, aReserved({ server: serverAddress(deployment.settings.gmsUrl), attempt }));
    expect(outcomes(await planned(deployment, deployment.during('plan')))).toEqual([['operation', 'approved']]);
  });

  test.each([
    ['sending', aSending(), 'in-flight'],
    ['running', aRunning(), 'in-flight'],
    ['quarantined', aQuarantined(), 'quarantined'],
  ])(
    'neither watches nor judges a %s record of another address, and reports both addresses',
    async (_, record, outcome) => {
      const deployment = await started();
      deployment.ledger.stored.set(anIndex, { ...record, server: 'https://other.example.com' });
      const [entry] = (await planned(deployment, deployment.during('plan'))).entries;
      const ourAddress = serverAddress(deployment.settings.gmsUrl);
      expect(entry).toMatchObject({
        phase: 'done',
        entry: {
          outcome,
          cause: { kind: 'foreign', why: 'address', address: 'https://other.example.com', ourAddress },
        },
      });
    },
  );

  test.each([{ only: ['dataset.operation'] }, {}])(
    'lists closed and foreign indices in every report, even if their policies are not in this run (%j)',
    async (input) => {
      const deployment = await started();
      const server = serverAddress(deployment.settings.gmsUrl);
      const closed = { ...aKey, index: 'a', entityType: 'e', aspect: 'closed', server };
      const foreign = { ...aKey, index: 'b', entityType: 'e', aspect: 'foreign', server: 'https://other.example.com' };
      deployment.ledger.stored.set('a', aQuarantined(closed));
      deployment.ledger.stored.set('b', aRunning(foreign));
      const state = await planned(deployment, deployment.during('plan'), input);
      expect(state.entries.slice(1)).toMatchObject([
        { index: 'a', entry: { adopted: true, outcome: 'quarantined', cause: { kind: 'quarantined' } } },
        { index: 'b', entry: { adopted: true, outcome: 'in-flight', cause: { kind: 'foreign' } } },
      ]);
    },
  );

  test('takes over an idle record of another address without comparing its counts', async () => {
    const deployment = await started();
    const window = { from: 0, to: deployment.clock.time - 1, rows: 1_000_000, countedAt: 1 };
    const lastVerdict = aVerdict({ window });
    deployment.ledger.stored.set(anIndex, anIdle({ server: 'https://other.example.com', lastVerdict }));
    const state = await planned(deployment, deployment.during('plan'));
    expect(outcomes(state)).toEqual([['operation', 'approved']]);
    expect(state.notes).toEqual([]);
  });

  test('repeated after it found rows missing reports them again, and continues with the others', async () => {
    const deployment = await started({
      indices: [anIndexOf(600, 400), anIndexOf(600, 400, 'other')],
      policies: ['operation', 'other'].map(policy),
    });
    const { time } = deployment.clock;
    const window = { from: time - 20 * 86_400_000, to: time - 1000, rows: 5000, countedAt: time - 1000 };
    const server = serverAddress(deployment.settings.gmsUrl);
    deployment.ledger.stored.set(anIndex, anIdle({ server, attemptId: 'a', lastVerdict: aVerdict({ window }) }));
    const first = await planned(deployment, deployment.during('plan'));
    const second = await planned(deployment, deployment.during('plan'));
    expect(outcomes(first)).toEqual([
      ['operation', 'rows-missing'],
      ['other', 'approved'],
    ]);
    expect(second.entries).toEqual(expect.arrayContaining(first.entries));
    expect(second.next).toBe('truncate');
    expect(await deployment.ledger.read(anIndex)).toMatchObject({ state: 'quarantined' });
  });

  test('keeps the token out of errors, log lines and state', async () => {
    const deployment = await started();
    const state = await planned(deployment, deployment.during('plan'));
    expect(JSON.stringify([state, deployment.log, deployment.service.engine.asked])).not.toContain(
      deployment.service.token,
    );
  });

  test("does not list the Postgres backend's store as an index without a policy", async () => {
    const deployment = await started({ profile: 'postgres' });
    const state = await planned(deployment, deployment.during('plan'));
    expect(state.unmanagedIndices).toEqual([]);
  });
});
