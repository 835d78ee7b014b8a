import './node-version.mjs';

import { parseArguments } from './command-line/arguments.ts';
import { programName } from './command-line/verbs.ts';
import { UsageError } from './events/mistakes.ts';
import { handleSignals, isNullDevice } from './events/signals.ts';
import { execute } from './execute.ts';
import { jsonLines } from './outputs/json-lines.ts';
import { writeTo } from './outputs/output-file.ts';
import { onScreen } from './outputs/screen/on-screen.ts';
import { confirmOn, screenOn, surviveWriteErrors } from './outputs/screen/screen.ts';
import { defaultWidth } from './outputs/table.ts';

/**
 * `./retention` and `datahub-retention`: reads the command line, carries it out, and exits with status 0 (ok), 1
 * (attention, failed) or 2 (arguments).
 */

const { stdout, stderr } = process;
const printed = surviveWriteErrors(stdout, stderr);
/** Where a person sees a question; behind `> log 2>&1` nowhere. */
const shown = [stderr, stdout].find(({ isTTY }) => isTTY);

// An empty variable counts as unset. Blanks around a value, which an env file may leave, are no part of it.
const env = Object.fromEntries(
  Object.entries(process.env).map(([name, text]) => [
    name,
    name.startsWith('DATAHUB_RETENTION_') ? text?.trim() || undefined : text,
  ]),
);

// An unhandled signal does not end the first process of a container.
handleSignals();

try {
  const program = programName(process.argv[1]);
  process.exitCode = await execute(parseArguments(process.argv.slice(2), env, program), {
    env,
    program,
    width: stdout.columns || defaultWidth,
    hasTerminal: stdout.isTTY === true || process.stdin.isTTY === true,
    ask: shown && process.stdin.isTTY ? (question) => confirmOn(shown, question) : undefined,
    isOutputDiscarded: isNullDevice(stdout.fd),
    print: (text) => writeTo(stdout, text),
    printError: (text) => writeTo(stderr, `${text}\n`),
    printed,
    // With `--json -` only the report is on standard output.
    output: ({ log, json }) =>
      log === 'json'
        ? jsonLines((line) => writeTo(stdout, line))
        : onScreen(screenOn(json === '-' ? stderr : stdout, env)),
  });
} catch (error) {
  const { syscall } = Object(error) as NodeJS.ErrnoException;
  const gone =
    syscall === 'uv_cwd' ? 'The folder in which this program was started is gone: change to another one.' : '';
  writeTo(stderr, `${gone || (error instanceof Error ? error.message : String(error))}\n`);
  process.exitCode = gone || error instanceof UsageError ? 2 : 1;
}
if ((await printed()) === 'refused') process.exitCode ||= 1;
// A connection or a timer of a request that was given up must not keep the process alive.
process.exit();
