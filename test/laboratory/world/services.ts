import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { ParametersError, type Publisher, type RunServices } from '../../../lambda/run/services.ts';
import { exchange, type Invocation, named } from './invocation.ts';
import { isTold } from './telling.ts';
import { operationsOf } from './wire.ts';

/** What one function gets: stores, parameters and a server, with everything that can happen on the way to them. */
export function servicesOf(invocation: Invocation): RunServices {
  const { world, info } = invocation;
  const { chances, time } = world;
  const parameter = async <T>(what: string, value: () => T): Promise<T> => {
    const fails = chances.happens(world.weather.parameters);
    const result = await exchange(invocation, what, () => (fails ? undefined : value()));
    if (!fails) return result as T;
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
  const token = async () => 'token';
  const begun = time.now();
  return {
    settings: info.settings,
    parameters: {
      policies: () =>
        parameter('policies', () => {
          const { policies } = world;
          world.journal.push({ at: time.now(), kind: 'orders', invocation: info, policies });
          return policies.map((source) => ({ ...source }));
        }),
      paused: () =>
        parameter('pause', () => {
          const paused = world.paused();
          world.journal.push({ at: time.now(), kind: 'orders', invocation: info, paused });
          return paused;
        }),
      token: { get: token, reread: token },
    },
    operations: operationsOf(invocation),
    ledger: {
      read: (index) => stored('read', () => world.ledger.read(index), false),
      list: () => stored('list', () => world.ledger.list(), false),
      replace: (next) => stored(`write ${next.state}`, () => world.replace(info, next), true),
    },
    clock: { now: time.now, monotonic: () => time.now() - begun },
    log: world.log,
    deadline: () => info.endsAt,
  };
}

export function publisherOf(invocation: Invocation): Publisher {
  const { world, info } = invocation;
  return {
    async publish(made, byHand = false) {
      const fails = world.chances.happens(world.weather.publish);
      const lost = fails && world.chances.happens(0.3);
      await exchange(invocation, 'publish', () => {
        if (!fails || lost) world.published(info, made, isTold(world, made, byHand), !fails);
      });
      if (!fails) return;
      world.injected(lost ? 'publish answer lost' : 'publish refused');
      throw named('PublishError');
    },
  };
}
