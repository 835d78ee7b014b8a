import { setMaxListeners } from 'node:events';

/** Time as the core sees it. Assumed of it: forward-clocks. */
export interface Clock {
  /** Epoch milliseconds. Under `--fast` it moves ahead by the waits that were skipped. */
  now(): number;
  /** Monotonic milliseconds, unaffected by clock changes; moves on like `now` under `--fast`. */
  monotonic(): number;
  sleep(millis: number): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (millis) =>
    new Promise((resolve) => {
      setTimeout(resolve, millis);
    }),
};

/** Works with a signal that fires at a moment of the run's clock, so that requests end before the function does. */
export async function withDeadline<Value>(
  clock: Clock,
  at: number,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  // Every pending request listens to it, and Node reports more than ten listeners as a leak.
  setMaxListeners(0, controller.signal);
  const timer = setTimeout(() => controller.abort(), Math.max(0, at - clock.now()));
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}
