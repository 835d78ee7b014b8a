import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../lambda/facts/clock.ts';
import type { FastForward } from '../state-machine.ts';

/** No real wait under `--fast` is longer than this. */
const fastWaitMillis = 200;

export type FastClock = Clock & FastForward & { sleep(millis: number): Promise<void> };

/**
 * The run's clock under `--fast`: real time plus the time not waited, so that deadlines, stillness and ages in the run
 * and in its ledger records are as if it had waited. `realNow` stays real: it is compared with the server's clock, the
 * times in index names and the token's expiry.
 */
export function fastClock(real: () => number = () => Date.now()): FastClock {
  let ahead = 0;
  const skipped = (millis: number) => {
    ahead += millis;
  };
  return {
    now: () => real() + ahead,
    realNow: real,
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
