import type { Report } from '../facts/report-schema.ts';
import { maskOf } from '../facts/secrets.ts';

/**
 * What names, reasons and notes must not carry into a message: secrets, stack traces, control characters, and
 * characters that reverse or hide text. The code that writes them is careful already; this is the second lock.
 */

/** Characters that steer a terminal or a mail reader, turn text around, or are no characters in XML (SQS refuses these). */
const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]/g;
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A JSON web token, which is what DataHub's access tokens are. */
const jsonWebToken = /eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g;
const bearer = /\b(Bearer\s+)[\w.~+/=-]{8,}/gi;
const removed = '[removed]';

/** The first frame of a Java or JavaScript stack trace, with real line breaks or with escaped ones from nested JSON. */
const stackFrame =
  /(?:[\r\n]|\\r|\\n)(?:\s|\\t)*at\s|\s+at\s+[\w$.<>/]+\((?:[\w$]+\.(?:java|kt|scala):\d+|Native Method|Unknown Source)\)/;

/** Takes secrets and stack traces out of texts. `secrets`: texts that must not appear, such as the token in use. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const mask = maskOf(secrets, removed);
  return (text) => {
    const cleaned = mask(text).replace(jsonWebToken, removed).replace(bearer, `$1${removed}`);
    const frame = stackFrame.exec(cleaned);
    return frame ? cleaned.slice(0, frame.index) : cleaned;
  };
}

/** The report with `clean` applied to every text in it; the same object where nothing had to go. */
export function cleanReport(report: Report, clean: (text: string) => string): Report {
  const cleaned = mapTexts(report, clean);
  return JSON.stringify(cleaned) === JSON.stringify(report) ? report : (cleaned as Report);
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]));
}

/** One line of at most `max` characters without control characters. */
export function oneLine(text: string, max: number): string {
  return clip(
    // Long texts are cut before they are searched: what is beyond is not shown anyway.
    text
      .slice(0, max * 4)
      .replace(unprintable, ' ')
      .replace(loneSurrogate, '?')
      .replace(/\s+/g, ' ')
      .trim(),
    max,
  );
}

/** Like `oneLine`, with its line breaks kept, and the indentation of commands: for recovery texts. */
export function lines(text: string, max: number): string {
  const kept = text.slice(0, max * 4).split(/\r\n|[\r\n]/);
  return clip(
    kept
      .map((line) => (line.startsWith('  ') ? '  ' : '') + oneLine(line, max))
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    max,
  );
}

/** Cuts at `max` UTF-16 units without splitting a character, and shows that it did. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, Math.max(0, max - 3)).replace(/[\ud800-\udbff]$/, '')}...`;
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

/** JSON whose text has no control character and nothing that XML refuses; it parses to exactly `value`. */
export const safeJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029\ufff9-\uffff]/g, escaped);

/** The JSON escape of one UTF-16 unit. */
export const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
