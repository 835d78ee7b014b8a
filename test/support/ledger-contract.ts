import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ledger } from '../../lambda/ledger/ledger.ts';
import { type Idle, revisionOf } from '../../lambda/ledger/record.ts';
import { keepRun, summaryOfRun } from '../../lambda/ledger/runs.ts';
import { emptyLedgerNotes, type Preparation } from '../../lambda/run/plan/prepare.ts';
import type { RunServices } from '../../lambda/run/services.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { anIdle, anIndex, aQuarantined, aRecordOfEachState, aRunning, aSending } from './records.ts';
import { anEntry, aReport } from './reports.ts';

/** One store. `ledger()` opens it as another process would, or returns the same object if only one process can use it. */
export interface LedgerStore {
  ledger(): Ledger | Promise<Ledger>;
  /** Stores a record as another version of this program, or a person, may have left it. */
  plant(index: string, record: object): Promise<void>;
  close?(): void | Promise<void>;
}

/** What every implementation of the ledger has to do; `open` returns an empty store. */
export function ledgerContract(name: string, open: () => Promise<LedgerStore>): void {
  describe(`${name}, as every ledger`, () => {
    let store: LedgerStore;
    let ledger: Ledger;
    const index = anIndex;

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
      expect(await ledger.replace(stored)).toBe(true);
      expect(await ledger.read(index)).toEqual(stored);
      expect(await (await store.ledger()).read(index)).toEqual(stored);
    });

    test('lists every record, ordered by index', async () => {
      const names = ['dataset_operationaspect_v1', 'chart_chartusagestatisticsaspect_v1', 'query_xaspect_v1'];
      for (const at of names) await ledger.replace(anIdle({ index: at }));
      await ledger.replace(anIdle({ index: names[0]!, revision: 2 }));
      const listed = await ledger.list();
      expect(listed.map((each) => [each.index, revisionOf(each)])).toEqual([
        [names[1], 1],
        [names[0], 2],
        [names[2], 1],
      ]);
    });

    test('follows a chain of revisions', async () => {
      const chain = [
        anIdle(),
        aSending({ revision: 2 }),
        aRunning({ revision: 3 }),
        aQuarantined({ revision: 4 }),
        anIdle({ revision: 5 }),
      ];
      for (const next of chain) expect(await ledger.replace(next)).toBe(true);
      expect(await ledger.read(index)).toEqual(chain.at(-1));
    });

    test.each([
      ['the first, where there is a record', 1],
      ['one that is stored', 3],
      ['one before it', 2],
      ['one that skips another', 5],
    ])('refuses a revision that does not follow the stored one: %s', async (_, revision) => {
      for (const stored of [1, 2, 3]) await ledger.replace(anIdle({ revision: stored }));
      expect(await ledger.replace(aSending({ revision }))).toBe(false);
      expect(await ledger.read(index)).toEqual(anIdle({ revision: 3 }));
    });

    test('refuses a later revision of a record that does not exist', async () => {
      expect(await ledger.replace(anIdle({ revision: 2 }))).toBe(false);
      expect(await ledger.read(index)).toBeUndefined();
    });

    test('refuses what another process has stored before, even the same record', async () => {
      expect(await ledger.replace(anIdle())).toBe(true);
      expect(await (await store.ledger()).replace(anIdle())).toBe(false);
    });

    test('lets exactly one of 20 simultaneous writers win, of the first revision and of the next', async () => {
      const writers = await Promise.all(Array.from({ length: 20 }, () => store.ledger()));
      for (const revision of [1, 2]) {
        const won = await Promise.all(
          writers.map((writer, number) =>
            writer.replace(anIdle({ revision, lastSender: { runId: `run-${number}`, runStartMillis: 0 } })),
          ),
        );
        expect(won.filter(Boolean)).toHaveLength(1);
        expect(await ledger.read(index)).toMatchObject({ revision, lastSender: { runId: `run-${won.indexOf(true)}` } });
      }
    });

    test('does not store a record that it could not read back', async () => {
      await expect(ledger.replace(aRunning({ taskId: 5 as never }))).rejects.toThrow('(taskId)');
      expect(await ledger.read(index)).toBeUndefined();
    });

    test('keeps fields that this version does not know', async () => {
      await store.plant(index, { ...anIdle(), later: { of: 'another version' } });
      const found = await ledger.read(index);
      expect(found).toMatchObject({ state: 'idle', later: { of: 'another version' } });
      expect(await ledger.replace({ ...(found as Idle), revision: 2 })).toBe(true);
      expect(await ledger.read(index)).toMatchObject({ revision: 2, later: { of: 'another version' } });
    });

    test('returns a record without a required field as unreadable, which only its next revision replaces', async () => {
      await store.plant(index, { ...aQuarantined({ revision: 7 }), lastVerdict: 'of another kind' });
      const found = await ledger.read(index);
      expect(found).toMatchObject({ state: 'unreadable', index, fields: ['lastVerdict'] });
      expect(await ledger.list()).toEqual([found]);
      expect(await ledger.replace(anIdle())).toBe(false);
      expect(await ledger.replace(anIdle({ revision: 8 }))).toBe(true);
      expect(await ledger.read(index)).toEqual(anIdle({ revision: 8 }));
    });

    test('reads a record without anything readable as one without a revision', async () => {
      await store.plant(index, { nothing: 'known' });
      const found = await ledger.read(index);
      expect(found).toMatchObject({ state: 'unreadable', index });
      expect(revisionOf(found)).toBe(0);
    });

    test('does not confuse the records of two indices', async () => {
      await store.plant(index, anIdle({ index: 'another' }));
      expect(await ledger.read(index)).toMatchObject({ state: 'unreadable', index });
    });
  });
}

