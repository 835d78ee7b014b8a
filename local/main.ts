import { parseArguments, UsageError } from './arguments.ts';
import { execute } from './execute.ts';
import { screenOn } from './progress.ts';

/** `npm start`: reads the command line, does what it says, and ends with status 0 (ok), 1 (attention, failed) or 2 (arguments). */

// Somebody who pages through the output and quits early must not stop a truncation's supervision.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  const parsed = parseArguments(process.argv.slice(2), process.env);
  process.exitCode = await execute(parsed, screenOn(process.stdout, process.env), process.env);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
