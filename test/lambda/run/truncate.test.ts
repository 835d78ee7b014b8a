import { describe, expect, test } from 'vitest';
import type { LedgerRecord } from '../../../lambda/ledger/record.ts';
import { fence } from '../../../lambda/ledger/transitions.ts';
import type { Operations } from '../../../lambda/operations/operations.ts';
import { functionTimeoutSeconds, sendMarginMillis } from '../../../lambda/run/limits.ts';
import { plan } from '../../../lambda/run/plan.ts';
import { poll } from '../../../lambda/run/poll.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { type Deployment, deployments } from '../../support/deployment.ts';

/** The dangerous step alone: what it does when it is stopped, repeated, late, or not alone. */

const started = deployments();

const index = 'dataset.operation';

async function planned(...options: Parameters<typeof started>): Promise<{ deployment: Deployment; state: RunState }> {
  const deployment = await started(...options);
  return { deployment, state: await planNow(deployment, 'run-1') };
}
const planNow = ({ during, clock }: Deployment, name: string, input = {}) =>
  plan({ input, execution: { name, startTime: new Date(clock.time).toISOString() } }, during('plan'));
const recordOf = async ({ ledger }: Deployment) => (await ledger.read(index)) as LedgerRecord;
const outcomeOf = (state: RunState) =>
  state.entries[0]!.phase === 'done' ? state.entries[0]!.entry.outcome : state.entries[0]!.phase;
const withOperations = (services: RunServices, changes: Partial<Operations>): RunServices => ({
  ...services,
  operations: { ...services.operations, ...changes },
});
/** Poll, after a Truncate that ended without a state. */
const pollAfterFailure = (state: RunState, { during }: Deployment, error = 'Lambda.Unknown') =>
  poll({ ...state, failure: { step: 'truncate', error } }, during('poll'));

