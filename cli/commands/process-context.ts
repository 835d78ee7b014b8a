import { hostname, userInfo } from 'node:os';
import { schedule } from '../../lambda/model/asked-by.ts';
import type { Options } from '../command-line/options.ts';
import type { CommandLine } from '../command-line/read.ts';
import type { Printed, RunListener } from '../events/run-listener.ts';

/** What a verb needs from the process that runs it. */
export interface ProcessContext {
  env: NodeJS.ProcessEnv;
  /** How this program was started, for commands in messages. */
  program: string;
  /** Whether there is a terminal with a person at it: a timer has none. */
  hasTerminal: boolean;
  /** Asks the person at the terminal; undefined where nobody can answer. */
  ask?: ((question: string) => Promise<boolean>) | undefined;
  /** Standard output was closed, or is the null device: nobody reads it. */
  isOutputDiscarded: boolean;
  /** Characters of a line of standard output. */
  width: number;
  print(text: string): void;
  /** A line on standard error, beside all output. */
  printError(text: string): void;
  /** Whether standard output has taken all that was written so far. */
  printed(): Promise<Printed>;
  /** Made when it is needed: text for people, or lines of JSON. */
  output(options: Pick<Options, 'log' | 'json'>): RunListener;
}

/**
 * A container has no terminal; there a person gives the arguments in a variable, which no schedule sets. No schedule
 * releases an index or approves rows.
 */
export const isByHand = ({ verb, approveRows }: CommandLine, { env, hasTerminal }: ProcessContext): boolean =>
  hasTerminal || verb === 'release' || approveRows !== undefined || env['DATAHUB_RETENTION_ARGS'] !== undefined;

/** Who asks for a run: as given, or the user and host; a timer and cron have neither a terminal nor a session. */
export function requesterOf(commandLine: CommandLine, context: ProcessContext): string {
  const isSession = context.env['SSH_CONNECTION'] !== undefined || context.env['CI'] !== undefined;
  return commandLine.by ?? (isByHand(commandLine, context) || isSession ? `${userName()}@${hostname()}` : schedule);
}

/** A user without an entry in the system's user list, as in a container, has a number. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
