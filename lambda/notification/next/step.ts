import type { PolicyEntry } from '../../facts/report-schema.ts';
import type { Command } from '../../wording/instruction.ts';
import { isScheduled, type MessageContext } from '../context.ts';

/** A next step in words: one or two sentences, and perhaps a command that can be pasted. */
export interface Step {
  text: string;
  /** It passes by itself: nobody has to act. */
  passes?: true;
  /** Shows more and changes nothing; comes before a command that cannot be undone. */
  look?: Command | undefined;
  command?: Command | undefined;
}

/** All its commands, in the order in which to type them. */
export const commandsOf = ({ look, command }: Step): Command[] => [look, command].filter((one) => one !== undefined);

/** Undefined without a line. */
export const commandOf = (say: string, line: string | undefined, typedIn: Command['typedIn']): Command | undefined =>
  line === undefined ? undefined : { say, line, typedIn };

/** The index that a step is about, if known. */
export type Named = Pick<PolicyEntry, 'entityType' | 'aspect'> & Partial<PolicyEntry>;

export const laterRun = (context: MessageContext): string => (isScheduled(context) ? 'The next run' : 'A later run');

/** Nothing is scheduled if the run was started from the command line. */
export const again = (context: MessageContext): string =>
  isScheduled(context) ? '; the next run tries again' : ', then start the same command again';

export const retries = (context: MessageContext): Step => ({
  text: isScheduled(context) ? 'Nothing, the next run tries again.' : 'Start the same command again later.',
  passes: true,
});

export const watches = (context: MessageContext): Step => ({
  text: isScheduled(context)
    ? 'Nothing, the next run goes on watching.'
    : 'Start the same command again: it goes on watching.',
  passes: true,
});
