import { setTimeout } from 'node:timers/promises';

/** Waits for this many milliseconds, or until the signal fires. */
export type Sleep = (millis: number, signal?: AbortSignal) => Promise<void>;

export const realSleep: Sleep = (millis, signal) => setTimeout(millis, undefined, signal && { signal }).catch(() => {});

/**
 * First wait between two attempts of a read, then doubled each time: three waits take at most 7 s, unless `Retry-After`
 * asks for more.
 */
const firstBackoffMillis = 1000;

/** The longest wait that a server may ask for: reads must fit into a function's timeout. */
const maxRetryAfterMillis = 30_000;

/**
 * How long to wait before a read is retried: exponential with jitter over the upper half, so that parallel dry runs do
 * not all come back at once. At least what `Retry-After` asks for (RFC 9110 §10.2.3), up to 30 s.
 * @param tries number of attempts so far, from 1
 * @param random from 0 to below 1
 */
export function backoffMillis(tries: number, random: number, retryAfter?: number): number {
  const full = firstBackoffMillis * 2 ** (tries - 1);
  return Math.max(full / 2 + (full / 2) * random, Math.min(retryAfter ?? 0, maxRetryAfterMillis));
}

/** Milliseconds that an answer's `Retry-After` asks for, as seconds or as a date. */
export function retryAfterMillis(header: string | undefined, nowMillis: number): number | undefined {
  if (header === undefined) return undefined;
  const value = header.trim();
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = httpDate(value);
  return date === undefined ? undefined : Math.max(0, date - nowMillis);
}

/**
 * A date of a header, in any of the three forms that a receiver has to read (RFC 9110 §5.6.7). All are UTC, also that
 * of asctime, which does not say so.
 * @returns epoch milliseconds; undefined if it cannot be read
 */
export function httpDate(text: string): number | undefined {
  const millis = Date.parse(/ GMT$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(millis) ? undefined : millis;
}
