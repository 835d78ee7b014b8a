import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import type { Truncation } from '../../../lambda/operations/operations.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import type { Answer, Effect } from '../alphabet/answers.ts';
import { named } from '../world/invocation.ts';
import type { InvocationInfo } from '../world/journal.ts';
import { counted, failure, noting, readAnswer } from '../world/wire.ts';
import type { World } from '../world/world.ts';
import { asked, type Controlled, dead, Later } from './pending.ts';

/** The services of one function of the small model: the explorer controls every await. */

export interface FunctionOptions {
  world: World;
  invocation: InvocationInfo;
  who: string;
  controlled: Controlled;
  /** Answers to a real truncate besides the server's own. */
  told: readonly Told[];
  late?: boolean;
  /** Fails the function's call, whatever the function goes on to do. */
  fail?: (error: Error) => void;
}

export type Told = Exclude<Answer, 'slow' | 'time-out' | 'body lost'>;

/** Effects in the small model: the explorer chooses when a late one happens. */
const effectNames = ['none', 'at once', 'half', 'later'] as const satisfies readonly Effect[];

export function servicesOf(options: FunctionOptions): RunServices {
  const { world, invocation, who, controlled, fail = () => {} } = options;
  const { time, ledger, server, journal } = world;
  const late = options.late ?? false;
  const isTruncate = invocation.step === 'truncate';
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
    journal.push({ at: time.now(), kind: 'orders', invocation, ...read });
    return value;
  };
  const token = async () => 'token';
  const begun = time.now();
  return {
    settings: world.settings,
    parameters: {
      policies: async () => orders([...world.policies], { policies: world.policies }),
      paused: () => read('pause', () => orders(false, { paused: false })),
      token: { get: token, reread: token },
    },
    operations: {
      dryRun: (fields) =>
        read('count', () => noting(world, invocation, fields)(counted(server.dryRun(fields)), time.now())),
      taskStatus: (taskId) =>
        read('status', () => {
          const answer = server.status(taskId);
          journal.push({ at: time.now(), kind: 'status', invocation, taskId, answer });
          if (answer === 'denied') throw failure('privilege', 'task-status', 403);
          return answer;
        }),
      indexSizes: () =>
        read('sizes', () => {
          const answer = server.sizes();
          if (answer === 'denied') throw failure('privilege', 'index-sizes', 403);
          journal.push({ at: time.now(), kind: 'sizes', invocation });
          return answer;
        }),
      truncate(fields, maySend) {
        const send = (told: Told, effect: (typeof effectNames)[number]) => (): Truncation => {
          if (!maySend()) return { kind: 'not-sent', why: 'withheld' };
          const track = world.sent(invocation, fields);
          const { index } = track;
          const truncation = readAnswer(told, take(world, controlled, track, fields, effect));
          const status = truncation.kind === 'unresolved' ? truncation.error.status : undefined;
          const isTaskId = truncation.kind === 'started';
          journal.push({ at: time.now(), kind: 'answered', invocation, index, status, isTaskId });
          return truncation;
        };
        const faults = options.told.flatMap((told) => effectNames.map((effect) => [told, effect] as const));
        return at<Truncation>('truncate', send('own', 'at once'), {
          ...Object.fromEntries(
            faults
              .filter(([told, effect]) => told !== 'own' || effect !== 'at once')
              .map(([told, effect]) => [`${told}, ${effect}`, send(told, effect)]),
          ),
          'crash after': send('own', 'at once'),
        });
      },
    },
    ledger: {
      read: (key) => read('ledger read', () => ledger.read(key)),
      list: () => read('ledger list', () => ledger.list()),
      replace: (next) => write(`ledger ${next.state}`, () => world.replace(invocation, next)),
    },
    clock: { now: time.now, monotonic: () => time.now() - begun },
    log: world.log,
    deadline: () => invocation.endsAt,
  };
}

/** A server acts within 20 minutes of the call, or never. */
const longestMillis = 20 * 60_000;
let lateOnes = 0;

/** @returns the task, if the server has acted by now */
function take(
  { time, server, tracker }: World,
  controlled: Controlled,
  track: ReturnType<World['sent']>,
  fields: Parameters<RunServices['operations']['truncate']>[0],
  effect: (typeof effectNames)[number],
) {
  const { pace } = server.behaviour;
  const act = (endsAt?: typeof pace.endsAt) => tracker.acts(track, () => server.truncate(fields, { ...pace, endsAt }));
  if (effect === 'none') return undefined;
  if (effect === 'at once') return act();
  if (effect === 'half') return act({ share: 0.5, as: 'dead' });
  const latest = time.now() + longestMillis - 1;
  track.pendingUntil = latest;
  const once = () => {
    if (track.pendingUntil !== undefined) act();
  };
  time.at(latest, once);
  void asked(controlled, { who: `server ${++lateOnes}`, what: 'acts late', choices: ['go'], late: false }, once);
  return undefined;
}
