import { existsSync } from 'node:fs';
import { fileLedger } from '../../lambda/ledger/file.ts';
import { type Ledger, LedgerError } from '../../lambda/ledger/ledger.ts';
import { memoryLedger } from '../../lambda/ledger/memory.ts';
import type { StoredRecord } from '../../lambda/ledger/record.ts';
import { isLoopback } from '../../lambda/operations/http/addresses.ts';
import { dottedName, searchIndexOfName } from '../../lambda/policy/aspects.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import { parsePolicies } from '../../lambda/policy/parse.ts';
import type { RunArguments, ServerRunArguments } from '../command-line/arguments.ts';
import { UsageError } from '../command-line/usage-error.ts';
import { defaultLedgerPath } from '../files/ledger-path.ts';
import type { Server } from '../files/server.ts';
import type { Connection } from './connect.ts';
import type { Policies } from './policies.ts';
import { localSettings } from './settings.ts';

/**
 * A preview leaves no trace: it does not create a ledger, and only reads an existing one.
 * @throws UsageError if the file cannot be used
 */
export function openLedger(path: string, { mode }: RunArguments): Ledger & { close?(): void } {
  const readOnly = mode === 'preview';
  if (readOnly && !existsSync(path)) return memoryLedger();
  try {
    return fileLedger(path, { readOnly });
  } catch (error) {
    if (error instanceof LedgerError) throw new UsageError(`--ledger: ${error.message}`);
    throw error;
  }
}

/**
 * A quarantined index may have lost its policy; a name that the ledger does not know either is a typo.
 * @throws UsageError
 */
export async function checkClear({ clear = [] }: RunArguments, policies: Policies, ledger: Ledger): Promise<void> {
  if (clear.length === 0) return;
  const parsed = parsePolicies(policies.first, localSettings.minRetentionDays);
  const names = parsed.flatMap((item) => (item.kind === 'policy' ? [dottedName(item.policy)] : []));
  const known = [...new Set([...names, ...(await ledger.list()).flatMap(nameOf)])];
  for (const name of clear) {
    if (known.some((one) => searchIndexOfName(one) === searchIndexOfName(name))) continue;
    const meant = nearest(name, known);
    throw new UsageError(
      `clear ${name}: ${policies.count === 0 ? 'the ledger does not know it' : 'neither the policies nor the ledger know it'}; ${meant ? `did you mean ${meant}?` : known.length === 0 ? 'the ledger is empty.' : `there are ${known.join(', ')}.`}`,
    );
  }
}

function nameOf(record: StoredRecord): string[] {
  const names = record.state === 'other-version' ? record.head : record;
  return names ? [dottedName(names)] : [];
}

/**
 * Which ledger a run against a server uses, and whether it may only talk to sample data. An address does not show which
 * server it is: a forwarded port is loopback as well. So the server is asked.
 */
export async function chooseLedger(
  { verb, ledgerPath, fast, input }: ServerRunArguments,
  server: Server,
  env: NodeJS.ProcessEnv,
  connection: Connection,
): Promise<{ ledgerPath: string; sampleOnly: boolean }> {
  const sampleOnly = fast && input.mode === 'enforce';
  if (ledgerPath !== undefined && !sampleOnly) return { ledgerPath, sampleOnly };
  const isSample = await connection.probe();
  if (sampleOnly && !isSample) {
    throw new UsageError(
      `${verb} --fast is for sample data only, and this server does not say that its data is a sample: leave --fast out.`,
    );
  }
  if (ledgerPath !== undefined) return { ledgerPath, sampleOnly };
  if (input.mode === 'enforce' && !isSample && isLoopback(new URL(server.baseUrl).hostname)) {
    throw new UsageError(
      `${verb} at a loopback address needs --ledger FILE, one for each server: a forwarded port does not say which server it is.`,
    );
  }
  return { ledgerPath: defaultLedgerPath(env, isSample), sampleOnly };
}
