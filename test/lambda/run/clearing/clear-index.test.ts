import { describe, expect, test } from 'vitest';
import type { Note } from '../../../../lambda/facts/note.ts';
import type { DecidedFacts } from '../../../../lambda/facts/report-schema.ts';
import { LedgerError } from '../../../../lambda/ledger/ledger.ts';
import { memoryLedger } from '../../../../lambda/ledger/memory.ts';
import type { Head, OtherVersion, StoredRecord } from '../../../../lambda/ledger/record.ts';
import { OperationsError, type ReadOptions, type TruncateFields } from '../../../../lambda/operations/operations.ts';
import { type Clearing, clearIndex, clearWatched } from '../../../../lambda/run/clear.ts';
import { watched } from '../../../../lambda/run/entries.ts';
import type { RunServices } from '../../../../lambda/run/services.ts';
import {
  aKey,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aReserved,
  aRunning,
  aSending,
  aServer,
  aVerdict,
  aWindow,
} from '../../../support/records.ts';
import { aRunState } from '../../../support/states.ts';

/**
 * One index that an operator clears: its record decides what is counted, and the counts decide whether it is released.
 */

const now = 5_000_000;
const index = 'dataset.operation';
const { signal } = new AbortController();

interface World {
  /** Rows up to each moment; 5 up to the cutoff, and all 40 of the window, by default. */
  upTo?: Record<number, number>;
  fails?: 'no-index' | 'timeout';
  clearing?: Clearing;
  changes?: Partial<RunServices['ledger']>;
  key?: typeof aKey;
}
function world(record: StoredRecord | undefined, { upTo = {}, fails, changes = {} }: World) {
  const ledger = memoryLedger();
  if (record)
    ledger.stored.set(anIndex, record.state === 'other-version' ? (record.head ?? { nothing: 'known' }) : record);
  const asked: [TruncateFields, unknown][] = [];
  const services = {
    ledger: { ...ledger, ...changes },
    clock: { now: () => now },
    newId: () => 'new',
    log: { warn() {} },
    operations: {
      async dryRun(fields: TruncateFields, options?: ReadOptions) {
        asked.push([fields, options?.signal]);
        if (fails) throw new OperationsError({ kind: fails, operation: 'dry-run' });
        return { rowsToDelete: { 500000: 5, 1000000: 45, ...upTo }[fields.endTimeMillis] ?? 0, rowsTotal: 99 };
      },
    },
  } as unknown as RunServices;
  return { services, ledger, asked };
}
async function cleared(record: StoredRecord | undefined, given: World = {}) {
  const made = world(record, given);
  const result = await clearIndex(record, given.key ?? aKey, given.clearing ?? {}, made.services, signal);
  return {
    ...made,
    result,
    note: result.kind === 'note' ? result.note : undefined,
    state: made.ledger.stored.get(anIndex),
  };
}
const notReleased = (why: string, more: object = {}) => ({ kind: 'not-released', index, why, ...more });
const released = (rowsMissing: number, more: object = {}) => ({ kind: 'released', index, rowsMissing, ...more });

describe('what nobody has under way', () => {
  test.each<[string, StoredRecord | undefined]>([
    ['no record', undefined],
    ['an idle record', anIdle()],
    ['a verdict that was cleared', anIdle({ lastVerdict: aVerdict({ window: undefined }) })],
    ['a reservation whose time is over', aReserved({ attempt: anAttempt({ sendBy: now }) })],
  ])('of which there is %s is nothing to clear', async (_, record) => {
    const { note, asked } = await cleared(record);
    expect([note, asked]).toStrictEqual([{ kind: 'nothing-to-clear', index }, []]);
  });

  test('is released when a preview has told of it, and its rows are back', async () => {
    const lastVerdict = aVerdict({ window: { ...aWindow, countedAt: 1 } });
    const { note, state } = await cleared(anIdle({ lastVerdict }));
    expect(note).toStrictEqual(released(0));
    expect(state).not.toHaveProperty('lastVerdict.window');
  });
});

