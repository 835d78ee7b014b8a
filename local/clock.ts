import type { Clock } from '../lambda/facts/clock.ts';
import type { FastForward } from './state-machine.ts';

/** Every real wait of `--fast` ends after this. */
const fastWaitMillis = 200;

/**
 * The run's clock under `--fast`: real time plus the seconds not waited, so that deadlines, stillness and ages in the run
 * and in its ledger records are as if it had waited. `realNow` stays real: it meets the server's clock and the token's expiry.
 */
export function fastClock(real: () => number = () => Date.now()): Clock & FastForward {
  let ahead = 0;
  return {
    now: () => real() + ahead,
    realNow: real,
    maxWaitMillis: fastWaitMillis,
    skipped(millis) {
      ahead += millis;
    },
  };
}
