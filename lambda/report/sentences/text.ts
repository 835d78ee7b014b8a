import { escaped, unprintable } from '../../gms/text.ts';

/**
 * Makes texts that others wrote safe for a message, a terminal, a subject or JSON: without control characters and
 * characters that reverse or hide text, and no longer than there is room for. Texts from GMS are already clean; this
 * is a second safeguard.
 */

export const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** One line of at most `max` characters without control characters. */
export function oneLine(text: string, max: number): string {
  return clip(
    // Long texts are cut before they are searched: the rest is not shown anyway.
    text
      .slice(0, max * 4)
      .replace(unprintable, ' ')
      .replace(loneSurrogate, '?')
      .replace(/\s+/g, ' ')
      .trim(),
    max,
  );
}

/** Cuts at `max` UTF-16 units without splitting a character or leaving a comma at the end, and shows that it did. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text
    .slice(0, Math.max(0, max - 3))
    .replace(/[\ud800-\udbff]$/, '')
    .replace(/[\s,;:(.]+$/, '')}...`;
}

/** Printable ASCII only, others as `?`: what an SNS subject and a CloudWatch dimension take. */
export const ascii = (text: string, max: number): string =>
  oneLine(
    text
      .slice(0, max * 4)
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, ''),
    max,
  ).replace(/[^\x20-\x7e]/g, '?');

/** JSON whose text has no control characters and nothing that XML refuses; it parses to exactly `value`. */
export const safeJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029\ufff9-\uffff]/g, escaped);

/** A value of JSON with every text in it changed, except where `isKept`. */
export function mapTexts<Value>(
  value: Value,
  change: (text: string) => string,
  isKept: (key: string, value: unknown) => boolean = () => false,
): Value {
  if (typeof value === 'string') return change(value) as Value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, isKept)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [
    key,
    isKept(key, item) ? item : mapTexts(item, change, isKept),
  ]);
  return Object.fromEntries(entries) as Value;
}
