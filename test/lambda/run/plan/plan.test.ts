import { describe, expect, test } from 'vitest';
import { deadlineMarginMillis } from '../../../../lambda/facts/limits.ts';
import { LedgerError } from '../../../../lambda/ledger/ledger.ts';
import { serverAddress } from '../../../../lambda/operations/http/base-url.ts';
import { OperationsError } from '../../../../lambda/operations/operations.ts';
import { searchIndex } from '../../../../lambda/policy/aspects.ts';
import { plan } from '../../../../lambda/run/plan/plan.ts';
import { ParametersError, type RunServices } from '../../../../lambda/run/services.ts';
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

  test('puts the smallest truncation first, and indices whose last verdict was bad last', async () => {
    const deployment = await started({
      indices: [anIndexOf(900, 100, 'a'), anIndexOf(100, 100, 'b'), anIndexOf(500, 100, 'c')],
      policies: ['a', 'b', 'c'].map(policy),
    });
    const names = { entityType: 'dataset', aspect: 'b' };
    const entry = { ...names, outcome: 'incomplete', cause: { kind: 'remains', why: 'rows' } } as const;
    const { window: _, ...lastVerdict } = aVerdict({ entry });
    const key = { ...names, index: searchIndex(names), server: serverAddress(deployment.settings.gmsUrl) };
    deployment.ledger.stored.set(key.index, anIdle({ ...key, lastVerdict }));
    const state = await planned(deployment, deployment.during('plan'));
    expect(outcomes(state)).toEqual([
      ['c', 'approved'],
      ['a', 'approved'],
      ['b', 'approved'],
    ]);
    expect(state).toMatchObject({ next: 'truncate', turns: { truncate: 0, poll: 0 } });
  });

  test('stops asking before its time ends, and reports the rest', async () => {
    const deployment = await started({
      indices: ['a', 'b', 'c'].map((aspect) => anIndexOf(90, 10, aspect)),
      policies: ['a', 'b', 'c'].map(policy),
    });
    const services = deployment.during('plan');
    const deadline = deployment.clock.time + deadlineMarginMillis;
    const state = await planned(deployment, { ...services, deadline: () => deadline });
    expect(outcomes(state).map(([, outcome]) => outcome)).toEqual(['failed', 'failed', 'failed']);
    expect(state.entries[0]).toMatchObject({ entry: { cause: { kind: 'stopped', by: 'plan-time' } } });
  });

  test('sends requests in parallel, up to a limit', async () => {
    const aspects = Array.from({ length: 30 }, (_, n) => `a${n}`);
    const deployment = await started({ indices: [], policies: aspects.map(policy) });
    let running = 0;
    let most = 0;
    const services = deployment.during('plan');
    const operations = {
      ...services.operations,
      async dryRun() {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return { rowsToDelete: 0, rowsTotal: 5, strategy: 'delete-by-query' as const };
      },
    };
    await planned(deployment, { ...services, operations });
    expect(most).toBe(8);
  });

  test('reports a cause of the whole server once, and leaves running truncations to the next run', async () => {
    const deployment = await started({ policies: ['operation', 'b', 'c'].map(policy), rowsPerSecond: 0.01 });
    deployment.settings.maxRunHours = 1;
    deployment.policies = [policy('operation')];
    await deployment.night();
    deployment.policies = ['operation', 'b', 'c'].map(policy);
    const services = deployment.during('plan');
    const refused = async () => {
      throw new OperationsError({ kind: 'connect', operation: 'dry-run' });
    };
    const state = await planned(deployment, {
      ...services,
      operations: { ...services.operations, dryRun: refused, indexSizes: refused },
    });
    expect(state.error).toMatchObject({ kind: 'server', error: { kind: 'connect' } });
    expect(outcomes(state)).toEqual(
      expect.arrayContaining([
        ['operation', 'still-running'],
        ['b', 'failed'],
        ['c', 'failed'],
      ]),
    );
    expect(state.next).toBe('report');
    expect(state.notes).toEqual([]);
  });

  test('sends no dry run when sizes failed for a cause of the whole server', async () => {
    const deployment = await started({ faults: ['unauthorized-empty'] });
    const state = await planned(deployment, deployment.during('plan'));
    expect(state.error).toMatchObject({ kind: 'server', error: { status: 401 } });
    expect(deployment.service.engine.asked.map(({ action }) => action)).toEqual(['getIndexSizes']);
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

  test('fails the run when the ledger cannot be read, and starts nothing', async () => {
    const deployment = await started();
    const services = deployment.during('plan');
    const list = async () => {
      throw new LedgerError('the ledger table cannot be read');
    };
    const state = await planned(deployment, { ...services, ledger: { ...services.ledger, list } });
    expect(state).toMatchObject({
      next: 'report',
      error: { kind: 'ledger', problem: 'the ledger table cannot be read' },
    });
    expect(outcomes(state)).toEqual([['operation', 'failed']]);
  });

  test('fails the run when the token is missing, with the error of its source', async () => {
    const deployment = await started();
    deployment.services.parameters.token.get = async () => {
      throw new ParametersError('the parameter /x/token is missing: store it');
    };
    const state = await planned(deployment, deployment.during('plan'));
    expect(state.error).toEqual({ kind: 'parameters', problem: 'the parameter /x/token is missing: store it' });
    expect(deployment.service.engine.asked).toEqual([]);
  });

  test("does not list the Postgres backend's store as an index without a policy", async () => {
    const deployment = await started({ profile: 'postgres' });
    const state = await planned(deployment, deployment.during('plan'));
    expect(state.unmanagedIndices).toEqual([]);
  });

  test('lists indices without a policy by size, but not the state of stateful ingestion', async () => {
    const deployment = await started({
      indices: [
        anIndexOf(60, 40),
        anIndexOf(5, 5, 'small'),
        anIndexOf(500, 500, 'large'),
        anIndexOf(9, 9, 'datahubIngestionCheckpoint', 'dataJob'),
      ],
    });
    const state = await planned(deployment, deployment.during('plan'));
    expect(state.unmanagedIndices.map(({ aspect }) => aspect)).toEqual(['large', 'small']);
  });
});
