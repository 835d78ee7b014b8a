import { describe, expect, test } from 'vitest';
import { functionTimeoutSeconds, longestToSendMillis, settlingSeconds } from '../../../lambda/facts/limits.ts';
import type { Idle, LedgerRecord, Quarantined, Sending } from '../../../lambda/ledger/record.ts';
import { clear, conclude, fence, quarantine } from '../../../lambda/ledger/transitions.ts';
import { serverAddress } from '../../../lambda/operations/http/base-url.ts';
import type { Operations } from '../../../lambda/operations/operations.ts';
import { plan } from '../../../lambda/run/plan/plan.ts';
import { poll } from '../../../lambda/run/poll.ts';
import { composeReport } from '../../../lambda/run/report.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { anIndexOf, type Deployment, deployments } from '../../support/deployment.ts';
import {
  anAttempt,
  anIndex,
  aQuarantined,
  aReserved,
  aSending,
  aSentAttempt,
  aVerdict,
} from '../../support/records.ts';

/** Only the dangerous step: what it does if it is stopped, repeated, late, or not alone. */

const started = deployments();

const index = anIndex;

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

/** Another run has reserved the index and written `sending`. */
async function anotherRunSends({ ledger, clock, settings }: Deployment): Promise<Sending> {
  const times = { sendBy: clock.time + 400_000, sendingSince: clock.time };
  const sending = aSending({
    server: serverAddress(settings.gmsUrl),
    attemptId: 'other',
    judgeableAt: clock.time + 1_000_000,
    attempt: aSentAttempt({ ...anotherRun, ...times }),
  });
  ledger.stored.set(index, sending);
  return sending;
}
const anotherRun = { runId: 'run-9', runStartMillis: 1 };
const anotherVerdict = aVerdict({ ...anotherRun, attemptId: 'other' });

