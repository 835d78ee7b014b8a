import type { Clock } from '../../../lambda/facts/clock.ts';

/** The clocks of the wall, each as far from real time as somebody has set it. The server's own is its engine's. */
export interface Clocks {
  /** What the functions' clock is ahead, milliseconds. */
  functions: number;
  /** What the clock of whoever starts executions is ahead. */
  starts: number;
}

/** A function's clock: the wall as it is set, and one that nobody can set. */
export function functionClock(realNow: () => number, clocks: Clocks): Clock {
  const wall = () => realNow() + clocks.functions;
  const begun = realNow();
  return { now: wall, realNow: wall, monotonic: () => realNow() - begun };
}
