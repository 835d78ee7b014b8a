import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileLedger } from '../../../lambda/ledger/file.ts';
import type { Ledger } from '../../../lambda/ledger/ledger.ts';
import { memoryLedger } from '../../../lambda/ledger/memory.ts';

/** The ledger of one history: like DynamoDB, or a file that each run opens itself. */
export interface LaboratoryLedger {
  /** For one execution. */
  open(): Ledger;
  /** What successful writes have stored, by search index: the truth, whatever a store may have lost since. */
  records: Map<string, unknown>;
  /** A power loss cuts the file's last line short, or fills it with zeros. No effect on the other kind. */
  damageTail(how: 'cut' | 'zeros' | 'both'): void;
  /** Stores a record regardless of conditions; only if the ledger is not a file. */
  put(index: string, record: unknown): boolean;
  close(): void;
}

export const ledgerKinds = ['memory', 'file'] as const;
export type LedgerKind = (typeof ledgerKinds)[number];

export function createLedger(kind: LedgerKind): LaboratoryLedger {
  return kind === 'memory' ? inMemory() : inFile();
}

function inMemory(): LaboratoryLedger {
  const ledger = memoryLedger();
  return {
    open: () => ledger,
    records: ledger.stored,
    damageTail() {},
    put(index, record) {
      ledger.stored.set(index, record);
      return true;
    },
    close() {},
  };
}

/** A line as the journal writes it, as far as it got. */
const halfALine = '\n{"ledger":1,"id":"00000000-0000-4000-8000-000000000000","index":"dataset_operat';

function inFile(): LaboratoryLedger {
  // On a memory file system if there is one: the journal waits for its disk after each line.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'laboratory-ledger-'));
  const path = join(folder, 'in-flight.json');
  const opened: ReturnType<typeof fileLedger>[] = [];
  const records = new Map<string, unknown>();
  return {
    open() {
      let ledger: ReturnType<typeof fileLedger> | undefined;
      // If a file is refused, the step that reads it gets the refusal.
      const own = () => {
        if (ledger === undefined) {
          // Compact it whenever possible.
          ledger = fileLedger(path, { compactAbove: 0 });
          opened.push(ledger);
        }
        return ledger;
      };
      return {
        read: async (index) => own().read(index),
        list: async () => own().list(),
        takeScheduledTime: async (taking) => own().takeScheduledTime(taking),
        async replace(previous, next) {
          const stored = await own().replace(previous, next);
          if (stored) records.set(next.index, structuredClone(next));
          return stored;
        },
      };
    },
    records,
    damageTail(how) {
      if (how !== 'zeros') appendFileSync(path, halfALine);
      if (how !== 'cut') appendFileSync(path, Buffer.alloc(4096));
    },
    put: () => false,
    close() {
      for (const ledger of opened) ledger.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
