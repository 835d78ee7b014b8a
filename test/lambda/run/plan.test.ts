import { describe, expect, test } from 'vitest';
import { deadlineMarginMillis } from '../../../lambda/facts/limits.ts';
import { OperationsError } from '../../../lambda/operations/operations.ts';
import { plan } from '../../../lambda/run/plan/plan.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { anIndexOf, type Deployment, deployments } from '../../support/deployment.ts';
import { anAttempt, aRecord, aVerdict } from '../../support/records.ts';

const started = deployments();
const planned = ({ clock }: Deployment, services: RunServices, input: unknown = {}) =>
  plan({ input, execution: { name: 'run-1', startTime: new Date(clock.time).toISOString() } }, services);
const outcomes = ({ entries }: RunState) =>
  entries.map((entry) => [entry.entry.aspect, entry.phase === 'done' ? entry.entry.outcome : entry.phase]);
const policy = (aspect: string) => ({ entityType: 'dataset', aspect, retentionDays: 30 });

describe('Plan', () => {
  test.each(['sending', 'quarantined'] as const)(
    'starts nothing for an index that is %s under another name',
    async (state) => {
      const deployment = await started({
        indices: [anIndexOf(600, 400, 'b_c', 'a')],
        policies: [{ entityType: 'a', aspect: 'b_c', retentionDays: 30 }],
      });
      const attempt = anAttempt({ sendBy: deployment.clock.time + 1e6, judgeableAt: deployment.clock.time + 2e6 });
      const held = state === 'sending' ? { attemptId: attempt.attemptId, attempt } : { lastVerdict: aVerdict() };
      deployment.ledger.stored.set('a_b.c', aRecord({ index: 'a_b.c', state, ...held }));
      const { entries } = await planned(deployment, deployment.during('plan'));
      const entry = entries.find(({ index }) => index === 'a.b_c')?.entry;
      expect(entry).toMatchObject({
        outcome: 'in-flight',
        reason: `a_b.c, which is the same search index, is ${state}`,
      });
    },
  );

  test('is not held up by a reservation under another name whose time is over: nobody may ever take it back', async () => {
    const deployment = await started({
      indices: [anIndexOf(600, 400, 'b_c', 'a')],
      policies: [{ entityType: 'a', aspect: 'b_c', retentionDays: 30 }],
    });
    const attempt = anAttempt({ sendBy: deployment.clock.time });
    const { attemptId } = attempt;
    deployment.ledger.stored.set('a_b.c', aRecord({ index: 'a_b.c', state: 'reserved', attemptId, attempt }));
    expect(outcomes(await planned(deployment, deployment.during('plan')))).toEqual([['b_c', 'approved']]);
  });

  test('puts the smallest truncation first, and indices whose last verdict was bad last', async () => {
    const deployment = await started({
      indices: [anIndexOf(900, 100, 'a'), anIndexOf(100, 100, 'b'), anIndexOf(500, 100, 'c')],
      policies: ['a', 'b', 'c'].map(policy),
    });
    const entry = { entityType: 'dataset', aspect: 'b', outcome: 'incomplete', reason: '' } as const;
    deployment.ledger.stored.set(
      'dataset.b',
      aRecord({ index: 'dataset.b', lastVerdict: aVerdict({ entry, rowsAfter: 1 }) }),
    );
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
    expect(state.entries[0]).toMatchObject({ entry: { reason: expect.stringContaining('too slowly') } });
  });

  test('asks side by side, but not everything at once', async () => {
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

  test('says a cause that concerns the server once, and what runs is left to the next run', async () => {
    const deployment = await started({ policies: ['operation', 'b', 'c'].map(policy), rowsPerSecond: 0.01 });
    deployment.settings.maxRunHours = 1;
    deployment.policies = [policy('operation')];
    await deployment.night();
    deployment.policies = ['operation', 'b', 'c'].map(policy);
    const services = deployment.during('plan');
    const refused = async () => {
      throw new OperationsError('connect', 'Dry run: the server does not answer.');
    };
    const state = await planned(deployment, {
      ...services,
      operations: { ...services.operations, dryRun: refused, indexSizes: refused },
    });
    expect(state.error).toBe('Dry run: the server does not answer.');
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

  test('asks for no dry run when the sizes already met a cause that concerns the server', async () => {
    const deployment = await started({ faults: ['unauthorized-empty'] });
    const state = await planned(deployment, deployment.during('plan'));
    expect(state.error).toMatch(/401/);
    expect(deployment.service.engine.asked.map(({ action }) => action)).toEqual(['getIndexSizes']);
  });

  test('repeated after it found rows missing says so again, and still starts nothing', async () => {
    const deployment = await started({
      indices: [anIndexOf(600, 400), anIndexOf(600, 400, 'other')],
      policies: ['operation', 'other'].map(policy),
    });
    deployment.ledger.stored.set(
      'dataset.operation',
      aRecord({ attemptId: 'a', lastVerdict: aVerdict({ rowsAfter: 5000 }) }),
    );
    const first = await planned(deployment, deployment.during('plan'));
    const second = await planned(deployment, deployment.during('plan'));
    expect(outcomes(first)).toEqual([
      ['operation', 'rows-missing'],
      ['other', 'not-started'],
    ]);
    expect(second.entries).toEqual(expect.arrayContaining(first.entries));
    expect(second.next).toBe('report');
    expect(await deployment.ledger.read('dataset.operation')).toMatchObject({ state: 'quarantined' });
  });

  test('reads no token from its own errors, log lines or state', async () => {
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
      throw Object.assign(new Error('the ledger table cannot be read'), { name: 'LedgerError' });
    };
    const state = await planned(deployment, { ...services, ledger: { ...services.ledger, list } });
    expect(state).toMatchObject({ next: 'report', error: 'the ledger table cannot be read' });
    expect(outcomes(state)).toEqual([['operation', 'failed']]);
  });

  test('fails the run when the token is missing, with the words of its source', async () => {
    const deployment = await started();
    deployment.services.parameters.token.get = async () => {
      throw Object.assign(new Error('the parameter /x/token is missing: store it'), { name: 'ParametersError' });
    };
    const state = await planned(deployment, deployment.during('plan'));
    expect(state.error).toBe('the parameter /x/token is missing: store it');
    expect(deployment.service.engine.asked).toEqual([]);
  });

  test("does not take the Postgres backend's store for an index without a policy", async () => {
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
