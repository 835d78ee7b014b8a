import { describe, expect, test } from 'vitest';
import {
  functionTimeoutSeconds,
  longestToSendMillis,
  sendMarginMillis,
  settlingSeconds,
} from '../../../lambda/facts/limits.ts';
import { serverKey } from '../../../lambda/ledger/ledger.ts';
import { isForeign, type LedgerRecord } from '../../../lambda/ledger/record.ts';
import { clear, conclude, fence, quarantine, reserve, startSending } from '../../../lambda/ledger/transitions.ts';
import type { Operations } from '../../../lambda/operations/operations.ts';
import { plan } from '../../../lambda/run/plan/plan.ts';
import { poll } from '../../../lambda/run/poll.ts';
import { composeReport } from '../../../lambda/run/report.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { anIndexOf, type Deployment, deployments } from '../../support/deployment.ts';
import { aBaseline, anAttempt, aRecord, aVerdict } from '../../support/records.ts';

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

/** Another run takes the index, and writes that it sends. */
async function anotherRunSends({ ledger, clock, settings }: Deployment, name: string): Promise<LedgerRecord> {
  const [entityType, aspect] = name.split('.') as [string, string];
  const fields = { ...anAttempt().fields, entityType, aspect };
  const times = { sendBy: clock.time + 400_000, judgeableAt: clock.time + 1_000_000 };
  const attempt = anAttempt({ attemptId: 'other', runId: 'run-9', fields, ...times });
  const stored = await ledger.read(name);
  if (stored && isForeign(stored)) throw new Error('an unreadable record');
  const reservation = reserve(stored, serverKey(settings.gmsUrl), name, attempt, clock.time);
  if (reservation.kind !== 'reserved') throw new Error(reservation.kind);
  const { fields: sent, strategy } = attempt;
  const sending = startSending(reservation.record, { fields: sent, strategy, baseline: aBaseline }, clock.time);
  for (const [from, to] of [
    [stored, reservation.record],
    [reservation.record, sending],
  ] as const) {
    if (!(await ledger.replace(from, to))) throw new Error('the ledger refused');
  }
  return sending;
}

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
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('in-flight');
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

