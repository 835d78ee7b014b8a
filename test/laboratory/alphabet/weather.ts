import type { Chances } from '../world/chances.ts';
import type { Answer, Effect, Stranger } from './answers.ts';

/** How often each thing goes wrong, as a share of the occasions. */
export interface Weather {
  /** Dry runs, statuses, sizes. */
  read: number;
  /** What their client may hear; everything if omitted. */
  reads?: readonly (Answer | Stranger)[];
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

const weather = (
  reads: number,
  truncate: number,
  stores: [number, number, number],
  functions: [number, number, number],
) => {
  const [ledger, parameters, publish] = stores;
  const [crash, hang, call] = functions;
  return { read: reads, truncate, ledger, parameters, publish, crash, hang, call };
};

export const calm: Weather = weather(0, 0, [0, 0, 0], [0, 0, 0]);

export const weathers = {
  calm,
  unsettled: weather(0.02, 0.3, [0.01, 0.01, 0.05], [0.004, 0.004, 0.01]),
  rough: weather(0.06, 0.6, [0.03, 0.015, 0.2], [0.012, 0.01, 0.04]),
  storm: weather(0.2, 0.8, [0.1, 0.06, 0.6], [0.05, 0.03, 0.08]),
} as const satisfies Record<string, Weather>;

export type WeatherName = keyof typeof weathers;

/** Milliseconds that a function hangs: shorter and longer than its own timeout and the state's. */
export const hangMillis = (chances: Chances): number =>
  1000 * chances.pick([20, 55, 90, 240, 420, 610, 700, 1500, 5000]);
