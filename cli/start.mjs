/**
 * Starts `main.ts` in a checkout: for `./retention` and `npm start`, or by itself where a shell cannot run the first. It is
 * no TypeScript, because without the packages nothing here can read any.
 */
try {
  const { register } = await import('tsx/esm/api');
  register();
} catch (error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  const folder = new URL('..', import.meta.url).pathname;
  process.stderr.write(
    `Packages of this program are missing: run npm ci --include=dev in ${folder} (NODE_ENV=production leaves them out).\n`,
  );
  process.exit(2);
}
await import('./main.ts');
