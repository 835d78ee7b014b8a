import { previewMessage } from './command-line/preview-message.ts';
import { UsageError } from './command-line/usage-error.ts';

/** `npm run preview-message`. */
try {
  process.stdout.write(`${previewMessage(process.argv.slice(2))}\n`);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
