import { readAttempts } from '../../../lambda/facts/limits.ts';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { createOperations } from '../../../lambda/operations/http/http-operations.ts';
import { ParametersError, type Publisher, type RunServices } from '../../../lambda/run/services.ts';
import { functionClock } from './clocks.ts';
import { type Invocation, infoOf, named, pause, yieldPoint } from './invocation.ts';
import { laboratoryTransport } from './wire.ts';

/** What one function gets: stores, parameters and a server, with everything that can happen on the way to them. */
export function servicesOf(invocation: Invocation): RunServices {
  const { world, caller, settings } = invocation;
  const { chances, time, clocks } = world;
  const parameter = async <T>(what: string, value: () => T): Promise<T> => {
    const fails = chances.happens(world.weather.parameters);
    const result = await exchange(invocation, what, value);
    if (!fails) return result;
    world.injected('parameter throttled');
    throw new ParametersError(`${what} cannot be read: ThrottlingException`);
  };
  const stored = async <T>(what: string, effect: () => Promise<T>, mutes: boolean): Promise<T> => {
    const fails = chances.happens(world.weather.ledger);
    const applies = !fails || (mutes && chances.happens(0.6));
    const result = await exchange(invocation, `ledger ${what}`, async () => (applies ? effect() : undefined));
    if (!fails) return result as T;
    world.injected(applies ? 'ledger answer lost' : 'ledger refused');
    throw new LedgerError(`Tried to ${what}: TimeoutError`);
  };
  const ordered = <T>(value: T, what: { paused: boolean } | { policies: typeof world.policies }): T => {
    world.journal.push({ at: time.now(), kind: 'orders', invocation: infoOf(invocation), ...what });
    return value;
  };
  const clock = functionClock(time.now, clocks);
  // Like a container: reads the token once, and again when it is refused.
  let kept: string | undefined;
  const readToken = () =>
    parameter('token', () => {
      kept = world.token.given;
      return kept;
    });
  const token = { get: async () => kept ?? readToken(), reread: readToken };
  const { ledger } = caller;
  return {
    settings,
    parameters: {
      policies: () =>
        parameter('policies', () => {
          const { policies } = world;
          return ordered(
            policies.map((source) => ({ ...source })),
            { policies },
          );
        }),
      paused: () =>
        parameter('pause', () => {
          const paused = world.paused();
          return ordered(paused, { paused });
        }),
      token,
    },
    operations: createOperations({
      baseUrl: settings.gmsUrl,
      token,
      transport: laboratoryTransport(invocation),
      attempts: readAttempts,
      realNow: clock.realNow,
      sleep: (millis) => pause(invocation, millis),
      random: chances.next,
    }),
    ledger: {
      read: (index) => stored('read', () => ledger.read(index), false),
      list: () => stored('list', () => ledger.list(), false),
      replace: (previous, next) =>
        stored(`write ${next.state}`, () => world.replace(infoOf(invocation), ledger, previous, next), true),
      takeScheduledTime: (taking) => stored('take the time', () => ledger.takeScheduledTime(taking), true),
    },
    surroundings: { onLambda: true, lookup: async () => ['192.0.2.1'] },
    clock,
    log: world.log,
    newId: world.newId,
    deadline: () => invocation.deadline,
  };
}

export function publisherOf(invocation: Invocation): Publisher {
  const { world } = invocation;
  return {
    async publish(made: Report) {
      const fails = world.chances.happens(world.weather.publish);
      const lost = fails && world.chances.happens(0.3);
      await exchange(invocation, 'publish', () => {
        if (!fails || lost) world.publish(infoOf(invocation), made);
      });
      if (!fails) return;
      world.injected(lost ? 'publish answer lost' : 'publish refused');
      throw named('PublishError');
    },
  };
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