describe('Truncate', () => {
  test('leaves a running record and waits', async () => {
    const { deployment, state } = await planned();
    const after = await truncate(state, deployment.during('truncate'));
    expect([after.next, outcomeOf(after)]).toEqual(['wait', 'watched']);
    expect(await recordOf(deployment)).toMatchObject({ state: 'running', sentBy: [{ runId: 'run-1' }] });
  });

  test('given the same state again sends nothing more, and watches what it sent', async () => {
    const { deployment, state } = await planned();
    await truncate(state, deployment.during('truncate'));
    const again = await truncate(state, deployment.during('truncate'));
    expect(outcomeOf(again)).toBe('watched');
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('given the same state after the verdict reports that verdict', async () => {
    const { deployment, state } = await planned();
    const sent = await truncate(state, deployment.during('truncate'));
    deployment.clock.time += sent.waitSeconds * 1000;
    expect(outcomeOf(await poll(sent, deployment.during('poll')))).toBe('truncated');
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('truncated');
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('given the same state after its verdict and the truncation of another run sends nothing', async () => {
    const { deployment, state } = await planned();
    const sent = await truncate(state, deployment.during('truncate'));
    deployment.clock.time += sent.waitSeconds * 1000;
    await poll(sent, deployment.during('poll'));
    deployment.service.engine.addRows(index, Array(700).fill(deployment.clock.time - 50 * 86_400_000));
    await deployment.night({}, 'run-2');
    deployment.service.engine.addRows(index, Array(700).fill(deployment.clock.time - 50 * 86_400_000));
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('failed');
    expect(deployment.realTruncates()).toHaveLength(2);
  });

  test('sends nothing when it has too little time left for the answer', async () => {
    const { deployment, state } = await planned();
    const deadline = deployment.clock.time + sendMarginMillis;
    const after = await truncate(state, { ...deployment.during('truncate'), deadline: () => deadline });
    expect(outcomeOf(after)).toBe('not-started');
    expect(await deployment.ledger.read(index)).toBeUndefined();
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('sends nothing in a run that is older than maxRunHours', async () => {
    const { deployment, state } = await planned();
    deployment.clock.time += 12 * 3_600_000;
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('not-started');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('sends nothing when its dry runs took until its time to send was over', async () => {
    const { deployment, state } = await planned();
    const services = deployment.during('truncate');
    const slow = withOperations(services, {
      async dryRun(...question) {
        deployment.clock.time += 200_000;
        return services.operations.dryRun(...question);
      },
    });
    expect(outcomeOf(await truncate(state, slow))).toBe('not-started');
    expect(await recordOf(deployment)).toMatchObject({ state: 'idle' });
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('that goes on after its time to send writes nothing to the open connection', async () => {
    const { deployment, state } = await planned();
    const services = deployment.during('truncate');
    const frozen = withOperations(services, {
      async truncate(fields, maySend) {
        deployment.clock.time += functionTimeoutSeconds.truncate * 1000;
        return services.operations.truncate(fields, maySend);
      },
    });
    expect(outcomeOf(await truncate(state, frozen))).toBe('failed');
    expect(await recordOf(deployment)).toMatchObject({ state: 'idle', lastVerdict: { entry: { outcome: 'failed' } } });
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('is in flight when another run took the index after the plan', async () => {
    const { deployment, state } = await planned({ rowsPerSecond: 1 });
    await truncate(await planNow(deployment, 'run-2'), deployment.during('truncate'));
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('in-flight');
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('does not send when somebody else deleted rows since the plan', async () => {
    const { deployment, state } = await planned();
    deployment.service.engine.runGc(60);
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('not-started');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('does not send when the server would now reindex', async () => {
    const { deployment, state } = await planned();
    deployment.service.engine.set({ knowsForceFlags: false });
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('not-started');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('of a preview starts nothing, whatever its state says', async () => {
    const { deployment, state } = await planned();
    const after = await truncate({ ...state, mode: 'preview' }, deployment.during('truncate'));
    expect([outcomeOf(after), after.next]).toEqual(['not-started', 'report']);
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('with a run state of another version starts nothing and reports', async () => {
    const { deployment, state } = await planned();
    const other = { ...state, version: 2 } as unknown as RunState;
    const after = await truncate(other, deployment.during('truncate'));
    expect(after).toMatchObject({
      version: 1,
      next: 'report',
      runId: 'run-1',
      error: expect.stringContaining('deployed anew'),
    });
    expect(outcomeOf(after)).toBe('not-started');
    expect(deployment.realTruncates()).toEqual([]);
  });
});

describe('after a Truncate that ended without a state', () => {
  test('and had not begun, Poll fences it off: when it goes on it cannot send', async () => {
    const { deployment, state } = await planned();
    const settled = await pollAfterFailure(state, deployment);
    expect(outcomeOf(settled)).toBe('failed');
    expect(settled.failure).toBeUndefined();
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('failed');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('and had only reserved, Poll takes the reservation back: when it goes on it cannot send', async () => {
    const { deployment, state } = await planned();
    const services = deployment.during('truncate');
    let settled: RunState | undefined;
    const interrupted = withOperations(services, {
      async indexSizes(options) {
        settled ??= await pollAfterFailure(state, deployment);
        return services.operations.indexSizes(options);
      },
    });
    expect(outcomeOf(await truncate(state, interrupted))).toBe('in-flight');
    expect(outcomeOf(settled!)).toBe('failed');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('and had written sending, Poll watches, and judges only when it can no longer be sent', async () => {
    const { deployment, state } = await planned();
    const services = deployment.during('truncate');
    const killed = withOperations(services, {
      async truncate() {
        throw new Error('killed');
      },
    });
    await expect(truncate(state, killed)).rejects.toThrow('killed');
    let next = await pollAfterFailure(state, deployment);
    const { judgeableAt, sendBy } = (await recordOf(deployment)).attempt!;
    expect(judgeableAt).toBe(sendBy + functionTimeoutSeconds.truncate * 1000);
    while (next.next === 'wait') {
      expect(outcomeOf(next)).toBe('watched');
      deployment.clock.time += next.waitSeconds * 1000;
      next = await poll(next, deployment.during('poll'));
    }
    expect(outcomeOf(next)).toBe('unknown');
    expect(deployment.clock.time).toBeGreaterThanOrEqual(judgeableAt);
    expect(next.breaker).toContain('unknown');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('and had started the task, Poll follows it to its end', async () => {
    const { deployment, state } = await planned();
    await truncate(state, deployment.during('truncate'));
    let next = await pollAfterFailure(state, deployment, 'Sandbox.Timedout');
    while (next.next === 'wait') {
      deployment.clock.time += next.waitSeconds * 1000;
      next = await poll(next, deployment.during('poll'));
    }
    expect(outcomeOf(next)).toBe('truncated');
    expect(next.notes).toContainEqual(expect.stringContaining('Sandbox.Timedout'));
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('Poll repeated gives the same verdict again, although the record is free by then', async () => {
    const { deployment, state } = await planned();
    const sent = await truncate(state, deployment.during('truncate'));
    deployment.clock.time += sent.waitSeconds * 1000;
    const first = await poll(sent, deployment.during('poll'));
    const second = await poll(sent, deployment.during('poll'));
    expect(second.entries).toEqual(first.entries);
  });

  test('Poll repeated after another run has reserved the index still gives this run its verdict', async () => {
    const { deployment, state } = await planned();
    const sent = await truncate(state, deployment.during('truncate'));
    deployment.clock.time += sent.waitSeconds * 1000;
    await poll(sent, deployment.during('poll'));
    const record = await recordOf(deployment);
    await deployment.ledger.replace(
      record,
      fence(record, { server: record.server, index, runId: 'run-9', attemptId: 'other' }, 0),
    );
    expect(outcomeOf(await poll(sent, deployment.during('poll')))).toBe('truncated');
  });
});
