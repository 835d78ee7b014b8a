import { type Arguments, parseArguments, type Told } from './command-line/arguments.ts';
import { programName } from './command-line/program.ts';
import { UsageError } from './command-line/usage-error.ts';
import { execute } from './execute.ts';
import { validate } from './files/validate.ts';
import { history } from './history/command.ts';
import { jsonLines } from './output/json-lines.ts';
import type { Output } from './output/output.ts';
import { onScreen } from './screen/on-screen.ts';
import { screenOn, writeTo } from './screen/screen.ts';
import { keepWriting } from './screen/streams.ts';

/**
 * `npm start` and `datahub-retention`: reads the command line, carries it out, and exits with status 0 (ok), 1
 * (attention, failed) or 2 (arguments).
 */

const { stdout, stderr } = process;
keepWriting(stdout, stderr);

// An unhandled signal does not end the first process of a container. A run has a handler of its own, which says what
// continues without it; everything else here can simply end.
for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(status);
  });
}

async function main(): Promise<number> {
  const program = programName(process.argv[1]);
  const asked = parseArguments(process.argv.slice(2), process.env, program);
  if (asked.kind === 'print') {
    writeTo(stdout, asked.text);
    return 0;
  }
  if (asked.kind === 'validate') {
    writeTo(stdout, `${validate(asked).join('\n')}\n`);
    return 0;
  }
  if (asked.kind === 'history') {
    return history(asked, screenOn(asked.json?.path === '-' ? stderr : stdout, process.env), process.env);
  }
  return execute(asked, outputOf(asked), process.env, program);
}

/** With `--json -` only the report is on standard output. */
function outputOf({ log, json }: Extract<Arguments, Told>): Output {
  if (log === 'json') return jsonLines((line) => writeTo(stdout, line));
  return onScreen(screenOn(json?.path === '-' ? stderr : stdout, process.env));
}

try {
  process.exitCode = await main();
} catch (error) {
  writeTo(stderr, `${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
