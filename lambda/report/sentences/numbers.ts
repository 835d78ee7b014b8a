/** Numbers, times and sizes for reading on a phone; the report JSON keeps the exact ones. */

/**
 * `from`: the smallest number shown in a unit, slightly below the unit itself if rounding would reach it, so that
 * nothing reads "1000.0 M".
 */
const scales = [
  { from: 999_950_000_000, by: 1e12, unit: 'T' },
  { from: 999_950_000, by: 1e9, unit: 'B' },
  { from: 1e6, by: 1e6, unit: 'M' },
] as const;

/** `12,345` up to a million, then `1.2 M`, `3.4 B`. The same on every machine, whatever its locale. */
export function amount(value: number): string {
  const scale = scales.find(({ from }) => Math.abs(value) >= from);
  return scale ? `${trimmed(value / scale.by)} ${scale.unit}` : Math.round(value).toLocaleString('en-US');
}

/** `1,234,567`: counts where every digit matters; the same on every machine, whatever its locale. */
export const exact = (value: number | undefined): string => (value ?? 0).toLocaleString('en-US');

/** `1 row`, `12,345 rows`, `1.2 M rows`; or with every digit. */
export const rows = (value: number, precision: 'rounded' | 'exact' = 'rounded'): string =>
  `${precision === 'exact' ? exact(value) : amount(value)} ${value === 1 ? 'row' : 'rows'}`;

/** `3 policies`, `1 policy`. */
export const counted = (value: number, one: string, many: string): string =>
  `${amount(value)} ${value === 1 ? one : many}`;

/** How limits are written: in a sentence, or in a narrow column. */
export const inWords = { under: 'under ', over: 'over ', to: ' to ' };
export const inSigns: typeof inWords = { under: '<', over: '>', to: '-' };

/** `99.2 %`; never rounded to 0 or 100 when it is neither. `digits` after the point. */
export function percent(value: number, digits = 1, { under, over } = inWords): string {
  const smallest = 10 ** -digits;
  if (value > 0 && value < smallest) return `${under}${smallest} %`;
  if (value < 100 && value > 100 - smallest) return `${over}${100 - smallest} %`;
  return `${trimmed(value, digits)} %`;
}

/** With two digits; rounding does not hide on which side of a limit the value is: `under 10 %`. */
export function percentBeside(limit: number | undefined, value: number): string {
  const isHidden = limit !== undefined && Math.sign(Number(value.toFixed(2)) - limit) !== Math.sign(value - limit);
  return isHidden ? `${value < limit ? 'under' : 'over'} ${limit} %` : percent(value, 2);
}

/** part / whole x 100, two decimals, for people; 0 of 0 is 0. */
export const percentOf = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100;

/** Seconds as `45 s`, `12 min`, `2 h 14 min`, `3 d 4 h`. */
export function duration(seconds: number): string {
  if (seconds < 1) return 'under 1 s';
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 72) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Decimal megabytes as `8.1 GB`, `350 MB`, `under 1 MB`. */
export function size(megabytes: number, { under, over } = inWords): string {
  if (megabytes < 1) return `${under}1 MB`;
  if (megabytes < 999.5) return `${Math.round(megabytes)} MB`;
  if (megabytes < 999_950) return `${trimmed(megabytes / 1000)} GB`;
  // No index is that large: the number is wrong.
  return megabytes < 1e12 ? `${trimmed(megabytes / 1e6)} TB` : `${over}1,000,000 TB`;
}

/** `22 May 2026` (UTC), for epoch milliseconds. */
export function date(millis: number): string {
  if (iso(millis) === '') return 'an unknown day';
  const at = new Date(millis);
  return `${at.getUTCDate()} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}

/** `22 May 2026, 03:30 UTC`, for epoch milliseconds. */
export const moment = (millis: number): string =>
  iso(millis) === '' ? 'an unknown time' : `${date(millis)}, ${iso(millis).slice(-13, -8)} UTC`;

/** ISO 8601; empty for an invalid time: a token may say that it expires in the year 56,000. */
export const iso = (millis: number): string => (Math.abs(millis) <= 8.64e15 ? new Date(millis).toISOString() : '');

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const trimmed = (value: number, digits = 1): string => `${Number(value.toFixed(digits))}`;
