import type { PolicyEntry } from '../../facts/report-schema.ts';

/** A next step in words: one or two sentences, and perhaps a command that can be pasted. */
export interface Step {
  text: string;
  /** Shows more and changes nothing: it stands before a command that cannot be undone. */
  look?: Command | undefined;
  command?: Command | undefined;
}

/** All its commands, in the order in which they are typed. */
export const commandsOf = ({ look, command }: Step): Command[] => [look, command].filter((one) => one !== undefined);

/** A command never appears alone: the line above it says what it does. */
export interface Command {
  /** Ends with a colon. */
  effect: string;
  line: string;
  /** What cannot be undone: it deletes rows, or opens an index to truncation. */
  danger?: 'deletes' | 'opens';
}

export const commandOf = (effect: string, line: string | undefined, danger?: Command['danger']): Command | undefined =>
  line === undefined ? undefined : { effect, line, ...(danger && { danger }) };

/** The index that a step is about, if known. */
export type Named = Pick<PolicyEntry, 'entityType' | 'aspect'> & Partial<PolicyEntry>;
