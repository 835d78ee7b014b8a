import { functionTimeoutSeconds, readAttempts } from '../../lambda/facts/limits.ts';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import { createOperations } from '../../lambda/operations/http/http-operations.ts';
import { type PlanEvent, plan } from '../../lambda/run/plan/plan.ts';
import { poll } from '../../lambda/run/poll.ts';
import { type ReportEvent, report } from '../../lambda/run/report.ts';
import { ParametersError, type RunServices } from '../../lambda/run/services.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { truncate } from '../../lambda/run/truncate.ts';
import type { InvocationInfo } from './journal.ts';
import { laboratoryTransport } from './transport.ts';
import { hangMillis } from './weather.ts';
import type { World } from './world.ts';

/** One call of one function: the real step on the laboratory's services. Each await of the step is a place to fail. */

export type StepName = 'plan' | 'truncate' | 'poll' | 'report';

export interface Invocation extends InvocationInfo {
  world: World;
  /** A dead function's awaits never return: what it had in memory is gone. */
  alive: boolean;
  fail(error: Error): void;
}

export const named = (name: string, message = name): Error => Object.assign(new Error(message), { name });

/**
 * Calls a step as Step Functions calls a function: it may never be begun, die, outlive its own time or the state's
 * patience. What the caller gets says nothing about what the function still does.
 */
export function invoke(
  world: World,
  step: StepName,
  runId: string,
  input: unknown,
  timeoutSeconds: number,
): Promise<unknown> {
  const { chances, weather } = world;
  if (chances.happens(weather().call)) {
    world.injected('function: not begun (too many requests)');
    return Promise.reject(named('Lambda.TooManyRequestsException'));
  }
  if (chances.happens(weather().call / 2)) {
    world.injected('function: begun twice');
    invokeOnce(world, step, runId, input, timeoutSeconds).catch(() => {});
  }
  return invokeOnce(world, step, runId, input, timeoutSeconds);
}

function invokeOnce(
  world: World,
  step: StepName,
  runId: string,
  input: unknown,
  timeoutSeconds: number,
): Promise<unknown> {
  const { time, chances, weather } = world;
  return new Promise((resolve, reject) => {
    const startedAt = time.now();
    const invocation: Invocation = {
      id: world.nextInvocation(),
      step,
      runId,
      startedAt,
      deadline: startedAt + functionTimeoutSeconds[step] * 1000,
      world,
      alive: true,
      fail: reject,
    };
    world.journal.push({ at: startedAt, kind: 'invocation', invocation: infoOf(invocation) });
    if (chances.happens(weather().call)) {
      // The caller loses sight of a function that goes on.
      time.at(startedAt + chances.between(0, 60_000), () => {
        if (!invocation.alive) return;
        world.injected('function: given up, goes on');
        reject(named('Lambda.ServiceException'));
      });
    }
    const immortal = chances.happens(weather().hang * 20);
    time.at(invocation.deadline, () => {
      if (immortal || !invocation.alive) return;
      invocation.alive = false;
      reject(named('Sandbox.Timedout'));
    });
    time.at(startedAt + timeoutSeconds * 1000, () => reject(named('States.Timeout')));
    call(invocation, structuredClone(input)).then(
      (output) => {
        if (!invocation.alive) return;
        invocation.alive = false;
        resolve(output);
      },
      (error: Error) => {
        if (!invocation.alive) return;
        invocation.alive = false;
        world.show('error', `${error.name} ${error.message}`);
        world.threw(invocation, error);
        reject(error);
      },
    );
  });
}

async function call(invocation: Invocation, input: unknown): Promise<unknown> {
  const { world, step } = invocation;
  await pause(invocation, world.chances.between(1, 300));
  if (step === 'report') {
    const settings = world.settings();
    const publisher = { publish: (made: Parameters<World['publish']>[1]) => publish(invocation, made) };
    const clock = { now: world.time.now, realNow: world.time.now };
    return report(input as ReportEvent, { settings, clock, log: world.log, publisher });
  }
  const services = servicesOf(invocation);
  const state: RunState =
    step === 'plan'
      ? await plan(input as PlanEvent, services)
      : step === 'truncate'
        ? await truncate(input as RunState, services)
        : await poll(input as RunState, services);
  world.show('state', JSON.stringify(state));
  world.journal.push({ at: world.time.now(), kind: 'state', invocation: infoOf(invocation), state });
  return state;
}

export const infoOf = ({ id, step, runId, startedAt, deadline }: Invocation): InvocationInfo => ({
  id,
  step,
  runId,
  startedAt,
  deadline,
});

