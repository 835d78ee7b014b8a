/**
 * The scaled clock: what a run waits for minutes takes seconds, because a minute of it is a second of the machine. It is
 * not skipped, as under `--fast`: the search engine's time is real, and what takes it a second has to fit into the run's.
 */
export interface ScaledClock {
  /** Epoch milliseconds, real and of the run: where both were the same. */
  origin: number;
  /** Milliseconds of the run in one of the machine. */
  factor: number;
}

export const scaledNow = ({ origin, factor }: ScaledClock, realMillis: number): number =>
  Math.floor(origin + (realMillis - origin) * factor);

/** How it is handed to the run's process. */
export const variable = 'ENGINE_TEST_CLOCK';
export const written = ({ origin, factor }: ScaledClock): string => `${origin}*${factor}`;

export function read(text: string): ScaledClock {
  const [origin, factor] = text.split('*').map(Number);
  if (!origin || !factor) throw new Error(`${variable} is no clock: ${text}`);
  return { origin, factor };
}
