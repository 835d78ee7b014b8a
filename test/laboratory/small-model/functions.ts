import type { Behaviour } from '../../operations-service/simulation/behaviour.ts';
import type { Reply } from '../../operations-service/simulation/exchange.ts';
import { functionTimeoutSeconds } from '../../../lambda/facts/limits.ts';
import type { Ledger } from '../../../lambda/ledger/ledger.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { createOperations } from '../../../lambda/operations/http/http-operations.ts';
import {
  type Answer,
  type Exchange,
  type Transport,
  TransportError,
} from '../../../lambda/operations/http/transport.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import type { answers, Effect } from '../alphabet/answers.ts';
import type { Track } from '../truth/track.ts';
import { answered, invented, substituted } from '../world/answering.ts';
import { createChances } from '../world/chances.ts';
import { functionClock } from '../world/clocks.ts';
import { named } from '../world/invocation.ts';
import type { InvocationInfo } from '../world/journal.ts';
import { acting } from '../world/wire.ts';
import type { World } from '../world/world.ts';
import { asked, type Controlled, dead, Later } from './pending.ts';

/** The services of one function of the small model: the explorer controls every await. */

export interface FunctionOptions {
  world: World;
  ledger: Ledger;
  invocation: InvocationInfo;
  who: string;
  controlled: Controlled;
  /** Answers to a real truncate besides the server's own. */
  told: readonly Told[];
  late?: boolean;
  /** Fails the function's call, whatever the function goes on to do. */
  fail?: (error: Error) => void;
}

export type Told = Exclude<keyof typeof answers, 'slow' | 'time-out' | 'body lost'>;

/** Effects in the small model: the explorer chooses when a late one happens. */
const effectNames = ['none', 'at once', 'half', 'later'] as const satisfies readonly Effect[];

export function servicesOf(options: FunctionOptions): RunServices {
  const { world, ledger, invocation, who, controlled, fail = () => {} } = options;
  const { time } = world;
  const late = options.late ?? false;
  const isTruncate = invocation.step === 'truncate';
  let ids = 0;
  let awaits = 0;

  /** One await. `effect` is what it does; `also` are its own faults, with what the function then sees. */
  const at = async <T>(
    what: string,
    effect: () => T | Promise<T>,
    also: Record<string, () => T | Promise<T>> = {},
    canCrash = true,
  ): Promise<T> => {
    if (controlled.automatic) return effect();
    const crashes = [...(canCrash ? ['crash'] : []), ...(isTruncate ? ['given up'] : [])];
    const choose = (faults: string[]): Promise<T> => {
      const choices = ['go', ...Object.keys(also), ...faults];
      return asked<T>(controlled, { who, what, choices, late }, async (choice) => {
        switch (choice) {
          case 'crash':
            fail(named('Runtime.ExitError'));
            return dead;
          case 'crash after':
            await effect();
            fail(named('Runtime.ExitError'));
            return dead;
          // The caller gives up, and the function continues at any later time.
          case 'given up':
            fail(named('Lambda.ServiceException'));
            return new Later(() => choose([]));
          default:
            return (also[choice] ?? effect)();
        }
      });
    };
    return choose(crashes);
  };
  /**
   * A read leaves no trace and takes no time, so a crash here is equivalent to one at the function's first read (or the
   * first after a sleep) or right after its last write. Being given up is not: the function continues with what it read.
   */
  const read = <T>(what: string, effect: () => T | Promise<T>) => at(what, effect, {}, ++awaits === 1);
  const write = (what: string, effect: () => Promise<boolean>) =>
    at(what, effect, {
      refused: () => Promise.reject(new LedgerError(what)),
      'answer lost': async () => {
        await effect();
        throw new LedgerError(what);
      },
      'crash after': effect,
    });
  const orders = <T>(value: T, read: { paused: boolean } | { policies: World['policies'] }): T => {
    world.journal.push({ at: time.now(), kind: 'orders', invocation, ...read });
    return value;
  };
  const token = { get: async () => world.token.given, reread: async () => world.token.given };
  const clock = functionClock(time.now, world.clocks);
  return {
    settings: world.settings,
    parameters: {
      policies: async () => orders([...world.policies], { policies: world.policies }),
      paused: () => read('pause', () => orders(false, { paused: false })),
      token,
    },
    operations: createOperations({
      baseUrl: world.settings.gmsUrl,
      token,
      transport: transportOf(options, at, read),
      attempts: 1,
      realNow: time.now,
      sleep: time.sleep,
      random: () => 0,
    }),
    ledger: {
      read: (key) => read('ledger read', () => ledger.read(key)),
      list: () => read('ledger list', () => ledger.list()),
      replace: (previous, next) =>
        write(`ledger ${next.state}`, () => world.replace(invocation, ledger, previous, next)),
      takeScheduledTime: (taking) => ledger.takeScheduledTime(taking),
    },
    surroundings: { onLambda: true, lookup: async () => ['192.0.2.1'] },
    clock,
    log: world.log,
    newId: () => `${who} ${++ids}`,
    deadline: () => invocation.endsAt,
  };
}

