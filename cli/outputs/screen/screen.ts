import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Result } from '../../../lambda/model/outcomes.ts';
import { problemOfFile } from '../../events/mistakes.ts';
import type { Printed } from '../../events/run-listener.ts';
import { isNullDevice } from '../../events/signals.ts';
import { colorOf } from '../../events/terminal-text.ts';
import { writeTo } from '../output-file.ts';
import { defaultWidth, wrapped } from '../table.ts';

/** Where people read the output: a terminal, or a log file. */

export interface Screen {
  /** Whole lines. */
  write(text: string): void;
  /** Present if a line may be rewritten; otherwise only text, line breaks and perhaps colors are written. */
  terminal?: NodeJS.WriteStream;
  /** Whether severity may be shown in color. */
  color?: boolean;
}

/** Characters of a line. */
export const widthOf = ({ terminal }: Screen): number => terminal?.columns || defaultWidth;

/** A screen on a stream. `TERM=dumb` and CI logs get plain lines. */
export function screenOn(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Screen {
  const isTerminal = stream.isTTY === true && env['TERM'] !== 'dumb' && !env['CI'];
  return {
    write: (text) => writeTo(stream, text),
    terminal: isTerminal ? stream : undefined,
    // As Node decides it, by NO_COLOR (no-color.org) and the terminal.
    color: isTerminal && stream.hasColors(),
  };
}

/** Asks a question of the person at the terminal; only `y` and `yes` are a yes. Ctrl-C stays a signal. */
export async function confirmOn(output: NodeJS.WriteStream, question: string): Promise<boolean> {
  await discardTypeahead(process.stdin);
  // Between words, so that no number is torn apart.
  const lines = question.trimEnd().split('\n');
  writeTo(output, `${lines.flatMap((line) => wrapped(line, output.columns || defaultWidth)).join('\n')} `);
  if (process.stdin.readableEnded) return false;
  const answers = createInterface({ input: process.stdin, terminal: false });
  try {
    for await (const line of answers) return /^\s*y(?:es)?\s*$/i.test(line);
    output.write('\n');
    return false;
  } finally {
    answers.close();
  }
}

/** What was typed before the question answers nothing, not even a letter without Enter, which only raw mode lets go. */
async function discardTypeahead(input: NodeJS.ReadStream): Promise<void> {
  const discard = (typed: Buffer) => {
    if (typed.includes(ctrlC)) process.kill(process.pid, 'SIGINT');
  };
  input.setRawMode(true);
  input.on('data', discard);
  await sleep(100);
  input.off('data', discard);
  input.pause();
  input.setRawMode(false);
}

/** In raw mode it is a byte, and no signal. */
const ctrlC = 3;

/** A terminal that was closed, or a reader that has gone. */
const isGone = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE' || code === 'EIO' || code === 'EBADF';

/**
 * Output that cannot be written must not stop the run from watching its tasks: a pager is quit early, a
 * terminal is closed, a log's disk is full. Only the last of these is reported, once, if possible.
 * @returns a function that says whether standard output has taken everything so far
 */
export function surviveWriteErrors(
  stdout: NodeJS.WriteStream & { fd: number },
  stderr: NodeJS.WriteStream,
): () => Promise<Printed> {
  let failed: Printed | undefined = isNullDevice(stdout.fd) ? 'not-asked' : undefined;
  stderr.on('error', () => {});
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (failed !== undefined) return;
    failed = isGone(error) ? 'gone' : 'refused';
    if (failed === 'gone') return;
    const { problem, remedy = 'check where it goes' } = problemOfFile(error);
    writeTo(stderr, `The output cannot be written (${problem}): ${remedy}. The program continues without it.\n`);
  });
  return async () => {
    // Called when all that was written before has been taken, or refused.
    const flushed = new Promise<void>((resolve) => stdout.write('', () => resolve()));
    const isStuck = await Promise.race([flushed.then(() => false), sleep(timeoutMillis, true, { ref: false })]);
    return failed ?? (isStuck || !stdout.writable ? 'gone' : 'taken');
  };
}

/** A reader that takes nothing for this long has not taken the report. */
const timeoutMillis = 10_000;

/** Color shows how bad something is, and what deletes; the words always say it too. */
type Severity = Result | 'note' | 'act';

const codes: Record<Severity, number> = { ok: 32, note: 33, attention: 33, failed: 31, act: 35 };

export type Paint = (severity: Severity, text: string) => string;

/** The colors of a screen; a text is one word, so that no color has to survive a line break. */
export const paintFor = ({ color }: Screen): Paint =>
  color ? (severity, text) => colorOf(codes[severity], text) : (_, text) => text;