/** The last runs, of a ledger that keeps them: `open` returns an empty store. */
export function runsContract(name: string, open: () => Promise<LedgerStore>): void {
  describe(`${name}, and the last runs`, () => {
    let store: LedgerStore;
    const runs = async () => {
      const { runs: opened } = await store.ledger();
      if (opened === undefined) throw new Error(`${name} keeps no runs.`);
      return opened;
    };

    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close?.());

    test('are none at first, and then what was written, to another process too', async () => {
      expect(await (await runs()).readRuns()).toBeUndefined();
      expect(await (await runs()).replaceRuns('one', undefined)).toBe(true);
      expect(await (await runs()).replaceRuns('two', 'one')).toBe(true);
      expect(await (await runs()).readRuns()).toBe('two');
    });

    test('are not replaced by a writer that has not seen the stored text', async () => {
      await (await runs()).replaceRuns('one', undefined);
      expect(await (await runs()).replaceRuns('two', undefined)).toBe(false);
      expect(await (await runs()).replaceRuns('two', 'zero')).toBe(false);
      expect(await (await runs()).readRuns()).toBe('one');
    });

    test('tell an empty ledger in the first of three nights in which nothing is due, and in no later one', async () => {
      const night = async (runId: string) => {
        const ledger = await store.ledger();
        const prepared = { records: new Map(), canAskServer: true } as unknown as Preparation;
        const state = { mode: 'enforce' } as RunState;
        const notes = await emptyLedgerNotes(prepared, state, { ledger } as RunServices);
        await keepRun(
          await runs(),
          summaryOfRun({ ...aReport([anEntry('nothing-to-delete', { kind: 'not-due' })]), runId }),
        );
        return [(await ledger.list()).length, ...notes.map(({ kind }) => kind)];
      };
      expect([await night('first'), await night('second'), await night('third')]).toEqual([
        [0, 'empty-ledger'],
        [0],
        [0],
      ]);
    });

    test('are no record', async () => {
      const ledger = await store.ledger();
      await ledger.replace(anIdle());
      await (await runs()).replaceRuns('one', undefined);
      expect(await ledger.list()).toEqual([anIdle()]);
    });
  });
}