describe('Truncate', () => {
  test('given the same state again sends nothing more, and watches what it sent', async () => {
    const { deployment, state } = await planned();
    await truncate(state, deployment.during('truncate'));
    const again = await truncate(state, deployment.during('truncate'));
    expect(outcomeOf(again)).toBe('watched');
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('that decided against sending is not overruled by an abandoned invocation of the same run', async () => {
    const { deployment, state } = await planned();
    const services = deployment.during('truncate');
    const paused = { ...services, parameters: { ...services.parameters, paused: async () => true } };
    expect(outcomeOf(await truncate(state, paused))).toBe('not-started');
    expect(await recordOf(deployment)).toMatchObject({ state: 'idle', sentBy: [{ runId: 'run-1', fenced: true }] });
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('failed');
    expect(deployment.realTruncates()).toEqual([]);
    // The next run is not held up.
    deployment.clock.time += 3_600_000;
    expect((await deployment.night({}, 'run-2')).policies).toMatchObject([{ outcome: 'truncated' }]);
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
    deployment.service.engine.addRows('dataset.operation', Array(700).fill(deployment.clock.time - 50 * 86_400_000));
    await deployment.night({}, 'run-2');
    deployment.service.engine.addRows('dataset.operation', Array(700).fill(deployment.clock.time - 50 * 86_400_000));
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('in-flight');
    expect(deployment.realTruncates()).toHaveLength(2);
  });

  test('that finds rows missing by another run’s verdict starts nothing more in this run', async () => {
    const aspects = ['operation', 'views'];
    const { deployment, state } = await planned({
      indices: aspects.map((aspect) => anIndexOf(600, 400, aspect)),
      policies: aspects.map((aspect) => ({ entityType: 'dataset', aspect, retentionDays: 30 })),
    });
    const server = serverAddress(deployment.settings.gmsUrl);
    const missing = aVerdict({ runId: 'run-1', runStartMillis: deployment.clock.time }).entry;
    const lastVerdict = aVerdict({
      runId: 'run-1',
      runStartMillis: deployment.clock.time,
      entry: { ...missing, outcome: 'rows-missing', cause: { kind: 'missing', expected: 400, found: 100 } },
    });
    deployment.ledger.stored.set(index, aQuarantined({ server, lastVerdict }));
    const after = await truncate(state, deployment.during('truncate'));
    expect(after.next).toBe('report');
    expect(after.entries.map((entry) => entry.phase === 'done' && entry.entry.outcome)).toEqual([
      'rows-missing',
      'not-started',
    ]);
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

  test('with a run state of another version starts nothing and reports', async () => {
    const { deployment, state } = await planned();
    const other = { ...state, version: 9 } as unknown as RunState;
    const after = await truncate(other, deployment.during('truncate'));
    expect(after).toMatchObject({
      version: 3,
      next: 'report',
      runId: 'run-1',
      error: { kind: 'foreign', why: 'version', deployed: true },
    });
    expect(outcomeOf(after)).toBe('unknown');
    expect(deployment.realTruncates()).toEqual([]);
  });
});

describe('with a run state of another version, after a redrive', () => {
  const foreign = (state: RunState) => ({ ...state, version: 9 }) as unknown as RunState;

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
    expect(outcomeOf(after!)).toBe('unknown');
    expect(deployment.realTruncates()).toHaveLength(1);
  });
});

describe('after a Truncate that ended without a state', () => {
  test('before it had begun, Poll fences it off: it cannot send when it continues', async () => {
    const { deployment, state } = await planned();
    const settled = await pollAfterFailure(state, deployment);
    expect(outcomeOf(settled)).toBe('failed');
    expect(settled.failure).toBeUndefined();
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('failed');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('and had only reserved, Poll takes the reservation back: it cannot send when it continues', async () => {
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
    const { judgeableAt, attempt } = (await recordOf(deployment)) as Sending;
    const { sendBy } = attempt;
    expect(judgeableAt).toBe(sendBy + functionTimeoutSeconds.truncate * 1000);
    while (next.next === 'wait') {
      expect(outcomeOf(next)).toBe('watched');
      deployment.clock.time += next.waitSeconds * 1000;
      next = await poll(next, deployment.during('poll'));
    }
    expect(outcomeOf(next)).toBe('failed');
    expect(next.entries[0]?.entry).toHaveProperty('cause', { kind: 'unchanged' });
    expect(deployment.clock.time).toBeGreaterThanOrEqual(judgeableAt);
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
    expect(next.notes).toContainEqual({
      kind: 'truncate-failed',
      index: 'dataset.operation',
      error: 'Sandbox.Timedout',
    });
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('and had sent, Poll does not report it as not sent after two other runs closed it and truncated again', async () => {
    const { deployment, state } = await planned();
    await truncate(state, deployment.during('truncate'));
    await deployment.night({}, 'run-2');
    deployment.policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 10 }];
    await deployment.night({}, 'run-3');
    const settled = await pollAfterFailure(state, deployment);
    expect(outcomeOf(settled)).toBe('in-flight');
    expect(settled.entries[0]?.entry).toHaveProperty('cause', { kind: 'held', state: 'closed' });
    expect(deployment.realTruncates()).toHaveLength(2);
  });

  test('and was fenced off, a retried Poll gives the same result', async () => {
    const { deployment, state } = await planned();
    const first = await pollAfterFailure(state, deployment);
    const again = await pollAfterFailure(state, deployment);
    expect(outcomeOf(first)).toBe('failed');
    expect(again.entries).toEqual(first.entries);
  });

  test('while another run holds the index, Poll keeps the failure, waits, and starts nothing alongside it', async () => {
    const { deployment, state } = await planned({
      indices: [anIndexOf(600, 400), anIndexOf(700, 400, 'datasetProfile')],
      policies: ['operation', 'datasetProfile'].map((aspect) => ({ entityType: 'dataset', aspect, retentionDays: 30 })),
    });
    const [first, second] = state.entries;
    await anotherRunSends(deployment);
    const standing = await pollAfterFailure(state, deployment);
    expect(standing).toMatchObject({ next: 'wait', waitSeconds: settlingSeconds });
    expect(standing.failure?.sendsUntil).toBe(deployment.clock.time + longestToSendMillis);
    expect(standing.entries).toEqual([first, second]);
    deployment.clock.time += standing.waitSeconds * 1000;
    const later = await poll(standing, deployment.during('poll'));
    expect(later.failure).toEqual(standing.failure);
    expect(later.turns).toEqual({ truncate: 1, poll: 2 });
  });

  test('after the other run frees the index in time, Poll fences it off: it cannot send when it continues', async () => {
    const { deployment, state } = await planned();
    const held = await anotherRunSends(deployment);
    const standing = await pollAfterFailure(state, deployment);
    await deployment.ledger.replace(held, conclude(held, anotherVerdict));
    deployment.clock.time += standing.waitSeconds * 1000;
    const settled = await poll(standing, deployment.during('poll'));
    expect([outcomeOf(settled), settled.failure]).toEqual(['failed', undefined]);
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('failed');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('while the other run continues, Poll reports in-flight only when the abandoned Truncate can no longer send', async () => {
    const { deployment, state } = await planned();
    const given = deployment.during('truncate');
    const held = await anotherRunSends(deployment);
    let next = await pollAfterFailure(state, deployment);
    const { sendsUntil } = next.failure!;
    while (next.next === 'wait') {
      expect(outcomeOf(next)).toBe('approved');
      deployment.clock.time += next.waitSeconds * 1000;
      next = await poll(next, deployment.during('poll'));
    }
    expect([outcomeOf(next), next.next]).toEqual(['in-flight', 'report']);
    expect(deployment.clock.time).toBeGreaterThanOrEqual(sendsUntil!);
    await deployment.ledger.replace(held, conclude(held, anotherVerdict));
    expect(outcomeOf(await truncate(state, given))).toBe('not-started');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('while another run holds the index and the history is spent, the run ends, and it may have started', async () => {
    const { deployment, state } = await planned();
    await anotherRunSends(deployment);
    const spent = { ...state, turns: { truncate: 0, poll: 5000 } };
    const ended = await pollAfterFailure(spent, deployment);
    expect(ended.next).toBe('report');
    const execution = { name: state.runId, startTime: state.startedAt };
    const composed = composeReport({ input: ended, execution }, deployment.services);
    expect(composed).toMatchObject({ result: 'failed', cause: { kind: 'step-failed', error: 'Lambda.Unknown' } });
    expect(composed.policies[0]).toMatchObject({ outcome: 'unknown' });
  });

  test('and the index was closed meanwhile, it cannot send when a person clears it', async () => {
    const { deployment, state } = await planned();
    const held = await anotherRunSends(deployment);
    await deployment.ledger.replace(held, quarantine(held, anotherVerdict));
    expect(outcomeOf(await pollAfterFailure(state, deployment))).toBe('quarantined');
    const closed = (await recordOf(deployment)) as Quarantined;
    expect(closed).toMatchObject({ state: 'quarantined', lastVerdict: { attemptId: 'other' } });
    await deployment.ledger.replace(closed, clear(closed, closed));
    expect(outcomeOf(await truncate(state, deployment.during('truncate')))).toBe('failed');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('and another run has left an expired reservation, Poll fences it off from that as well', async () => {
    const { deployment, state } = await planned();
    const { time } = deployment.clock;
    const attempt = anAttempt({ ...anotherRun, sendBy: time - 1 });
    const server = serverAddress(deployment.settings.gmsUrl);
    const reserved = aReserved({ server, attemptId: 'other', judgeableAt: time - 1, attempt });
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
    const record = (await recordOf(deployment)) as Idle;
    await deployment.ledger.replace(record, fence(record, record, anotherRun, 'other', 0));
    expect(outcomeOf(await poll(sent, deployment.during('poll')))).toBe('truncated');
  });
});