/** Waits in virtual time; never returns into a function that is dead by then. */
export function pause(invocation: Invocation, millis: number): Promise<void> {
  const { time } = invocation.world;
  return new Promise((resolve) =>
    time.at(time.now() + millis, () => {
      if (invocation.alive) resolve();
    }),
  );
}

/** A new one each time: a shared one would hold on to everything that ever waited for it. */
const never = () => new Promise<never>(() => {});

/** Lets the function die or hang here, or go on. */
export async function yieldPoint(invocation: Invocation, where: string): Promise<void> {
  const { world } = invocation;
  const { chances, weather } = world;
  if (chances.happens(weather().crash)) {
    world.injected(`crash ${where}`);
    invocation.alive = false;
    invocation.fail(named('Runtime.ExitError'));
    await never();
  }
  // Truncate's sleepers are the dangerous ones.
  if (chances.happens(weather().hang * (invocation.step === 'truncate' ? 3 : 1))) {
    world.injected(`hang ${where}`);
    // Often enough the caller has given it up by the time it goes on.
    if (invocation.step === 'truncate' && chances.happens(0.5)) invocation.fail(named('Lambda.ServiceException'));
    await pause(invocation, hangMillis(chances));
  }
}

/** One exchange with a store: there and back, with everything that can happen on the way. */
async function exchange<T>(invocation: Invocation, where: string, effect: () => T | Promise<T>): Promise<T> {
  const { chances } = invocation.world;
  await yieldPoint(invocation, `before ${where}`);
  await pause(invocation, chances.between(1, 40));
  const result = await effect();
  await yieldPoint(invocation, `after ${where}`);
  await pause(invocation, chances.between(1, 40));
  return result;
}

async function publish(invocation: Invocation, made: Parameters<World['publish']>[1]): Promise<void> {
  const { world } = invocation;
  const fails = world.chances.happens(world.weather().publish);
  const lost = fails && world.chances.happens(0.3);
  await exchange(invocation, 'publish', () => {
    if (!fails || lost) world.publish(invocation.runId, made);
  });
  if (!fails) return;
  world.injected(lost ? 'publish: answer lost' : 'publish: refused');
  throw named('PublishError');
}

function servicesOf(invocation: Invocation): RunServices {
  const { world } = invocation;
  const { chances, time, weather } = world;
  const parameter = async <T>(what: string, value: () => T): Promise<T> => {
    const fails = chances.happens(weather().parameters);
    const result = await exchange(invocation, what, value);
    if (!fails) return result;
    world.injected(`parameters: throttled (${what})`);
    throw new ParametersError(`${what} cannot be read: ThrottlingException`);
  };
  const written = async <T>(what: string, effect: () => Promise<T>, mutes: boolean): Promise<T> => {
    const fails = chances.happens(weather().ledger);
    const applies = !fails || (mutes && chances.happens(0.6));
    const result = await exchange(invocation, `ledger ${what}`, async () => (applies ? effect() : undefined));
    if (!fails) return result as T;
    world.injected(`ledger: ${what} ${applies ? 'stored, answer lost' : 'refused'}`);
    throw new LedgerError(`Tried to ${what}: TimeoutError`);
  };
  const token = {
    get: () => parameter('token', () => world.engine.token),
    reread: () => parameter('token', () => world.engine.token),
  };
  return {
    settings: world.settings(),
    parameters: {
      policies: () => parameter('policies', () => world.policies().map((source) => ({ ...source }))),
      paused: () => parameter('pause', () => world.paused()),
      token,
    },
    operations: createOperations({
      baseUrl: world.settings().gmsUrl,
      token,
      transport: laboratoryTransport(invocation),
      attempts: readAttempts,
      realNow: time.now,
      sleep: (millis) => pause(invocation, millis),
      random: chances.next,
    }),
    ledger: {
      read: (index) => written('read', () => world.ledger.read(index), false),
      list: () => written('list', () => world.ledger.list(), false),
      replace: (previous, next) =>
        written(`write ${next.state}`, () => world.replace(infoOf(invocation), previous, next), true),
      claimScheduledTime: (at, runId) => written('claim', () => world.ledger.claimScheduledTime(at, runId), true),
    },
    surroundings: { place: 'lambda', lookup: async () => ['192.0.2.1'] },
    clock: { now: time.now, realNow: time.now },
    log: world.log,
    newId: world.newId,
    deadline: () => invocation.deadline,
  };
}
