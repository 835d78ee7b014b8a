import type { Command, Instruction } from '../wording/instruction.ts';

/**
 * A message is data until it is written: a line is a text, or a command with what it does. Only commands are set off
 * from the surrounding text; a text stays on one line, so nothing that it quotes can look like a command.
 */
export type Line = string | Command;

export const linesOf = (instructions: readonly Instruction[]): Line[] =>
  instructions.map((one) => (one.line === undefined ? `${one.say}.` : one));

/** The same line after these words. */
export const after = (words: string, line: Line | undefined = ''): Line =>
  typeof line === 'string' ? `${words}${line}` : { ...line, say: `${words}${line.say}` };

/** Whether anything in it is typed into the console of the search engine. */
export const asksSearchEngine = (lines: readonly Line[]): boolean =>
  lines.some((line) => typeof line !== 'string' && line.typedIn === 'search-engine');

/** @param setOff formats a command for this form of the message: what it does, and what to type */
export const written = (lines: readonly Line[], setOff: (command: Command) => readonly [string, string]): string =>
  lines.flatMap((line) => (typeof line === 'string' ? [line] : setOff(line)).map(unbroken)).join('\n');

const unbroken = (text: string): string => text.replace(/\s*[\r\n\u2028\u2029]\s*/g, ' ');
