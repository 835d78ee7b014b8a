/** The command line, or a file that it names, is wrong: `message` is one sentence with the remedy. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
