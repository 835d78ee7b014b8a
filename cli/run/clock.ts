import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../lambda/facts/clock.ts';
import type { FastForward } from './state-machine.ts';

/** No real wait under `--fast` is longer than this. */
const fastWaitMillis = 200;

export type FastClock = Clock & FastForward & { sleep(millis: number): Promise<void> };

/**
 * The run's clock under `--fast`: it moves on by what was not waited, so that deadlines, stillness and ages are as if
 * the run had waited. Only the server's `Date` is compared with real time, where the answer comes in.
 */
export function fastClock(): FastClock {
  let ahead = 0;
  const skipped = (millis: number) => {
    ahead += millis;
  };
  return {
    now: () => Date.now() + ahead,
    monotonic: () => performance.now() + ahead,
    maxWaitMillis: fastWaitMillis,
    skipped,
    async sleep(millis) {
      const waited = Math.min(millis, fastWaitMillis);
      await setTimeout(waited);
      skipped(millis - waited);
    },
  };
}
