import { fileURLToPath } from 'node:url';
import { whyNotStarted } from './cannot-start.mjs';

/**
 * Starts `main.ts` in a checkout: for `./retention` and `npm start` (the demo), or by itself where a shell cannot run the first. It is
 * no TypeScript, because without the packages nothing here can read any.
 */
const why = whyNotStarted();
if (why !== undefined) {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}
try {
  const { register } = await import('tsx/esm/api');
  register();
  await import('./main.ts');
} catch (error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !/package|node_modules/.test(error.message)) throw error;
  const folder = fileURLToPath(new URL('..', import.meta.url));
  process.stderr.write(
    `Packages of this program are missing: run npm ci --include=dev in ${folder} (NODE_ENV=production leaves them out).\n`,
  );
  process.exit(2);
}