describe('what may be under way', () => {
  const later = now + 1;

  test.each<[string, StoredRecord, Note | object]>([
    ['a reservation', aReserved({ attempt: anAttempt({ sendBy: later }) }), notReleased('sending', { until: later })],
    ['a call', aSending({ judgeableAt: later }), notReleased('sending', { until: later })],
    ['a task', aRunning({ judgeableAt: later }), notReleased('running', { until: later })],
  ])('of %s is left alone until then', async (_, record, expected) => {
    expect((await cleared(record)).note).toStrictEqual(expected);
  });

  test('is watched to its end, as this run’s', async () => {
    const { result } = await cleared(aRunning({ judgeableAt: now }), { clearing: { acceptMissing: 3 } });
    const entry = watched(
      { index: anIndex, entry: { entityType: 'dataset', aspect: 'operation', adopted: true } },
      aRunning(),
      now,
      now,
    );
    expect(result).toStrictEqual({
      kind: 'watch',
      entry: { ...entry, watch: { ...entry.watch, clearing: { acceptMissing: 3 } } },
    });
  });

  test('at another address is watched and judged here from now on', async () => {
    const elsewhere = aSending({ server: 'http://other' });
    const { result, state } = await cleared(elsewhere);
    expect([result.kind, state]).toMatchObject(['watch', { state: 'sending', server: aServer }]);
    const overtaken = await cleared(elsewhere, { changes: { replace: async () => false } });
    expect(overtaken.note).toStrictEqual(notReleased('running'));
    // Here, nothing is written.
    const here = await cleared(aSending(), { changes: { replace: async () => false } });
    expect(here.result.kind).toBe('watch');
  });

  test.each<[string, StoredRecord]>([
    ['a reservation', aReserved({ attempt: anAttempt({ sendBy: now }) })],
    ['a quarantine', aQuarantined()],
  ])('because another run was at work on %s is left to that', async (_, record) => {
    expect((await cleared(record, { changes: { replace: async () => false } })).note).toStrictEqual(
      notReleased('running'),
    );
  });
});

describe('a closed index', () => {
  test('is counted once for each boundary of its windows, by exactly these questions', async () => {
    const windows = [aWindow, { from: 400_000, to: 1_000_000, rows: 40 }];
    const { asked } = await cleared(aQuarantined({ windows }));
    const fields = { entityType: 'dataset', aspect: 'operation', batchSize: 10_000, forceDeleteByQuery: true };
    expect(asked).toStrictEqual(
      [500_000, 1_000_000, 400_000].map((endTimeMillis) => [{ ...fields, endTimeMillis }, signal]),
    );
  });

  test('lacks what the worst of its windows lacks', async () => {
    const windows = [
      { from: 500_000, to: 700_000, rows: 10 },
      { from: 700_000, to: 1_000_000, rows: 40 },
    ];
    const upTo = { 700000: 25 };
    // 20 of 10, and 20 of 40: what came in later makes up for nothing.
    expect((await cleared(aQuarantined({ windows }), { upTo })).note).toStrictEqual(
      notReleased('rows-missing', { rowsMissing: 20 }),
    );
    expect((await cleared(aQuarantined({ windows: [aWindow] }), { upTo: { 1000000: 90 } })).note).toStrictEqual(
      released(0),
    );
  });

  const cause = { kind: 'rows-missing', expected: 40, found: 10, rowsIn: 'before' } as const;
  const entry: DecidedFacts = { ...aVerdict().entry, outcome: 'rows-missing', cause, indexName: 'now' };
  const closed = aQuarantined({ windows: [aWindow], lastVerdict: aVerdict({ entry }) });

  test('says where its rows are as long as some are missing', async () => {
    const upTo = { 1000000: 15 };
    expect((await cleared(closed, { upTo })).note).toStrictEqual(
      notReleased('rows-missing', { rowsMissing: 30, rowsIn: 'before', indexNow: 'now' }),
    );
    expect((await cleared(closed, { upTo, clearing: { acceptMissing: 30 } })).note).toStrictEqual(
      released(30, { rowsIn: 'before' }),
    );
    expect((await cleared(closed)).note).toStrictEqual(released(0));
    const elsewhere = aQuarantined({ windows: [aWindow] });
    expect((await cleared(elsewhere, { upTo, clearing: { acceptMissing: 30 } })).note).toStrictEqual(released(30));
  });

  test('without a window needs a number', async () => {
    const bare = aQuarantined({ windows: [] });
    expect((await cleared(bare)).note).toStrictEqual(notReleased('uncounted'));
    const { note, asked } = await cleared(bare, { clearing: { acceptMissing: 1 } });
    expect([note, asked]).toStrictEqual([released(0, { uncounted: true }), []]);
  });

  test('that is gone has no rows', async () => {
    expect((await cleared(closed, { fails: 'no-index' })).note).toMatchObject(
      notReleased('rows-missing', { rowsMissing: 40 }),
    );
  });

  test.each<[string, World, object]>([
    ['the server', { fails: 'timeout' }, notReleased('server', { error: { kind: 'timeout', operation: 'dry-run' } })],
    ['the ledger', { changes: { replace: () => Promise.reject(new LedgerError('no table')) } }, notReleased('ledger')],
  ])('stays closed where %s fails', async (_, given, expected) => {
    expect((await cleared(closed, given)).note).toStrictEqual(expected);
  });

  test('is left to the workflow where the failure is a defect', async () => {
    const changes = { replace: () => Promise.reject(new TypeError('a defect')) };
    await expect(cleared(closed, { changes })).rejects.toThrow('a defect');
  });
});