type At = <T>(what: string, effect: () => T | Promise<T>, also?: Record<string, () => T | Promise<T>>) => Promise<T>;

type Read = <T>(what: string, effect: () => T | Promise<T>) => Promise<T>;

function transportOf({ world, invocation, controlled, told: others }: FunctionOptions, at: At, read: Read): Transport {
  const { time } = world;
  return {
    post: (exchange) =>
      read(`ask ${new URL(exchange.url).searchParams.get('action')}`, () => {
        const reply = world.handle(exchange);
        world.readAnswered(invocation, exchange, reply, time.now());
        return answered(reply);
      }),
    postOnce(exchange, maySend) {
      const send = (told: Told, effect: (typeof effectNames)[number]) => (): Answer => {
        if (!maySend()) throw new TransportError('withheld', false);
        const track = world.sent(invocation, exchange);
        const own = effectOn(world, controlled, track, exchange, effect) ?? invented(createChances(1));
        const answer = told === 'own' ? answered(own) : substituted(told, own);
        const { index } = track;
        const isTaskId = answer.status === 200 && /"value":"[\w-]+:\d+"/.test(answer.body);
        world.journal.push({ at: time.now(), kind: 'answered', invocation, index, status: answer.status, isTaskId });
        return answer;
      };
      const faults = others.flatMap((told) => effectNames.map((effect) => [told, effect] as const));
      return at<Answer>('truncate', send('own', 'at once'), {
        ...Object.fromEntries(
          faults
            .filter(([told, effect]) => told !== 'own' || effect !== 'at once')
            .map(([told, effect]) => [`${told}, ${effect}`, send(told, effect)]),
        ),
        'crash after': send('own', 'at once'),
      });
    },
  };
}

/** A server acts within the function's time, or never. */
const longestMillis = functionTimeoutSeconds.truncate * 1000;
let lateOnes = 0;

/** @returns the server's own answer, if it has acted by now */
function effectOn(
  world: World,
  controlled: Controlled,
  track: Track,
  exchange: Exchange,
  effect: (typeof effectNames)[number],
): Reply | undefined {
  const { time, front } = world;
  const token = world.token.valid;
  const act = (changes: Partial<Behaviour> = {}) => acting(front, track, () => front.handle(exchange, token), changes);
  if (effect === 'none') return undefined;
  if (effect === 'at once') return act();
  if (effect === 'half') return act({ reindexFailsAfterSwap: 400, abortAtShare: 0.5 });
  const latest = time.now() + longestMillis - 1;
  track.pendingUntil = latest;
  const once = () => {
    if (track.pendingUntil !== undefined) act();
  };
  time.at(latest, once);
  const who = `server ${++lateOnes}`;
  void asked(controlled, { who, what: 'acts late', choices: ['go'], late: false }, once);
  return undefined;
}
