import { signalAt } from '../facts/clock.ts';
import { preflightMillis } from '../facts/limits.ts';
import type { Check } from '../facts/report-schema.ts';
import type { DryRun, IndexSize, Operations } from '../operations/operations.ts';
import { OperationsError } from '../operations/operations.ts';
import type { RunServices } from '../run/services.ts';
import {
  type Attempt,
  concernsIndex,
  indicesToTry,
  preflight,
  preflightOfAddress,
  probesOf,
  tryDryRun,
} from './preflight.ts';

/** The preflight of a preview: made beside the dry runs of the policies, from what these learn wherever that is enough. */

/** Dry runs of policies, watched. */
export interface WatchedDryRuns {
  /** To be used for the dry runs that are to be watched. */
  operations: Operations;
  /** Settled by the first one that succeeds; pending where none does. */
  succeeded: Promise<DryRun>;
  /** The last one that failed. */
  failure(): OperationsError | undefined;
}

export function watchDryRuns(operations: Operations): WatchedDryRuns {
  let tell: (dryRun: DryRun) => void;
  const succeeded = new Promise<DryRun>((resolve) => {
    tell = resolve;
  });
  let failure: OperationsError | undefined;
  return {
    succeeded,
    failure: () => failure,
    operations: {
      ...operations,
      async dryRun(fields, options) {
        try {
          const dryRun = await operations.dryRun(fields, options);
          tell(dryRun);
          return dryRun;
        } catch (error) {
          if (error instanceof OperationsError) failure = error;
          throw error;
        }
      },
    },
  };
}

export interface Planning {
  sizes: Attempt<IndexSize[]>;
  dryRuns: WatchedDryRuns;
  /** Settled when every policy was looked at. */
  ended: Promise<unknown>;
  /** Fires when Plan's time is over. */
  signal: AbortSignal;
}

/**
 * Makes the preflight while policies are looked at. As a rule it sends one request of its own, for the status of a task.
 * Never throws, and is never waited for longer than `preflightMillis` beyond what Plan takes anyway: undefined where it could not be made.
 */
export function preflightBeside(planning: Planning, services: RunServices): Promise<Check[] | undefined> {
  const { settings, surroundings, parameters, operations, clock } = services;
  return safely(services, async (limit) => {
    const signal = AbortSignal.any([planning.signal, limit]);
    const { checks } = await preflight({
      gmsUrl: settings.gmsUrl,
      place: surroundings.place,
      token: await parameters.token.get(),
      now: clock.realNow(),
      lookup: (host) => until(signal, surroundings.lookup(host)),
      sizes: planning.sizes,
      probes: {
        ...probesOf(operations, { signal }),
        dryRun: (sizes) => oneDryRun(planning, operations, sizes, signal),
      },
    });
    return checks;
  });
}

/** The preflight of a preview that cannot ask the server, for its token cannot be read: never throws either. */
export function preflightWithoutServer(services: RunServices): Promise<Check[] | undefined> {
  const { settings, surroundings } = services;
  return safely(services, (signal) =>
    preflightOfAddress({
      gmsUrl: settings.gmsUrl,
      place: surroundings.place,
      lookup: (host) => until(signal, surroundings.lookup(host)),
    }),
  );
}

/** Whatever goes wrong with the preflight is no reason for a run to fail. */
async function safely(
  { clock, log, surroundings }: RunServices,
  make: (signal: AbortSignal) => Promise<Check[]>,
): Promise<Check[] | undefined> {
  const { signal, release } = signalAt(clock, clock.now() + preflightMillis);
  try {
    const checks = await make(signal);
    log.info('preflight', { checks });
    surroundings.onPreflight?.(checks);
    return checks;
  } catch (error) {
    log.warn('the preflight could not be made', { reason: error instanceof Error ? error.message : String(error) });
    return undefined;
  } finally {
    release();
  }
}

/** A policy's dry run, or one of its own where no policy has had an answer that tells. */
async function oneDryRun(
  { dryRuns, ended }: Planning,
  operations: Operations,
  sizes: readonly IndexSize[],
  signal: AbortSignal,
): Promise<DryRun> {
  const dryRun = await Promise.race([dryRuns.succeeded, ended.then(() => undefined)]);
  if (dryRun) return dryRun;
  const failure = dryRuns.failure();
  if (failure && !concernsIndex(failure)) throw failure;
  // Of policies for indices that do not exist nothing is learnt; one that does will tell, or the server has a problem.
  const indices = indicesToTry(sizes).slice(0, failure ? 2 : undefined);
  try {
    return await tryDryRun(operations, indices, { signal });
  } catch (error) {
    throw failure ?? error;
  }
}

/** Gives up waiting when the signal fires. */
function until<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error('no answer in the time for it'));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    promise.then(resolve, reject);
  });
}
