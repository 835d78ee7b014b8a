import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { UsageError } from '../telling/mistakes.ts';

/**
 * The default of `--ledger` (XDG base directories: a relative path there must be ignored). Sample data has a
 * folder of its own: what it leaves unfinished does not matter to anyone.
 * @throws UsageError
 */
export function defaultLedgerPath(env: NodeJS.ProcessEnv, isSample: boolean): string {
  const given = env['XDG_STATE_HOME'];
  const base = given && isAbsolute(given) ? given : join(home(), '.local', 'state');
  return join(base, 'datahub-retention', isSample ? 'sample-ledger' : 'ledger');
}

/** A user without an entry in the system's user list, as in a container, has none. */
function home(): string {
  try {
    return homedir();
  } catch {
    throw new UsageError('There is no home folder to keep the ledger in: name a folder with --ledger FOLDER.');
  }
}
