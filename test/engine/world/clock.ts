/**
 * The scaled clock: a minute of the run is a second of the machine, so that waits of minutes take seconds. Time is not
 * skipped as under `--fast`, because the search engine's time is real: what takes it a second must be a minute to the run.
 */
export interface ScaledClock {
  /** Epoch milliseconds at which real time and the run's time were equal. */
  origin: number;
  /** Milliseconds of the run in one of the machine. */
  factor: number;
}

export const scaledNow = ({ origin, factor }: ScaledClock, realMillis: number): number =>
  Math.floor(origin + (realMillis - origin) * factor);

/** The variable that passes the clock to the run's process. */
export const variable = 'ENGINE_TEST_CLOCK';
export const written = ({ origin, factor }: ScaledClock): string => `${origin}*${factor}`;

export function read(text: string): ScaledClock {
  const [origin, factor] = text.split('*').map(Number);
  if (!origin || !factor) throw new Error(`${variable} is not a clock: ${text}`);
  return { origin, factor };
}
