import { parseArguments, UsageError } from './command-line/arguments.ts';
import { programName } from './command-line/program.ts';
import { execute } from './execute.ts';
import { screenOn } from './screen/progress.ts';

/** `npm start` and `datahub-retention`: reads the command line, does what it says, and ends with status 0 (ok), 1 (attention, failed) or 2 (arguments). */

const isGone = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE' || code === 'EIO';

// Somebody who pages through the output and quits early must not stop a truncation's supervision.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (!isGone(error)) throw error;
});
// A closed terminal takes both.
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (!isGone(error)) throw error;
});

// The first process of a container is not ended by a signal that nobody handles. A run has a handler of its own, which says
// what goes on without it; whatever else is done here can just end.
for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(status);
  });
}

try {
  const program = programName(process.argv[1]);
  const parsed = parseArguments(process.argv.slice(2), process.env, program);
  process.exitCode = await execute(parsed, screenOn(process.stdout, process.env), process.env, program);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
