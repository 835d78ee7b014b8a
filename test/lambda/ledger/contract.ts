import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ledger } from '../../../lambda/ledger/ledger.ts';
import type { LedgerRecord } from '../../../lambda/ledger/record.ts';
import { noteAnswer } from '../../../lambda/ledger/transitions.ts';
import {
  anIdle,
  anIndex,
  aQuarantined,
  aRecordOfEachState,
  aReserved,
  aRunning,
  aSending,
} from '../../support/records.ts';

/** One store. `ledger()` opens it as another process would, or returns the same object if only one process can use it. */
export interface LedgerStore {
  ledger(): Ledger | Promise<Ledger>;
  /** Stores a record as another version of this program may have left it. */
  plant(index: string, record: object): Promise<void>;
  close?(): void | Promise<void>;
}

/** What every implementation of the ledger has to do; `open` returns an empty store. */
const aTime = (atMillis: number, runId: string) => ({ atMillis, runId, runStartMillis: 7 });

export function ledgerContract(name: string, open: () => Promise<LedgerStore>): void {
  describe(`${name}, as every ledger`, () => {
    let store: LedgerStore;
    let ledger: Ledger;
    const index = anIndex;
    const one = anIdle;

    beforeEach(async () => {
      store = await open();
      ledger = await store.ledger();
    });
    afterEach(() => store.close?.());

    test('is empty at first', async () => {
      expect(await ledger.read(index)).toBeUndefined();
      expect(await ledger.list()).toEqual([]);
    });

    test.each(aRecordOfEachState())('returns a $state record unchanged, to another process too', async (stored) => {
      expect(await ledger.replace(undefined, stored)).toBe(true);
      expect(await ledger.read(index)).toEqual(stored);
      expect(await (await store.ledger()).read(index)).toEqual(stored);
    });

    test('lists every record, ordered by index', async () => {
      const names = ['dataset_operationaspect_v1', 'chart_chartusagestatisticsaspect_v1', 'query_xaspect_v1'];
      for (const at of names) await ledger.replace(undefined, one({ index: at }));
      await ledger.takeScheduledTime(aTime(1, 'run'));
      const listed = await ledger.list();
      expect(listed.map((each) => each.index)).toEqual(names.sort());
    });

    test('refuses to create a record that exists', async () => {
      await ledger.replace(undefined, aReserved({ attemptId: 'a' }));
      expect(await ledger.replace(undefined, aReserved({ attemptId: 'b' }))).toBe(false);
      expect(await ledger.read(index)).toMatchObject({ attemptId: 'a' });
    });

    test('does not store a record that it could not read back', async () => {
      const window = { role: 'kept' as const, from: 0, to: 1, rows: -1 };
      await expect(ledger.replace(undefined, aSending({ windows: [window, window] }))).rejects.toThrow(
        '(windows.0.rows, windows.1.rows)',
      );
      expect(await ledger.read(index)).toBeUndefined();
    });

    test('refuses to replace a record that does not exist', async () => {
      expect(await ledger.replace(one({ attemptId: 'a' }), aReserved({ attemptId: 'b' }))).toBe(false);
      expect(await ledger.read(index)).toBeUndefined();
    });

    test.each<{ change: string; read: LedgerRecord; stored: LedgerRecord }>([
      { change: 'another state', read: aReserved(), stored: aSending() },
      { change: 'another attempt', read: aReserved({ attemptId: 'a' }), stored: aReserved({ attemptId: 'b' }) },
      { change: 'an attempt', read: anIdle(), stored: anIdle({ attemptId: 'b' }) },
      { change: 'no attempt any more', read: anIdle({ attemptId: 'a' }), stored: anIdle() },
    ])('refuses a transition when the stored record has $change', async ({ read, stored }) => {
      await ledger.replace(undefined, stored);
      expect(await ledger.replace(read, aQuarantined({ attemptId: 'c' }))).toBe(false);
      expect(await ledger.read(index)).toEqual(stored);
    });

    test('follows a chain of transitions', async () => {
      const chain = [anIdle(), aReserved(), aSending(), aRunning(), anIdle({ attemptId: 'attempt-1' })];
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
        acquirers.map((acquirer, number) => acquirer.replace(one(), aReserved({ attemptId: `attempt-${number}` }))),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await ledger.read(index)).toMatchObject({ attemptId: `attempt-${won.indexOf(true)}` });
    });

    test('lets exactly one of 20 simultaneous creators win', async () => {
      const creators = await Promise.all(Array.from({ length: 20 }, () => store.ledger()));
      const won = await Promise.all(
        creators.map((creator, number) => creator.replace(undefined, aReserved({ attemptId: `attempt-${number}` }))),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
    });

    test('gives a scheduled time to the first run that takes it, and to that run again', async () => {
      const first = aTime(1, 'first');
      expect(await ledger.takeScheduledTime(first)).toEqual(first);
      expect(await ledger.takeScheduledTime(aTime(1, 'second'))).toEqual(first);
      expect(await ledger.takeScheduledTime({ ...first, runStartMillis: 8 })).toEqual(first);
      expect(await (await store.ledger()).takeScheduledTime(first)).toEqual(first);
    });

    test('refuses a scheduled time that is not later than the latest one taken', async () => {
      await ledger.takeScheduledTime(aTime(5, 'later'));
      expect(await ledger.takeScheduledTime(aTime(4, 'late'))).toEqual(aTime(5, 'later'));
      expect(await ledger.takeScheduledTime(aTime(6, 'next'))).toEqual(aTime(6, 'next'));
      expect(await (await store.ledger()).takeScheduledTime(aTime(5, 'later'))).toEqual(aTime(6, 'next'));
    });

    test('gives a scheduled time to only one of several simultaneous runs', async () => {
      const runs = ['a', 'b', 'c', 'd', 'e'];
      const ledgers = await Promise.all(runs.map(() => store.ledger()));
      const holders = await Promise.all(
        ledgers.map((each, position) => each.takeScheduledTime(aTime(1, runs[position]!))),
      );
      expect(new Set(holders.map(({ runId }) => runId)).size).toBe(1);
      expect(runs).toContain(holders[0]?.runId);
    });

    test.each([1, 9])(
      'reads the head of a version %i record, which blocks its index until it is replaced',
      async (version) => {
        const windows = [{ from: 1, to: 2, rows: 3 }];
        const planted = { ...aQuarantined({ attemptId: 'a', windows }), version, lastVerdict: 'of another kind' };
        await store.plant(index, planted);
        const found = await ledger.read(index);
        expect(found).toMatchObject({
          state: 'other-version',
          index,
          head: { version, state: 'quarantined', attemptId: 'a', windows },
        });
        expect(await ledger.list()).toEqual([found]);
        expect(await ledger.replace(one(), anIdle({ attemptId: 'b' }))).toBe(false);
        expect(await ledger.replace(found, anIdle({ attemptId: 'b' }))).toBe(true);
        expect(await ledger.read(index)).toEqual(anIdle({ attemptId: 'b' }));
      },
    );

    test('does not let a late duplicate undo a newer write with the same state and attempt id', async () => {
      const sending = aSending({ index });
      expect(await ledger.replace(undefined, sending)).toBe(true);
      const answer = { error: { kind: 'timeout', operation: 'truncate' }, realAt: 1 } as const;
      const noted = noteAnswer(sending, answer, 'unknown');
      expect(await ledger.replace(sending, noted)).toBe(true);
      const again = noteAnswer(noted, { ...answer, realAt: 2 }, 'unknown');
      expect(await ledger.replace(noted, again)).toBe(true);
      expect(await ledger.replace(sending, noted)).toBe(false);
      expect(await ledger.replace(noted, anIdle({ index }))).toBe(false);
      expect(await ledger.read(index)).toEqual(again);
    });

    test('does not confuse the records of two indices', async () => {
      await store.plant(index, one({ index: 'another' }));
      expect(await ledger.read(index)).toMatchObject({ state: 'other-version', index, head: { index: 'another' } });
    });

    test('blocks an index whose record has no readable head, and refuses to overwrite it', async () => {
      await store.plant(index, { nothing: 'known' });
      const found = await ledger.read(index);
      expect(found).toEqual({ state: 'other-version', index });
      await expect(ledger.replace(found, anIdle())).rejects.toThrow(/cannot be read, so it is not written over/);
      expect(await ledger.read(index)).toEqual(found);
    });
  });
}