describe('with a run state of another version, after a redrive', () => {
  const foreign = (state: RunState) => ({ ...state, version: 2 }) as unknown as RunState;

  test.each([
    ['Truncate', truncate],
    ['Poll', poll],
  ])('%s does not say not-started of an index at which the Truncate called before is at work', async (_, step) => {
    const { deployment, state } = await planned();
    const services = deployment.during('truncate');
    let after: RunState | undefined;
    const interrupted = withOperations(services, {
      async indexSizes(options) {
        after ??= await step(foreign(state), services);
        return services.operations.indexSizes(options);
      },
    });
    expect(outcomeOf(await truncate(state, interrupted))).toBe('watched');
    expect(outcomeOf(after!)).toBe('still-running');
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test("Truncate says not-started where the record is another run's", async () => {
    const { deployment, state } = await planned();
    await anotherRunSends(deployment, index);
    expect(outcomeOf(await truncate(foreign(state), deployment.during('truncate')))).toBe('not-started');
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
    expect(next.breaker).toContain('nobody can tell yet what became of a truncation of dataset.operation');
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

  test('and had sent, and two other runs have closed it and truncated again, Poll does not say that nothing was sent', async () => {
    const { deployment, state } = await planned();
    await truncate(state, deployment.during('truncate'));
    await deployment.night({}, 'run-2');
    deployment.policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 10 }];
    await deployment.night({}, 'run-3');
    const settled = await pollAfterFailure(state, deployment);
    expect(outcomeOf(settled)).toBe('in-flight');
    expect(settled.entries[0]?.entry).toHaveProperty('reason', expect.stringContaining('another run has closed'));
    expect(deployment.realTruncates()).toHaveLength(2);
  });

  test('and was fenced off, Poll tried again says the same', async () => {
    const { deployment, state } = await planned();
    const first = await pollAfterFailure(state, deployment);
    const again = await pollAfterFailure(state, deployment);
    expect(outcomeOf(first)).toBe('failed');
    expect(again.entries).toEqual(first.entries);
  });

  test('while another run holds the index, Poll keeps the failure, waits, and starts nothing beside it', async () => {
    const { deployment, state } = await planned({
      indices: [anIndexOf(600, 400), anIndexOf(700, 400, 'datasetProfile')],
      policies: ['operation', 'datasetProfile'].map((aspect) => ({ entityType: 'dataset', aspect, retentionDays: 30 })),
    });
    const [first, second] = state.entries;
    await anotherRunSends(deployment, first!.index);
    const standing = await pollAfterFailure(state, deployment);
    expect(standing).toMatchObject({ next: 'wait', waitSeconds: settlingSeconds });
    expect(standing.failure?.sendsUntil).toBe(deployment.clock.time + longestToSendMillis);
    expect(standing.entries).toEqual([first, second]);
    deployment.clock.time += standing.waitSeconds * 1000;
    const later = await poll(standing, deployment.during('poll'));
    expect(later.failure).toEqual(standing.failure);
    expect(later.turns).toEqual({ truncate: 1, poll: 2 });
  });

  test('and the other run lets go in time, Poll fences it off: when it goes on it cannot send', async () => {
    const { deployment, state } = await planned();
    const held = await anotherRunSends(deployment, index);
    const standing = await pollAfterFailure(state, deployment);
    await deployment.ledger.replace(held, conclude(held, aVerdict({ runId: 'run-9', attemptId: 'other' })));
    deployment.clock.time += standing.waitSeconds * 1000;
    const settled = await poll(standing, deployment.during('poll'));
    expect([outcomeOf(settled), settled.failure]).toEqual(['failed', undefined]);
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('failed');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('and the other run goes on, Poll says in-flight only when the one given up can no longer send', async () => {
    const { deployment, state } = await planned();
    const given = deployment.during('truncate');
    const held = await anotherRunSends(deployment, index);
    let next = await pollAfterFailure(state, deployment);
    const { sendsUntil } = next.failure!;
    while (next.next === 'wait') {
      expect(outcomeOf(next)).toBe('approved');
      deployment.clock.time += next.waitSeconds * 1000;
      next = await poll(next, deployment.during('poll'));
    }
    expect([outcomeOf(next), next.next]).toEqual(['in-flight', 'report']);
    expect(deployment.clock.time).toBeGreaterThanOrEqual(sendsUntil!);
    await deployment.ledger.replace(held, conclude(held, aVerdict({ runId: 'run-9', attemptId: 'other' })));
    expect(outcomeOf(await truncate(state, given))).toBe('not-started');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('while another run holds the index and the history is spent, the run ends: it may have started', async () => {
    const { deployment, state } = await planned();
    await anotherRunSends(deployment, index);
    const spent = { ...state, turns: { truncate: 0, poll: 5000 } };
    const ended = await pollAfterFailure(spent, deployment);
    expect(ended.next).toBe('report');
    const execution = { name: state.runId, startTime: state.startedAt };
    const composed = composeReport({ input: ended, execution }, deployment.services);
    expect(composed).toMatchObject({ result: 'failed', error: expect.stringContaining('Lambda.Unknown') });
    expect(composed.policies[0]).toMatchObject({ outcome: 'unknown' });
  });

  test('and the index was closed meanwhile, it cannot send when a person clears it', async () => {
    const { deployment, state } = await planned();
    const held = await anotherRunSends(deployment, index);
    const bad = aVerdict({ runId: 'run-9', attemptId: 'other' });
    await deployment.ledger.replace(held, quarantine(held, bad));
    expect(outcomeOf(await pollAfterFailure(state, deployment))).toBe('quarantined');
    const closed = await recordOf(deployment);
    expect(closed).toMatchObject({ state: 'quarantined', lastVerdict: bad });
    await deployment.ledger.replace(closed, clear(closed));
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('failed');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('and another run has left a reservation whose time is over, Poll fences it off from that as well', async () => {
    const { deployment, state } = await planned();
    const { time } = deployment.clock;
    const over = anAttempt({ attemptId: 'other', runId: 'run-9', sendBy: time - 1, judgeableAt: time + 1 });
    const { server } = await anotherRunSends(deployment, 'chart.chartUsageStatistics');
    const reserved = aRecord({ server, index, state: 'reserved', attemptId: 'other', attempt: over });
    expect(await deployment.ledger.replace(undefined, reserved)).toBe(true);
    expect(outcomeOf(await pollAfterFailure(state, deployment))).toBe('failed');
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('failed');
    expect(deployment.realTruncates()).toEqual([]);
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
