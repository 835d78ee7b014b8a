import { setTimeout } from 'node:timers/promises';

/** Waits for this many milliseconds. May end early, by returning or throwing, when the signal fires. */
export type Sleep = (millis: number, signal?: AbortSignal) => Promise<void>;

export const realSleep: Sleep = (millis, signal) => setTimeout(millis, undefined, signal && { signal });
