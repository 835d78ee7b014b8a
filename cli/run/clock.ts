import { type Clock, systemClock } from '../../lambda/truncation/clock.ts';

/** No real wait under `--fast` is longer than this. */
const fastWaitMillis = 200;

/**
 * The run's clock under `--fast`: it moves on by what was not waited, so that deadlines, stillness and ages are as if
 * the run had waited. Only the server's `Date` is compared with real time, where the answer comes in.
 */
export function fastClock(): Clock {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    monotonic: () => performance.now() + ahead,
    async sleep(millis) {
      const waited = Math.min(millis, fastWaitMillis);
      await systemClock.sleep(waited);
      ahead += millis - waited;
    },
  };
}
