import type { Clock } from '../../../lambda/facts/clock.ts';

/** The wall clocks, each with its offset from real time. The server's own clock is its engine's. */
export interface Clocks {
  /** How far the functions' clock is ahead, milliseconds. */
  functions: number;
  /** How far ahead the clock is that starts executions. */
  starts: number;
}

/** A function's clock: the wall clock as set, and a monotonic one. */
export function functionClock(realNow: () => number, clocks: Clocks): Clock {
  const wall = () => realNow() + clocks.functions;
  const begun = realNow();
  return { now: wall, realNow: wall, monotonic: () => realNow() - begun };
}
