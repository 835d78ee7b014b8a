import type { Chances } from '../world/chances.ts';
import type { Answer, Effect } from './answers.ts';

/** How often each thing goes wrong, as a share of the occasions. */
export interface Weather {
  /** Dry runs, statuses, sizes. */
  read: number;
  /** Real truncates. */
  truncate: number;
  /** What such a truncate may do; everything if omitted. */
  effects?: readonly Effect[];
  /** What its client may hear; everything if omitted. */
  answers?: readonly Answer[];
  /** Ledger calls. */
  ledger: number;
  /** Parameters: policies and pause. */
  parameters: number;
  publish: number;
  /** A function dies, at any await. */
  crash: number;
  /** A function hangs, at any await. */
  hang: number;
  /** A function call fails in the calling service, perhaps after the function started. */
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
    ledger: 0.03,
    parameters: 0.015,
    publish: 0.2,
    crash: 0.012,
    hang: 0.01,
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

/** What the environment of the steps does at any await: see `world/invocation.ts` and `world/services.ts`. */
export const machinery = {
  'function not begun': 'the service that calls functions refuses',
  'function begun twice': 'one call begins two of them',
  'function given up': 'its caller loses sight of it, and it goes on',
  'function outlives its time': 'it goes on after its time-out',
  'function crashes': 'it dies at any await, before or after what it does there',
  'function hangs': 'it stands still at any await, for seconds or hours, and goes on',
  'ledger refused': 'the store does nothing, and says so',
  'ledger answer lost': 'the store does what it was asked, and nobody hears of it',
  'parameter throttled': 'policies or pause cannot be read',
  'publish refused': 'nobody is told',
  'publish answer lost': 'people are told, and the function does not know',
} as const;

/** Milliseconds that a function hangs: shorter and longer than its own timeout and the state's. */
export const hangMillis = (chances: Chances): number =>
  1000 * chances.pick([20, 55, 90, 240, 420, 610, 700, 1500, 5000]);
