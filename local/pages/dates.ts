import { day, minute } from '../../lambda/wording/numbers.ts';

/** `22 May 2026` (UTC) for epoch milliseconds. */
export const date = (millis: number): string => day(iso(millis)) ?? 'an unknown day';

/** `22 May 2026, 03:30 UTC`. */
export const moment = (millis: number): string => minute(iso(millis)) ?? 'an unknown time';

/** Empty for what is no time. */
const iso = (millis: number): string => (Math.abs(millis) <= 8.64e15 ? new Date(millis).toISOString() : '');
