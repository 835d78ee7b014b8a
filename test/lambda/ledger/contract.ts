import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ledger } from '../../../lambda/ledger/ledger.ts';
import { isForeign, type LedgerRecord } from '../../../lambda/ledger/record.ts';

/** One store. `ledger()` opens it as another process would; the same object again where only one process can. */
export interface LedgerStore {
  server: string;
  ledger(): Ledger | Promise<Ledger>;
  /** Stores a record of another version as that version would have, where the store lets the test do so. */
  plant?(
    index: string,
    record: { state: string; attemptId?: string; version: number; [field: string]: unknown },
  ): Promise<void>;
  close?(): void | Promise<void>;
}

export const record = (server: string, index: string, fields: Partial<LedgerRecord> = {}): LedgerRecord => ({
  version: 1,
  server,
  index,
  state: 'idle',
  ...fields,
});

/** What every implementation of the ledger has to do; `open` gives an empty store. */
export function ledgerContract(name: string, open: () => Promise<LedgerStore>): void {
  describe(`${name}, as every ledger`, () => {
    let store: LedgerStore;
    let ledger: Ledger;
    const index = 'dataset.operation';
    const one = (fields?: Partial<LedgerRecord>, at = index) => record(store.server, at, fields);

    beforeEach(async () => {
      store = await open();
      ledger = await store.ledger();
    });
    afterEach(() => store.close?.());

    test('holds nothing at first', async () => {
      expect(await ledger.read(index)).toBeUndefined();
      expect(await ledger.list()).toEqual([]);
    });

    test('gives back what was stored, to another process too', async () => {
      const stored = one({ state: 'reserved', attemptId: 'a', shrunkRows: 3, sentBy: [{ runId: 'run', at: 5 }] });
      expect(await ledger.replace(undefined, stored)).toBe(true);
      expect(await ledger.read(index)).toEqual(stored);
      expect(await (await store.ledger()).read(index)).toEqual(stored);
    });

    test('lists every record, ordered by index', async () => {
      for (const at of ['dataset.operation', 'chart.chartusagestatistics', 'query.x']) {
        await ledger.replace(undefined, one({}, at));
      }
      await ledger.claimScheduledTime('2026-01-01T03:30:00Z', 'run');
      const listed = await ledger.list();
      expect(listed.map((each) => each.index)).toEqual(['chart.chartusagestatistics', 'dataset.operation', 'query.x']);
    });

    test('refuses to create a record that exists', async () => {
      await ledger.replace(undefined, one({ state: 'reserved', attemptId: 'a' }));
      expect(await ledger.replace(undefined, one({ state: 'reserved', attemptId: 'b' }))).toBe(false);
      expect(await ledger.read(index)).toMatchObject({ attemptId: 'a' });
    });

    test('does not store what nobody could read again', async () => {
      await expect(ledger.replace(undefined, one({ shrunkRows: -1 }))).rejects.toThrow(/shrunkRows/);
      expect(await ledger.read(index)).toBeUndefined();
    });

    test('refuses to replace a record that does not exist', async () => {
      expect(await ledger.replace(one({ attemptId: 'a' }), one({ state: 'reserved', attemptId: 'b' }))).toBe(false);
      expect(await ledger.read(index)).toBeUndefined();
    });

    test.each<{ change: string; read: Partial<LedgerRecord>; stored: Partial<LedgerRecord> }>([
      {
        change: 'another state',
        read: { state: 'reserved', attemptId: 'a' },
        stored: { state: 'sending', attemptId: 'a' },
      },
      {
        change: 'another attempt',
        read: { state: 'reserved', attemptId: 'a' },
        stored: { state: 'reserved', attemptId: 'b' },
      },
      { change: 'an attempt', read: { state: 'idle' }, stored: { state: 'idle', attemptId: 'b' } },
      { change: 'no attempt any more', read: { state: 'idle', attemptId: 'a' }, stored: { state: 'idle' } },
    ])('refuses a transition when the stored record has $change', async ({ read, stored }) => {
      await ledger.replace(undefined, one(stored));
      expect(await ledger.replace(one(read), one({ state: 'quarantined', attemptId: 'c' }))).toBe(false);
      expect(await ledger.read(index)).toEqual(one(stored));
    });

    test('follows a chain of transitions', async () => {
      const chain: LedgerRecord[] = [
        one(),
        one({ state: 'reserved', attemptId: 'a' }),
        one({ state: 'sending', attemptId: 'a' }),
        one({ state: 'running', attemptId: 'a' }),
        one({ state: 'idle', attemptId: 'a' }),
      ];
      expect(await ledger.replace(undefined, chain[0]!)).toBe(true);
      for (let step = 1; step < chain.length; step++) {
        expect(await ledger.replace(chain[step - 1], chain[step]!)).toBe(true);
      }
      expect(await ledger.read(index)).toEqual(chain.at(-1));
    });

    test('lets exactly one of 20 simultaneous acquirers win', async () => {
      await ledger.replace(undefined, one());
      const acquirers = await Promise.all(Array.from({ length: 20 }, () => store.ledger()));
      const won = await Promise.all(
        acquirers.map((acquirer, number) =>
          acquirer.replace(one(), one({ state: 'reserved', attemptId: `attempt-${number}` })),
        ),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await ledger.read(index)).toMatchObject({ attemptId: `attempt-${won.indexOf(true)}` });
    });

    test('lets exactly one of 20 simultaneous creators win', async () => {
      const creators = await Promise.all(Array.from({ length: 20 }, () => store.ledger()));
      const won = await Promise.all(
        creators.map((creator, number) =>
          creator.replace(undefined, one({ state: 'reserved', attemptId: `attempt-${number}` })),
        ),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
    });

    test('gives a scheduled time to the first run that claims it, and to that run again', async () => {
      const time = '2026-01-01T03:30:00Z';
      expect(await ledger.claimScheduledTime(time, 'first')).toBe('first');
      expect(await ledger.claimScheduledTime(time, 'second')).toBe('first');
      expect(await (await store.ledger()).claimScheduledTime(time, 'first')).toBe('first');
      expect(await ledger.claimScheduledTime('2026-01-02T03:30:00Z', 'second')).toBe('second');
    });

    test('gives a scheduled time to one of several runs that claim it at once', async () => {
      const runs = ['a', 'b', 'c', 'd', 'e'];
      const ledgers = await Promise.all(runs.map(() => store.ledger()));
      const holders = await Promise.all(
        ledgers.map((each, position) => each.claimScheduledTime('2026-01-01T03:30:00Z', runs[position]!)),
      );
      expect(new Set(holders).size).toBe(1);
      expect(runs).toContain(holders[0]);
    });

    test('reports the record of a newer version, and does not touch it', async (context) => {
      if (!store.plant) return context.skip();
      await store.plant(index, { version: 2, server: store.server, index, state: 'idle', attemptId: 'a' });
      const found = await ledger.read(index);
      expect(found && isForeign(found) && found.foreign).toMatch(/newer version \(2\)/);
      expect(await ledger.list()).toEqual([found]);
    });

    test('reads the idle record of an older version and may follow it', async (context) => {
      if (!store.plant) return context.skip();
      await store.plant(index, { version: 0, server: store.server, index, state: 'idle', attemptId: 'a' });
      const found = (await ledger.read(index)) as LedgerRecord;
      expect(found).toEqual(one({ attemptId: 'a' }));
      expect(await ledger.replace(found, one({ state: 'reserved', attemptId: 'b' }))).toBe(true);
    });
  });
}
