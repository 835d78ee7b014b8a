import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

/**
 * The command line, with a misfortune at a revision that its ledger writes: `AT_WRITE` is `before 3 SIGKILL`,
 * `after 3 SIGTERM`, or `from 3 ENOSPC`, where the disk takes no revision from the third on; from 0 on, nothing at all.
 */

const [when, number, what = ''] = (process.env['AT_WRITE'] ?? '').split(' ');
const { linkSync } = fs;
let writes = 0;
fs.linkSync = (existing, fresh) => {
  // What only tries the folder has no revision.
  if (basename(String(fresh)).includes('@')) writes += 1;
  else if (number !== '0') return linkSync(existing, fresh);
  if (when === 'from' && writes >= Number(number)) {
    throw Object.assign(new Error(`${what}: refused`), { code: what, syscall: 'link' });
  }
  if (when === 'before' && writes === Number(number)) process.kill(process.pid, what);
  linkSync(existing, fresh);
  if (when === 'after' && writes === Number(number)) process.kill(process.pid, what);
};
syncBuiltinESMExports();
await import('../../../cli/main.ts');
