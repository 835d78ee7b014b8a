/** Time as the core sees it. Both readings are epoch milliseconds. */
export interface Clock {
  /** The run's clock: deadlines, stillness, ages. Ahead of real time under `--fast` by the waits that were skipped. */
  now(): number;
  /** Real time: the comparison with a server's clock and with a token's expiry. */
  realNow(): number;
}

export const systemClock: Clock = { now: () => Date.now(), realNow: () => Date.now() };

/**
 * A signal that fires at a moment of the run's clock, so that requests end before the function does.
 * @returns the signal, and what releases its timer
 */
export function signalAt(clock: Clock, at: number): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), Math.max(0, at - clock.now()));
  return { signal: controller.signal, release: () => clearTimeout(timer) };
}
