import type { Step } from '../../../cli/run/state-machine.ts';
import { functionTimeoutSeconds } from '../../../lambda/run/deadlines.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import { takeStep } from '../../support/steps.ts';
import { hangMillis } from '../alphabet/weather.ts';
import type { InvocationInfo } from './journal.ts';
import { servicesOf } from './services.ts';
import type { World } from './world.ts';

/** One call of one function: the real step with the laboratory's services. Each await of the step can fail. */

/** The execution that calls functions. */
export interface Caller {
  runId: string;
  runStartMillis: number;
  /** From the deployment; read at each call, because another deployment may come in between. */
  settings(): RunSettings;
  /** The functions that it has called and that are still alive. */
  functions?: Set<Invocation>;
}

/**
 * One await of a function: an exchange with a store or the server, or one of its faults instead.
 * @param chance of a fault, in ordinary histories
 */
export type Exchange = <T>(
  where: string,
  effect: () => T | Promise<T>,
  faults?: Record<string, () => T | Promise<T>>,
  chance?: number,
) => Promise<T>;

export interface Invocation {
  info: InvocationInfo;
  world: World;
  exchange: Exchange;
  /** A dead function's awaits never return: what it had in memory is gone. */
  alive: boolean;
  /** One of its counts was answered by a server that does not know the index. */
  sawStranger?: boolean;
  fail(error: Error): void;
}

export const named = (name: string, message = name): Error => Object.assign(new Error(message), { name });

type Call = [world: World, step: Step, caller: Caller, input: unknown, timeoutSeconds: number];

/**
 * Calls a step as Step Functions calls a function: it may never start, die, or outlive its own timeout or the state's.
 * What the caller gets says nothing about what the function still does.
 */
export function invoke(...call: Call): Promise<unknown> {
  const [world] = call;
  const { chances, weather } = world;
  if (chances.happens(weather.call)) {
    world.injected('function not begun');
    return Promise.reject(named('Lambda.TooManyRequestsException'));
  }
  if (chances.happens(weather.call / 2)) {
    world.injected('function begun twice');
    invokeOnce(...call).catch(() => {});
  }
  return invokeOnce(...call);
}

function invokeOnce(...[world, step, caller, input, timeoutSeconds]: Call): Promise<unknown> {
  const { time, chances, weather } = world;
  return new Promise((resolve, reject) => {
    const info = begin(world, step, caller);
    const invocation: Invocation = {
      info,
      world,
      alive: true,
      fail: reject,
      exchange: (...given) => rolled(invocation)(...given),
    };
    caller.functions?.add(invocation);
    if (chances.happens(weather.call)) {
      // The caller loses sight of a function that continues.
      time.at(info.startedAt + chances.between(0, 60_000), () => {
        if (!invocation.alive) return;
        world.injected('function given up');
        reject(named('Lambda.ServiceException'));
      });
    }
    const immortal = chances.happens(weather.hang * 20);
    time.at(info.endsAt, () => {
      if (!invocation.alive) return;
      if (immortal) return world.injected('function outlives its time');
      invocation.alive = false;
      reject(named('Sandbox.Timedout'));
    });
    time.at(info.startedAt + timeoutSeconds * 1000, () => reject(named('States.Timeout')));
    const ended = (settle: () => void) => {
      if (!invocation.alive) return;
      invocation.alive = false;
      caller.functions?.delete(invocation);
      settle();
    };
    pause(invocation, chances.between(1, 300))
      .then(() => takeStep(step, structuredClone(input), servicesOf(invocation)))
      .then(
        (output) => ended(() => resolve(output)),
        (error: Error) =>
          ended(() => {
            world.threw(step, error);
            reject(error);
          }),
      );
  });
}

/** Notes the beginning of a call. */
export function begin(world: World, step: Step, { runId, runStartMillis, settings }: Caller): InvocationInfo {
  const startedAt = world.time.now();
  const endsAt = startedAt + functionTimeoutSeconds[step] * 1000;
  const invocation = {
    id: world.nextInvocation(),
    step,
    runId,
    runStartMillis,
    startedAt,
    endsAt,
    settings: { ...settings() },
  };
  world.journal.push({ at: startedAt, kind: 'invocation', invocation });
  return invocation;
}

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
async function yieldPoint(invocation: Invocation, where: string): Promise<void> {
  const { world, info } = invocation;
  const { chances, weather } = world;
  if (chances.happens(weather.crash)) {
    world.injected('function crashes');
    world.injected(`crash ${where}`);
    invocation.alive = false;
    invocation.fail(named('Runtime.ExitError'));
    await never();
  }
  // A Truncate that hangs is the most dangerous: it may still send when it goes on.
  if (chances.happens(weather.hang * (info.step === 'truncate' ? 3 : 1))) {
    world.injected('function hangs');
    world.injected(`hang ${where}`);
    // By the time it continues, the caller has often given up.
    if (info.step === 'truncate' && chances.happens(0.5)) invocation.fail(named('Lambda.ServiceException'));
    await pause(invocation, hangMillis(chances));
  }
}

/** Rolls the dice: everything that can happen on the way there and back. */
const rolled =
  (invocation: Invocation): Exchange =>
  async (where, effect, faults = {}, chance = 0) => {
    const { world } = invocation;
    const { chances } = world;
    const names = Object.keys(faults);
    const fault = names.length > 0 && chances.happens(chance) ? chances.pick(names) : undefined;
    if (fault) world.injected(`${where.split(' ')[0]}: ${fault}`);
    await yieldPoint(invocation, `before ${where}`);
    await pause(invocation, chances.between(1, 40));
    const result = await (faults[fault ?? ''] ?? effect)();
    await yieldPoint(invocation, `after ${where}`);
    await pause(invocation, chances.between(1, 40));
    return result;
  };
