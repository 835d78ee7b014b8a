import type { Chances } from './chances.ts';

/** How often what goes wrong, as shares of the occasions. */
export interface Weather {
  /** Dry runs, statuses, sizes. */
  read: number;
  /** Real truncates. */
  truncate: number;
  /** Ledger calls. */
  ledger: number;
  /** Parameters: policies, pause, token. */
  parameters: number;
  publish: number;
  /** A function dies, at any await. */
  crash: number;
  /** A function hangs, at any await. */
  hang: number;
  /** A call of a function fails in the service that calls it, perhaps after it was begun. */
  call: number;
}

export const calm: Weather = {
  read: 0,
  truncate: 0,
  ledger: 0,
  parameters: 0,
  publish: 0,
  crash: 0,
  hang: 0,
  call: 0,
};

export const weathers = {
  calm,
  unsettled: {
    read: 0.02,
    truncate: 0.3,
    ledger: 0.01,
    parameters: 0.01,
    publish: 0.05,
    crash: 0.004,
    hang: 0.004,
    call: 0.01,
  },
  rough: {
    read: 0.06,
    truncate: 0.6,
    ledger: 0.04,
    parameters: 0.02,
    publish: 0.2,
    crash: 0.02,
    hang: 0.015,
    call: 0.04,
  },
  storm: {
    read: 0.2,
    truncate: 0.8,
    ledger: 0.1,
    parameters: 0.06,
    publish: 0.6,
    crash: 0.05,
    hang: 0.03,
    call: 0.08,
  },
} as const satisfies Record<string, Weather>;

export type WeatherName = keyof typeof weathers;

/** Where a read goes wrong. `acted` does not matter for reads: they change nothing. */
export const readFaults = [
  'connect',
  'dns',
  'tls',
  'stale connection',
  'reset',
  'time-out',
  'slow',
  'page 200',
  'page 502',
  'redirect',
  '400',
  '401',
  '403',
  '404',
  '429',
  '500',
  '503',
  '504',
  'garbage',
  'empty value',
] as const;
export type ReadFault = (typeof readFaults)[number];

/** Where a real truncate goes wrong, and whether the server acts on it: not at all, at once, or later. */
export const truncateFaults = [
  'connect',
  'dns',
  'tls',
  'not acted: 401',
  'not acted: 403',
  'not acted: 404',
  'not acted: 429',
  'not acted: 400',
  'not acted: 500',
  'not acted: 502',
  'not acted: 504',
  'not acted: redirect',
  'not acted: page 200',
  'not acted: reset',
  'not acted: time-out',
  'acted: 400',
  'acted: 500',
  'acted: 502',
  'acted: 503',
  'acted: 504',
  'acted: page 200',
  'acted: reset',
  'acted: body lost',
  'acted: time-out',
  'acted: garbage',
  'acted: empty value',
  'acted: sentence',
  'acted: slow',
  'late: time-out',
  'late: 504',
  'late: reset',
] as const;
export type TruncateFault = (typeof truncateFaults)[number];

/** Milliseconds that a function hangs: shorter and longer than its own time, and than the state's. */
export const hangMillis = (chances: Chances): number => 1000 * chances.pick([20, 90, 240, 420, 610, 700, 1500, 5000]);
