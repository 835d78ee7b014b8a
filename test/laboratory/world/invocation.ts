import { functionTimeoutSeconds } from '../../../lambda/facts/limits.ts';
import type { Ledger } from '../../../lambda/ledger/ledger.ts';
import { type PlanEvent, plan } from '../../../lambda/run/plan/plan.ts';
import { poll } from '../../../lambda/run/poll.ts';
import { type ReportEvent, report } from '../../../lambda/run/report.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { hangMillis } from '../alphabet/weather.ts';
import type { InvocationInfo } from './journal.ts';
import { publisherOf, servicesOf } from './services.ts';
import type { World } from './world.ts';

/** One call of one function: the real step with the laboratory's services. Each await of the step can fail. */

export type StepName = 'plan' | 'truncate' | 'poll' | 'report';

/** The execution that calls functions. */
export interface Caller {
  runId: string;
  runStartMillis: number;
  ledger: Ledger;
  /** From the deployment; read at each call, because another deployment may come in between. */
  settings(): RunSettings;
}

export interface Invocation extends InvocationInfo {
  world: World;
  caller: Caller;
  settings: RunSettings;
  /** End of the function's time by its own clock, as set at its start. */
  deadline: number;
  /** A dead function's awaits never return: what it had in memory is gone. */
  alive: boolean;
  fail(error: Error): void;
}

export const named = (name: string, message = name): Error => Object.assign(new Error(message), { name });

/**
 * Calls a step as Step Functions calls a function: it may never start, die, or outlive its own timeout or the state's.
 * What the caller gets says nothing about what the function still does.
 */
export function invoke(
  world: World,
  step: StepName,
  caller: Caller,
  input: unknown,
  timeoutSeconds: number,
): Promise<unknown> {
  const { chances, weather } = world;
  if (chances.happens(weather.call)) {
    world.injected('function not begun');
    return Promise.reject(named('Lambda.TooManyRequestsException'));
  }
  if (chances.happens(weather.call / 2)) {
    world.injected('function begun twice');
    invokeOnce(world, step, caller, input, timeoutSeconds).catch(() => {});
  }
  return invokeOnce(world, step, caller, input, timeoutSeconds);
}

function invokeOnce(
  world: World,
  step: StepName,
  caller: Caller,
  input: unknown,
  timeoutSeconds: number,
): Promise<unknown> {
  const { time, chances, weather, clocks } = world;
  return new Promise((resolve, reject) => {
    const startedAt = time.now();
    const endsAt = startedAt + functionTimeoutSeconds[step] * 1000;
    const invocation: Invocation = {
      id: world.nextInvocation(),
      step,
      runId: caller.runId,
      runStartMillis: caller.runStartMillis,
      startedAt,
      endsAt,
      world,
      caller,
      settings: caller.settings(),
      deadline: endsAt + clocks.functions,
      alive: true,
      fail: reject,
    };
    world.journal.push({ at: startedAt, kind: 'invocation', invocation: infoOf(invocation) });
    if (chances.happens(weather.call)) {
      // The caller loses sight of a function that continues.
      time.at(startedAt + chances.between(0, 60_000), () => {
        if (!invocation.alive) return;
        world.injected('function given up');
        reject(named('Lambda.ServiceException'));
      });
    }
    const immortal = chances.happens(weather.hang * 20);
    time.at(endsAt, () => {
      if (!invocation.alive) return;
      if (immortal) return world.injected('function outlives its time');
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
  const { world, step, settings } = invocation;
  await pause(invocation, world.chances.between(1, 300));
  const services = servicesOf(invocation);
  if (step === 'report') {
    const { clock, log } = services;
    return report(input as ReportEvent, { settings, clock, log, publisher: publisherOf(invocation) });
  }
  const state: RunState =
    step === 'plan'
      ? await plan(input as PlanEvent, services)
      : step === 'truncate'
        ? await truncate(input as RunState, services)
        : await poll(input as RunState, services);
  world.show('state', JSON.stringify(state));
  if (invocation.alive) {
    world.journal.push({ at: world.time.now(), kind: 'state', invocation: infoOf(invocation), state });
  }
  return state;
}

export const infoOf = (invocation: Invocation): InvocationInfo => {
  const { id, step, runId, runStartMillis, startedAt, endsAt, settings } = invocation;
  const { mode, minRetentionDays, maxRunHours, gmsUrl, maxRowsPerRun: bite } = settings;
  const own = { mode, minRetentionDays, maxRunHours, gmsUrl, ...(bite !== undefined && { maxRowsPerRun: bite }) };
  return { id, step, runId, runStartMillis, startedAt, endsAt, settings: own };
};

/** Waits in virtual time; never returns into a function that has died in the meantime. */
export function pause(invocation: Invocation, millis: number): Promise<void> {
  const { time } = invocation.world;
  return new Promise((resolve) =>
    time.at(time.now() + millis, () => {
      if (invocation.alive) resolve();
    }),
  );
}

/** A new one each time: a shared one would keep everything in memory that ever waited for it. */
const never = () => new Promise<never>(() => {});

/** Lets the function die, hang or continue here. */
export async function yieldPoint(invocation: Invocation, where: string): Promise<void> {
  const { world } = invocation;
  const { chances, weather } = world;
  if (chances.happens(weather.crash)) {
    world.injected('function crashes');
    world.injected(`crash ${where}`);
    invocation.alive = false;
    invocation.fail(named('Runtime.ExitError'));
    await never();
  }
  // Truncate's sleepers are the dangerous ones.
  if (chances.happens(weather.hang * (invocation.step === 'truncate' ? 3 : 1))) {
    world.injected('function hangs');
    world.injected(`hang ${where}`);
    // By the time it continues, the caller has often given up.
    if (invocation.step === 'truncate' && chances.happens(0.5)) invocation.fail(named('Lambda.ServiceException'));
    const millis = hangMillis(chances);
    await pause(invocation, millis);
    // Nowhere else does the wall clock matter as much.
    if (rightBeforeTheCall.has(where) && chances.happens(0.5)) {
      world.injected('clock stood still');
      world.clocks.functions = -millis;
    }
  }
}

const rightBeforeTheCall = new Set(['before ledger write sending', 'before truncate']);
