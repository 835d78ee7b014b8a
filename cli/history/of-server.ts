import { existsSync } from 'node:fs';
import { fileLedger } from '../../lambda/ledger/file.ts';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import { UsageError } from '../command-line/usage-error.ts';
import { nightsPath } from '../files/ledger-path.ts';
import { type Memory, readMemory } from './memory.ts';

/**
 * The nights next to a ledger, for a survey of a server: nights do not say which server they saw, but the ledger's
 * records do. Empty if the ledger also knows another server, knows none, or cannot be read: a survey works without.
 */
export async function nightsOfServer(ledgerPath: string, server: string): Promise<Memory> {
  const nothing: Memory = new Map();
  if (!existsSync(ledgerPath)) return nothing;
  try {
    const ledger = fileLedger(ledgerPath, { readOnly: true });
    const records = await ledger.list();
    ledger.close();
    const servers = new Set(records.map((record) => (record.state === 'other-version' ? undefined : record.server)));
    if (servers.size !== 1 || !servers.has(server)) return nothing;
    return readMemory(nightsPath(ledgerPath), Date.now()) ?? nothing;
  } catch (error) {
    if (error instanceof LedgerError || error instanceof UsageError) return nothing;
    throw error;
  }
}
