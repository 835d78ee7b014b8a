/** Time as the core sees it. Both readings are epoch milliseconds. */
export interface Clock {
  /** The run's clock: deadlines, stillness, ages. Ahead of real time under `--fast` by the waits that were skipped. */
  now(): number;
  /** Real time: the comparison with a server's clock and with a token's expiry. */
  realNow(): number;
}

export const systemClock: Clock = { now: () => Date.now(), realNow: () => Date.now() };
