import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import './node-version.mjs';

/**
 * Starts `main.ts` in a checkout: for `./retention` and `npm start` (the demo), or by itself where a shell cannot run
 * the first. It is no TypeScript, because without the packages nothing here can read any.
 */
// The compiler is a process of its own, and does not say so itself.
const opened = [];
try {
  process.cwd();
  while (opened.length < 64) opened.push(openSync(fileURLToPath(import.meta.url)));
} catch ({ syscall, code }) {
  const gone = 'The folder in which this program was started is gone: change to another one.';
  const few = `The system lets this program open too few files (${code}): raise the limit (ulimit -n 1024).`;
  process.stderr.write(`${syscall === 'uv_cwd' ? gone : few}\n`);
  process.exit(2);
} finally {
  for (const file of opened) closeSync(file);
}
// Node may exit early, with nothing left to wait for. Only a program that has done its work sets another status.
process.exitCode = 1;
// Node 12 (of Ubuntu 22.04) cannot parse a top-level await, and could not say which Node this needs.
(async () => {
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
})();
