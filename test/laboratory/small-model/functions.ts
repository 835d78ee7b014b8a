import { type Exchange, type Invocation, named } from '../world/invocation.ts';
import type { InvocationInfo } from '../world/journal.ts';
import type { World } from '../world/world.ts';
import { asked, type Controlled, dead, Later } from './pending.ts';

/** One function of the small model: the explorer controls every await. */
export interface FunctionOptions {
  world: World;
  info: InvocationInfo;
  who: string;
  controlled: Controlled;
  /** Its execution has polled often enough: from here on its awaits go well. */
  late: boolean;
  /** Fails the function's call, whatever the function goes on to do. */
  fail: (error: Error) => void;
  /** Ends its execution. */
  stop: () => void;
}

export const controlledInvocation = (options: FunctionOptions): Invocation => {
  const { world, info, fail } = options;
  return { world, info, alive: true, fail, exchange: exchangeOf(options) };
};

function exchangeOf({ info, who, controlled, late, fail, stop }: FunctionOptions): Exchange {
  const isTruncate = info.step === 'truncate';
  let reads = 0;
  return async <T>(
    where: string,
    effect: () => T | Promise<T>,
    faults: Record<string, () => T | Promise<T>> = {},
  ): Promise<T> => {
    if (controlled.automatic) return effect();
    const isPublish = where === 'publish';
    const isWrite = where.startsWith('ledger write') || where === 'truncate';
    /*
     * A read leaves no trace and takes no time, so a crash here is equivalent to one at the function's first read (or
     * the first after a sleep) or right after its last write. Being given up is not: the function continues with what
     * it read. For the same reason a read has no faults of its own.
     */
    const own = isWrite || isPublish ? Object.keys(faults).filter((name) => isChoice(name, controlled)) : [];
    const crashes = isWrite ? ['crash', 'crash after'] : reads++ === 0 && !isPublish ? ['crash'] : [];
    // Before its first await: the execution ends between two steps. A refused publish is like a crash before it.
    const stops = (isPublish || reads === 1) && !isWrite && !isTruncate ? ['stopped'] : [];
    const choose = (choices: string[]): Promise<T> =>
      asked<T>(controlled, { who, what: where, choices: ['go', ...choices], late }, async (choice) => {
        switch (choice) {
          case 'crash':
            fail(named('Runtime.ExitError'));
            return dead;
          case 'stopped':
            stop();
            return dead;
          case 'crash after':
            await effect();
            fail(named('Runtime.ExitError'));
            return dead;
          // The caller gives up, and the function continues at any later time.
          case 'given up':
            fail(named('Lambda.ServiceException'));
            return new Later(() => choose(own));
          default:
            return (faults[choice] ?? effect)();
        }
      });
    return choose([...own, ...crashes, ...stops, ...(isTruncate ? ['given up'] : [])]);
  };
}

/**
 * Whether the explorer may choose a fault. Of a truncate's answers, it may choose those of this enumeration; it also
 * chooses when a late effect happens.
 */
function isChoice(name: string, { answers }: Controlled): boolean {
  const [answer = '', effect] = name.split(', ');
  if (effect === undefined) return name === 'refused' || name === 'answer lost';
  return answers.includes(answer) && effect !== 'much later' && name !== 'own, at once';
}