describe('a record of another version', () => {
  const head = (fields: Partial<Head>): OtherVersion => ({
    state: 'other-version',
    index: anIndex,
    head: { version: 3, state: 'idle', ...aKey, attemptId: 'old', ...fields },
  });

  test.each<[string, OtherVersion, World, object]>([
    [
      'whose head cannot be read',
      { state: 'other-version', index: anIndex },
      {},
      { ...notReleased('ledger'), unreadable: true },
    ],
    [
      'that may still be sent',
      head({ state: 'sending', judgeableAt: now + 1 }),
      {},
      notReleased('sending', { until: now + 1 }),
    ],
    ['that is idle', head({}), {}, released(0, { uncounted: true })],
    ['that was reserved', head({ state: 'reserved', windows: [aWindow] }), { upTo: { 1000000: 5 } }, released(0)],
    ['that is closed and whole', head({ state: 'quarantined', windows: [aWindow] }), {}, released(0)],
    [
      'that is closed and lacks rows',
      head({ state: 'quarantined', windows: [aWindow] }),
      { upTo: { 1000000: 15 } },
      notReleased('rows-missing', { rowsMissing: 30 }),
    ],
    ['that is closed without windows', head({ state: 'quarantined' }), {}, notReleased('uncounted')],
    ['that is closed with none', head({ state: 'quarantined', windows: [] }), {}, notReleased('uncounted')],
    [
      'that is closed without windows, and accepted',
      head({ state: 'quarantined' }),
      { clearing: { acceptMissing: 1 } },
      released(0, { uncounted: true }),
    ],
    ['that another run is at', head({}), { changes: { replace: async () => false } }, notReleased('running')],
    [
      'that another run is at, with a task',
      head({ state: 'running' }),
      { changes: { replace: async () => false } },
      notReleased('running'),
    ],
  ])('%s', async (_, record, given, expected) => {
    const { note, state } = await cleared(record, given);
    expect(note).toStrictEqual(expected);
    if ((expected as Note).kind === 'released')
      expect(state).toMatchObject({ version: 2, state: 'idle', attemptId: 'new' });
  });

  test('with a task is taken over, and watched', async () => {
    const { result, state } = await cleared(head({ state: 'running', judgeableAt: now, windows: [aWindow] }));
    expect(result).toMatchObject({ kind: 'watch', entry: { watch: { attemptId: 'new', clearing: {} } } });
    expect(state).toMatchObject({ version: 2, state: 'sending', attemptId: 'new', windows: [aWindow] });
  });
});

describe('a truncation that was watched to its end', () => {
  const entry = watched(
    { index: anIndex, entry: { entityType: 'dataset', aspect: 'operation' } },
    aRunning(),
    now,
    now,
  );
  const after = async (record: StoredRecord | undefined, given: World = {}) => {
    const { services } = world(record, given);
    const asked = given.clearing ? { ...entry, watch: { ...entry.watch, clearing: given.clearing } } : entry;
    return clearWatched(asked, aRunState([], { server: aServer }), services, signal);
  };

  test.each<[string, StoredRecord | undefined, World, object]>([
    ['and is free is released', anIdle(), {}, released(0)],
    [
      'and is free although rows are gone says how many',
      anIdle({ lastVerdict: aVerdict({ entry: { ...aVerdict().entry, rowsMissing: 4 } }) }),
      {},
      released(4),
    ],
    [
      'and is closed is counted',
      aQuarantined(),
      { upTo: { 1000000: 15 } },
      notReleased('rows-missing', { rowsMissing: 30 }),
    ],
    [
      'and is closed is released where that is accepted',
      aQuarantined(),
      { upTo: { 1000000: 15 }, clearing: { acceptMissing: 30 } },
      released(30),
    ],
    ['but goes on stays as it is', aRunning(), {}, notReleased('running')],
    ['but has no record stays as it is', undefined, {}, notReleased('running')],
  ])('%s', async (_, record, given, expected) => {
    expect(await after(record, given)).toStrictEqual(expected);
  });
});
