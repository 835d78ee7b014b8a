/** Seeded randomness: the same seed gives the same rows, ids and conflicts on every machine. */

export type Random = () => number;

/** Numbers in [0, 1), by the mulberry32 generator. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One number in [0, 1) that depends on seed and key alone, not on how many were drawn before. */
export const randomOf = (seed: number, key: number): number => createRandom(Math.imul(seed + 1, 0x9e3779b1) ^ key)();

const urlSafe = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** A string of URL-safe base64 characters, like Elasticsearch's node ids. */
export const randomText = (random: Random, length: number): string =>
  Array.from({ length }, () => urlSafe[Math.floor(random() * urlSafe.length)]).join('');

/** A UUID (version 4). */
export function randomUuid(random: Random): string {
  const hex = (length: number) => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-${'89ab'[Math.floor(random() * 4)]}${hex(3)}-${hex(12)}`;
}
