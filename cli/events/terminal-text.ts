import { printable } from '../../lambda/gms/text.ts';

/** How severity is colored: codes that no text of others may hold. */
export const colorOf = (code: number, text: string): string => `\u001b[${code}m${text}\u001b[39m`;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what we look for
const colored = /(\u001b\[3\dm[A-Za-z -]*\u001b\[39m)/;

/**
 * What may reach a terminal or a log, from any author: printable characters, line breaks, and our own colors
 * around our own words. Inside JSON it is the same value.
 */
export const terminalText = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .split(colored)
    .map((part, at) => (at % 2 === 0 ? printable(part) : part))
    .join('');
