import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../lambda/ledger/ledger.ts';
import { LEDGER_VERSION, type LedgerRecord } from '../../lambda/ledger/record.ts';

/** What every ledger promises, whatever keeps it: run by the tests of each implementation. */

/** @param open opens one ledger anew each time; two that are opened without `fresh` share their store */
export function ledgerContract(name: string, open: (fresh: boolean) => Promise<Ledger> | Ledger): void {
  describe(`${name} keeps the contract of a ledger`, () => {
    it('knows nothing of an index that was never written', async () => {
      const ledger = await open(true);
      expect(await ledger.read('dataset_a')).toBeUndefined();
      expect(await ledger.list()).toEqual([]);
    });

    it('gives back what was stored, in every state, to another process as well', async () => {
      const ledger = await open(true);
      for (const record of [idle('a', 1), sending('b', 1), running('c', 1), quarantined('d', 1)]) {
        expect(await ledger.replace(record)).toBe(true);
        expect(await (await open(false)).read(record.index)).toEqual(record);
      }
    });

    it('lists every record, ordered by index', async () => {
      const ledger = await open(true);
      for (const index of ['b', 'c', 'a']) await ledger.replace(idle(index, 1));
      expect((await ledger.list()).map(({ index }) => index)).toEqual(['a', 'b', 'c']);
    });

    it('stores the next revision only', async () => {
      const ledger = await open(true);
      expect(await ledger.replace(idle('a', 2))).toBe(false);
      expect(await ledger.replace(idle('a', 1))).toBe(true);
      expect(await ledger.replace(idle('a', 1))).toBe(false);
      expect(await ledger.replace(idle('a', 3))).toBe(false);
      expect(await ledger.replace(sending('a', 2))).toBe(true);
      expect(await ledger.read('a')).toEqual(sending('a', 2));
    });

    it('lets one of two writers of the same revision win', async () => {
      const ledger = await open(true);
      await ledger.replace(idle('a', 1));
      const writers = await Promise.all([open(false), open(false), open(false)]);
      const won = await Promise.all(writers.map((one, at) => one.replace(sending('a', 2, `run-${at}`))));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await ledger.read('a')).toMatchObject({ attempt: { runId: `run-${won.indexOf(true)}` } });
    });

    it('refuses the same words from a writer that comes back after others have gone on', async () => {
      const ledger = await open(true);
      await ledger.replace(idle('a', 1));
      expect(await ledger.replace(sending('a', 2))).toBe(true);
      expect(await ledger.replace(idle('a', 3))).toBe(true);
      expect(await ledger.replace(sending('a', 2))).toBe(false);
      expect(await ledger.read('a')).toEqual(idle('a', 3));
    });

    it('refuses a record that could not be read again', async () => {
      const ledger = await open(true);
      const broken = { ...sending('a', 1), attempt: { runId: 'run' } } as unknown as LedgerRecord;
      await expect(ledger.replace(broken)).rejects.toThrow('would not be readable');
      expect(await ledger.read('a')).toBeUndefined();
    });
  });
}

const base = (index: string, revision: number) => ({
  version: LEDGER_VERSION,
  index,
  entityType: 'dataset',
  aspect: index,
  server: 'http://127.0.0.1:8080',
  revision,
});

export const idle = (index: string, revision: number): LedgerRecord => ({ ...base(index, revision), state: 'idle' });

const attempt = (index: string, runId: string) => ({
  runId,
  runStartMillis: 1_700_000_000_000,
  retentionDays: 90,
  policyCutoffMillis: 1_692_000_000_000,
  fields: {
    entityType: 'dataset',
    aspect: index,
    cutoffMillis: 1_692_000_000_000,
    batchSize: 10_000,
    forceDeleteByQuery: true,
  },
  announcesCopy: false,
  copies: false,
  baseline: { rowsToDelete: 600, rowsTotal: 1000, rowsKept: 400, countedAtMillis: 1_700_000_010_000 },
  sendingSince: 1_700_000_020_000,
  sendBy: 1_700_000_080_000,
  judgeableAt: 1_700_000_680_000,
});

export const sending = (index: string, revision: number, runId = 'run-1'): LedgerRecord => ({
  ...base(index, revision),
  state: 'sending',
  lastSender: { runId, runStartMillis: 1_700_000_000_000 },
  attempt: attempt(index, runId),
});

export const running = (index: string, revision: number, runId = 'run-1'): LedgerRecord => ({
  ...base(index, revision),
  state: 'running',
  lastSender: { runId, runStartMillis: 1_700_000_000_000 },
  attempt: attempt(index, runId),
  taskId: 'node:42',
});

export const quarantined = (index: string, revision: number): LedgerRecord => ({
  ...base(index, revision),
  state: 'quarantined',
  since: 1_700_000_900_000,
  attempt: attempt(index, 'run-1'),
  taskId: 'node:42',
  lastVerdict: {
    runId: 'run-1',
    runStartMillis: 1_700_000_000_000,
    decidedAtMillis: 1_700_000_900_000,
    verdict: {
      outcome: 'rows-missing',
      cause: { kind: 'missing', expected: 400, found: 300 },
      rowsDeleted: 600,
      rowsMissing: 100,
      copies: false,
    },
  },
});
