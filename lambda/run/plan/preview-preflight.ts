import type { Check } from '../../facts/check.ts';
import { signalAt } from '../../facts/clock.ts';
import { preflightMillis } from '../../facts/limits.ts';
import type { Asked, IndexSize } from '../../operations/operations.ts';
import { type Index, type Preflight, preflight, preflightOfAddress } from '../../preflight/preflight.ts';
import type { RunServices } from '../services.ts';

/** The preflight of a preview: it comes before the policies' dry runs and never makes a run fail. */

/** @returns undefined if it did not finish in time */
export function previewPreflight(
  sizes: Asked<IndexSize[]>,
  indices: readonly Index[],
  services: RunServices,
): Promise<Preflight | undefined> {
  const { settings, surroundings, parameters, operations, clock } = services;
  return safely(services, async (signal) => {
    const made = await preflight({
      gmsUrl: settings.gmsUrl,
      onLambda: surroundings.onLambda,
      lookup: (host) => until(signal, surroundings.lookup(host)),
      token: await parameters.token.get(),
      now: clock.realNow(),
      operations,
      options: { signal, attempts: 2 },
      sizes,
      indices,
      onChecks: (checks) => surroundings.onPreflight?.(checks, false),
    });
    tell(made.checks, services);
    return made;
  });
}

/** The preflight of a preview that cannot ask the server, because its token cannot be read. */
export function previewPreflightOfAddress(services: RunServices): Promise<Check[] | undefined> {
  const { settings, surroundings } = services;
  return safely(services, async (signal) => {
    const checks = await preflightOfAddress({
      gmsUrl: settings.gmsUrl,
      onLambda: surroundings.onLambda,
      lookup: (host) => until(signal, surroundings.lookup(host)),
    });
    tell(checks, services);
    return checks;
  });
}

function tell(checks: Check[], { log, surroundings }: RunServices): void {
  log.info('preflight', { checks });
  surroundings.onPreflight?.(checks, true);
}

async function safely<Made>(
  { clock, log }: RunServices,
  make: (signal: AbortSignal) => Promise<Made>,
): Promise<Made | undefined> {
  const { signal, release } = signalAt(clock, clock.now() + preflightMillis);
  try {
    return await make(signal);
  } catch (error) {
    log.warn('the preflight could not be made', { error: error instanceof Error ? error.name : 'unknown' });
    return undefined;
  } finally {
    release();
  }
}

/** Stops waiting when the signal fires. */
function until<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error('no answer in the time for it'));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    promise.then(resolve, reject);
  });
}
