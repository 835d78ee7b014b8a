import { isAbsolute, join } from 'node:path';
import { isLoopback } from '../../lambda/gms/http/base-url.ts';
import { type Ledger, LedgerError } from '../../lambda/ledger/ledger.ts';
import { namesOfRecord, type StoredRecord } from '../../lambda/ledger/record.ts';
import { isNewOrLost } from '../../lambda/ledger/runs.ts';
import { dottedName, searchIndexOfName } from '../../lambda/policy/aspects.ts';
import type { CommandLine } from '../command-line/read.ts';
import { UsageError } from '../events/mistakes.ts';
import { homeOf } from '../inputs/datahubenv.ts';
import type { Policies } from '../inputs/policies.ts';
import type { Server } from '../inputs/server.ts';
import { configMaps, podAccess } from './config-maps.ts';
import { folderLedger } from './folder-ledger.ts';
import { kubernetesLedger } from './kubernetes-ledger.ts';
import type { LastRunStore, StoredLedger } from './stored-ledger.ts';

/** `--ledger kubernetes:`, which the chart passes. */
const inConfigMaps = 'kubernetes:';

/**
 * @param path a folder, or `kubernetes:` for the ConfigMaps of the pod's own namespace
 * @param isNamed a person named it
 * @throws UsageError
 */
export function ledgerAt(path: string, env: NodeJS.ProcessEnv, isNamed = false): StoredLedger {
  if (!path.startsWith(inConfigMaps)) return folderLedger(path, isNamed);
  if (path !== inConfigMaps)
    throw new UsageError(
      `--ledger ${path}: nothing follows ${inConfigMaps}, which is the namespace of the pod itself.`,
    );
  const access = podAccess(env);
  if (access === undefined)
    throw new UsageError(
      `--ledger ${inConfigMaps} is for a pod with the token of its service account, as the chart mounts it: name a folder here.`,
    );
  return kubernetesLedger(configMaps(access));
}

/**
 * Opens the ledger of a run, and finds out before anything is sent whether it can be used. A preview only reads it. A
 * ledger that cannot be used says so at each access, so that the run reports that, with whatever it could read.
 * @param policies whose names a release may have, too
 * @returns the ledger; its records, if they can be read; and whether an enforcing run begins it, because it has neither a
 *   record nor a run yet
 * @throws UsageError
 */
export async function openLedger(
  path: string,
  { verb, ledger: named, words }: CommandLine,
  env: NodeJS.ProcessEnv,
  policies?: Policies,
) {
  const ledger = ledgerAt(path, env, path === named);
  const isPreview = verb === 'preview';
  let records: StoredRecord[] | undefined;
  try {
    records = await ledger.list();
    if (verb === 'release' && policies) checkRelease(words, policies, records);
    if (!isPreview) await ledger.prepare();
    return { ledger, records, isFirstRun: !isPreview && records.length === 0 && (await isNewOrLost(ledger)) };
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    const read = records ? ledger : unusableLedger(error);
    const last = { ...read.last, replaceRuns: async () => true };
    return { ledger: { ...read, unwritable: error, last }, records, isFirstRun: false };
  }
}

/** The run counts and sends nothing; its report says what is wrong. */
export function unusableLedger(error: LedgerError): Ledger & LastRunStore {
  const fails = () => Promise.reject(error);
  const last = { readRuns: async () => undefined, replaceRuns: async () => true };
  return { read: fails, list: fails, replace: fails, last };
}

/**
 * A quarantined index may have lost its policy; a name that the ledger does not know either is a typo.
 * @throws UsageError
 */
function checkRelease(indices: readonly string[], policies: Policies, records: readonly StoredRecord[]): void {
  const known = [...new Set([...policies.names, ...records.map((record) => dottedName(namesOfRecord(record)))])];
  for (const name of indices) {
    if (known.some((one) => searchIndexOfName(one) === searchIndexOfName(name))) continue;
    const where = policies.count === 0 ? 'the ledger does not know it' : 'neither the policies nor the ledger know it';
    const there = known.length === 0 ? 'the ledger is empty' : `it has ${known.join(', ')}`;
    throw new UsageError(`release ${name}: ${where}; ${there}.`);
  }
}

/**
 * Which ledger a run against a server uses, and whether it may only talk to sample data. An address does not show which
 * server it is: a forwarded port is loopback as well. So the server is asked.
 * @throws UsageError
 */
export async function chooseLedger(
  { verb, ledger, fast }: CommandLine,
  server: Server,
  env: NodeJS.ProcessEnv,
  connection: { probe(): Promise<boolean> },
): Promise<string> {
  if (ledger !== undefined && !fast) return ledger;
  const isSample = await connection.probe();
  if (fast && !isSample) {
    throw new UsageError(
      '--fast is for sample data only, and this server does not say that its data is a sample: omit --fast.',
    );
  }
  if (ledger !== undefined) return ledger;
  if (verb !== 'preview' && !isSample && isLoopback(new URL(server.baseUrl).hostname)) {
    throw new UsageError(
      `${verb} at a loopback address needs --ledger FOLDER, one for each server: a forwarded port does not say which server it is.`,
    );
  }
  return defaultLedgerPath(env, isSample);
}

/**
 * The default of `--ledger` (XDG base directories: a relative path there must be ignored). Sample data has a folder of
 * its own, because what such a run leaves unfinished does not matter.
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
    return homeOf();
  } catch {
    throw new UsageError('There is no home folder to keep the ledger in: name a folder with --ledger FOLDER.');
  }
}
