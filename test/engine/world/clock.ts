import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../../lambda/facts/clock.ts';

/**
 * The scaled clock: a minute of the run is a second of the machine, so that waits of minutes take seconds. Time is not
 * skipped as under `--fast`, because the search engine's time is real: what takes it a second must be a minute to the
 * run. Time-outs of requests stay real, because the server is.
 */
export interface ScaledClock extends Clock {
  /** Waits for this many milliseconds of the run. */
  sleep(millis: number): Promise<void>;
}

/** @param factor milliseconds of the run in one of the machine */
export function scaledClock(factor: number): ScaledClock {
  const origin = Date.now();
  const began = performance.now();
  return {
    now: () => Math.floor(origin + (Date.now() - origin) * factor),
    monotonic: () => (performance.now() - began) * factor,
    sleep: (millis) => wait(millis / factor),
  };
}
