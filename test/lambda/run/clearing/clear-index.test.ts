import { describe, expect, test } from 'vitest';
import type { DecidedFacts } from '../../../../lambda/facts/report-schema.ts';
import { LedgerError } from '../../../../lambda/ledger/ledger.ts';
import { memoryLedger } from '../../../../lambda/ledger/memory.ts';
import {
  type Head,
  LEDGER_VERSION,
  type OtherVersion,
  type Running,
  type StoredRecord,
} from '../../../../lambda/ledger/record.ts';
import {
  OperationsError,
  type ReadOptions,
  type TaskStatus,
  type TruncateFields,
} from '../../../../lambda/operations/operations.ts';
import { type Clearing, clearIndex } from '../../../../lambda/run/clear.ts';
import type { RunServices } from '../../../../lambda/run/services.ts';
import {
  aKey,
  anIdle,
  anIndex,
  aQuarantined,
  aReserved,
  aRunning,
  aSending,
  aSentAttempt,
  aVerdict,
  aWindow,
} from '../../../support/records.ts';

/**
 * One index that a person clears: the record decides what is counted, and the counts decide whether it is released.
 */

const hour = 3_600_000;
/** A day after the records of `support/records.ts`. */
const now = 100_000_000;
const index = 'dataset.operation';
const { signal } = new AbortController();

interface World {
  /** Rows up to each moment; 5 up to the cutoff, and all 40 of the window, by default. */
  upTo?: Record<number, number>;
  /** The answers after this many counts; `no-index` if the index has been deleted by then. */
  later?: { counts: number; upTo: Record<number, number> | 'no-index' };
  fails?: 'no-index' | 'timeout' | Error;
  sizesFail?: 'timeout' | 'privilege';
  skew?: number;
  status?: TaskStatus | 'fails';
  clearing?: Clearing;
  changes?: Partial<RunServices['ledger']>;
}
async function cleared(record: StoredRecord | undefined, given: World = {}) {
  const {
    upTo = {},
    later,
    fails,
    sizesFail,
    skew,
    status = { kind: 'vanished' },
    changes = {},
    clearing = {},
  } = given;
  const ledger = memoryLedger();
  if (record) {
    const stored = record.state === 'other-version' ? (record.head ?? { nothing: 'known' }) : record;
    ledger.stored.set(anIndex, structuredClone(stored));
  }
  const asked: [TruncateFields, unknown][] = [];
  const failed = (kind: 'no-index' | 'timeout' | 'privilege', operation: 'dry-run' | 'task-status' | 'index-sizes') =>
    new OperationsError({ kind, operation });
  const services = {
    ledger: { ...ledger, ...changes },
    clock: { now: () => now },
    log: { warn() {} },
    operations: {
      async dryRun(fields: TruncateFields, options?: ReadOptions) {
        asked.push([fields, options?.signal]);
        if (fails) throw fails instanceof Error ? fails : failed(fails, 'dry-run');
        const rows = later && asked.length > later.counts ? later.upTo : upTo;
        if (rows === 'no-index') throw failed(rows, 'dry-run');
        const rowsToDelete = { 500000: 5, 1000000: 45, ...rows }[fields.endTimeMillis] ?? 0;
        return { rowsToDelete, rowsTotal: 99, ...(skew !== undefined && { clockSkewMillis: skew }) };
      },
      async indexSizes() {
        if (sizesFail) throw failed(sizesFail, 'index-sizes');
        return [];
      },
      async taskStatus() {
        if (status === 'fails') throw failed('timeout', 'task-status');
        return status;
      },
    },
  } as unknown as RunServices;
  const stored = record && (await ledger.read(anIndex));
  const note = await clearIndex(stored, aKey, clearing, services, signal);
  return { note, asked, state: ledger.stored.get(anIndex) };
}
const notReleased = (why: string, more: object = {}) => ({ kind: 'not-released', index, why, ...more });
const released = (rowsMissing: number, more: object = {}) => ({ kind: 'released', index, rowsMissing, ...more });
const head = (fields: Partial<Head>): OtherVersion => ({
  state: 'other-version',
  index: anIndex,
  head: { version: 9, state: 'idle', ...aKey, attemptId: 'old', ...fields },
});

describe('an index without a truncation', () => {
  test.each<[string, StoredRecord | undefined]>([
    ['no record', undefined],
    ['an idle record', anIdle()],
    ['a verdict that was cleared', anIdle({ lastVerdict: aVerdict({ window: undefined }) })],
    ['a reservation whose time is over', aReserved({ judgeableAt: now })],
    ['an idle record of another address', anIdle({ server: 'http://other', lastVerdict: aVerdict() })],
    ['an idle record of another version', head({})],
    ['a reservation of another version whose time is over', head({ state: 'reserved', judgeableAt: now })],
  ])('with %s has nothing to clear', async (_, record) => {
    const { note, asked } = await cleared(record);
    expect([note, asked]).toStrictEqual([{ kind: 'nothing-to-clear', index }, []]);
  });

  test('is released if a preview has reported it and its rows are back', async () => {
    for (const record of [anIdle, aReserved]) {
      const { note, state } = await cleared(
        record({ lastVerdict: aVerdict({ window: { ...aWindow, countedAt: 1 } }) }),
      );
      expect(note).toStrictEqual(released(0));
      expect(state).toMatchObject({ state: 'idle' });
      expect(state).not.toHaveProperty('lastVerdict.window');
    }
  });
});

describe('a possible truncation', () => {
  const tenMinutes = now + 600_000;

  test.each<[string, StoredRecord, number]>([
    ['a reservation', aReserved({ judgeableAt: now + 1 }), now + 1],
    ['a call', aSending({ judgeableAt: tenMinutes }), tenMinutes + 20 * hour],
    ['a call of yesterday evening', aSending({ judgeableAt: now - 20 * hour + 1 }), now + 1],
    ['a task', aRunning({ judgeableAt: tenMinutes }), tenMinutes + 20 * hour],
    [
      'a call of another address',
      aSending({ judgeableAt: tenMinutes, server: 'http://other' }),
      tenMinutes + 20 * hour,
    ],
    ['a call of another version', head({ state: 'sending', judgeableAt: tenMinutes }), tenMinutes + 20 * hour],
    ['a state that only another version knows', head({ state: 'new', judgeableAt: now }), now + 20 * hour],
  ])('with %s is refused, with the time from which it may be cleared', async (_, record, until) => {
    for (const clearing of [{}, { acceptMissing: 1000 }]) {
      const { note, asked } = await cleared(record, { clearing });
      expect([note, asked]).toStrictEqual([notReleased('unresolved', { until }), []]);
    }
  });

  test.each<[string, StoredRecord]>([
    ['a call', aSending({ judgeableAt: now - 20 * hour, windows: [aWindow] })],
    ['a task', aRunning({ judgeableAt: now - 20 * hour, windows: [aWindow] })],
    [
      'a task of another address',
      aRunning({ judgeableAt: now - 20 * hour, windows: [aWindow], server: 'http://other' }),
    ],
    ['a call of another version', head({ state: 'sending', judgeableAt: now - 20 * hour, windows: [aWindow] })],
  ])('is treated as closed 20 h after judgeableAt: %s', async (_, record) => {
    expect((await cleared(record, { upTo: { 1000000: 44 } })).note).toStrictEqual(
      notReleased('rows-missing', { rowsMissing: 1 }),
    );
    const { note, state } = await cleared(record);
    expect(note).toStrictEqual(released(0));
    expect(state).toMatchObject({ version: LEDGER_VERSION, ...aKey, state: 'idle' });
  });

  describe('at a time that only a wrong clock can have written', () => {
    const farAhead = { judgeableAt: now + 28 * hour + 1 };

    test.each<[string, StoredRecord, object]>([
      ['a call is counted', aSending({ ...farAhead, windows: [aWindow] }), released(0)],
      [
        'a task without windows is opened uncounted',
        aRunning({ ...farAhead, windows: [] }),
        released(0, { uncounted: true }),
      ],
      ['a reservation', aReserved({ judgeableAt: now + 48 * hour + 1 }), released(0, { uncounted: true })],
      ['a call of another version', head({ state: 'sending', windows: [aWindow] }), released(0)],
    ])('%s, if a person accepts it', async (_, record, expected) => {
      expect((await cleared(record)).note).toStrictEqual(notReleased('unresolved'));
      expect((await cleared(record, { clearing: { acceptMissing: 1 } })).note).toStrictEqual(expected);
    });

    test('is a time more than 48 h ahead', async () => {
      const { note } = await cleared(aSending({ judgeableAt: now + 28 * hour }), { clearing: { acceptMissing: 1 } });
      expect(note).toStrictEqual(notReleased('unresolved', { until: now + 48 * hour }));
    });
  });
});

describe('a task that says it is still running', () => {
  const old = { judgeableAt: now - 20 * hour, windows: [aWindow] };
  const goesOn: TaskStatus = { kind: 'found', completed: false, counters: { total: 50, created: 10 } };
  const asked = (changes: Partial<Running['attempt']>) => {
    const running = aRunning(old);
    return { ...running, attempt: { ...running.attempt, ...changes } };
  };
  const copying = asked({ strategy: 'reindex' });

  test('that may be copying is left alone until a person accepts it, which is reported', async () => {
    const { note, state } = await cleared(copying, { status: goesOn });
    expect([note, state]).toMatchObject([notReleased('running', { rowsMissing: 0 }), { state: 'running' }]);
    const accepted = await cleared(copying, { status: goesOn, clearing: { acceptMissing: 1 } });
    expect(accepted.note).toStrictEqual(released(0, { running: true }));
  });

  test.each<[string, Running]>([
    ['was seen copying', asked({ copied: 'task' })],
    ['shows copied rows now', asked({})],
  ])('is requested even if it was sent as a delete and %s', async (_, record) => {
    const status: TaskStatus = { kind: 'found', completed: false, counters: { total: 50, created: 10 } };
    expect((await cleared(record, { status })).note).toMatchObject({ kind: 'not-released', why: 'running' });
  });

  test('also keeps a quarantined index closed', async () => {
    const closed = aQuarantined({ windows: [aWindow], attempt: copying.attempt });
    expect((await cleared(closed, { status: goesOn })).note).toMatchObject({ why: 'running' });
  });

  test.each<[string, StoredRecord, World['status']]>([
    ['it deletes', asked({}), { kind: 'found', completed: false, counters: { total: 60, deleted: 10 } }],
    ['it has ended', copying, { kind: 'found', completed: true, counters: { total: 50, created: 50 } }],
    ['its record is gone', copying, { kind: 'vanished' }],
    ['the status cannot be read', copying, 'fails'],
    ['it is another task', copying, { kind: 'found', completed: false, counters: { total: 50, deleted: 1 } }],
    ['there is no task id', aSending(old), goesOn],
    ['the closed attempt has no task id', aQuarantined({ windows: [aWindow], attempt: aSentAttempt() }), goesOn],
  ])('does not prevent clearing if %s', async (_, record, status) => {
    expect((await cleared(record, { status: status! })).note).toStrictEqual(released(0));
  });
});

describe('a closed index', () => {
  test('is counted at each boundary of its windows, where they begin before and after the rest', async () => {
    const windows = [aWindow, { from: 400_000, to: 1_000_000, rows: 40 }];
    const { asked } = await cleared(aQuarantined({ windows }));
    const fields = { entityType: 'dataset', aspect: 'operation', batchSize: 10_000, forceDeleteByQuery: true };
    expect(asked).toStrictEqual(
      [500_000, 400_000, 1_000_000, 500_000, 400_000].map((endTimeMillis) => [{ ...fields, endTimeMillis }, signal]),
    );
  });

  test.each<[string, World['later'], number]>([
    ['old rows are deleted before the young ones are counted', { counts: 1, upTo: { 500000: 0, 1000000: 10 } }, 40],
    ['old rows are deleted after the young ones are counted', { counts: 2, upTo: { 500000: 0 } }, 30],
    ['old rows arrive', { counts: 2, upTo: { 500000: 65 } }, 35],
    ['the index is deleted', { counts: 2, upTo: 'no-index' }, 40],
  ])('is not released with 30 of 40 rows missing if, while it is counted, %s', async (_, later, rowsMissing) => {
    const { note } = await cleared(aQuarantined(), { upTo: { 500000: 60, 1000000: 70 }, later });
    expect(note).toStrictEqual(notReleased('rows-missing', { rowsMissing }));
  });

  test('is not released if it is deleted just before its last count', async () => {
    const { note } = await cleared(aQuarantined(), { later: { counts: 2, upTo: 'no-index' } });
    expect(note).toStrictEqual(notReleased('rows-missing', { rowsMissing: 40 }));
  });

  test('lacks as many rows as the worst of its windows', async () => {
    const windows = [
      { from: 500_000, to: 700_000, rows: 10 },
      { from: 700_000, to: 1_000_000, rows: 40 },
    ];
    const upTo = { 700000: 25 };
    // 20 of 10, and 20 of 40: rows that arrived later do not make up for missing ones.
    expect((await cleared(aQuarantined({ windows }), { upTo })).note).toStrictEqual(
      notReleased('rows-missing', { rowsMissing: 20 }),
    );
    expect((await cleared(aQuarantined({ windows: [aWindow] }), { upTo: { 1000000: 90 } })).note).toStrictEqual(
      released(0),
    );
  });

  const cause = { kind: 'missing', expected: 40, found: 10, rowsIn: 'before' } as const;
  const entry: DecidedFacts = { ...aVerdict().entry, outcome: 'rows-missing', cause, indexName: 'now' };
  const closed = aQuarantined({ windows: [aWindow], lastVerdict: aVerdict({ entry }) });
  const where = { rowsIn: 'before', indexNow: 'now' };

  test('reports where its rows are as long as some are missing', async () => {
    const upTo = { 1000000: 15 };
    expect((await cleared(closed, { upTo })).note).toStrictEqual(
      notReleased('rows-missing', { rowsMissing: 30, ...where }),
    );
    expect((await cleared(closed, { upTo, clearing: { acceptMissing: 30 } })).note).toStrictEqual(
      released(30, { rowsIn: 'before' }),
    );
    expect((await cleared(closed)).note).toStrictEqual(released(0));
    const elsewhere = aQuarantined({ windows: [aWindow] });
    expect((await cleared(elsewhere, { upTo, clearing: { acceptMissing: 30 } })).note).toStrictEqual(released(30));
  });

  test('needs acceptMissing without a window, and an answer that confirms our clock', async () => {
    const bare = aQuarantined({ windows: [] });
    expect((await cleared(bare)).note).toStrictEqual(notReleased('uncounted'));
    const { note, asked } = await cleared(bare, { clearing: { acceptMissing: 1 } });
    expect([note, asked.length]).toStrictEqual([released(0, { uncounted: true }), 1]);
    const clearing = { acceptMissing: 1 };
    expect((await cleared(bare, { clearing, fails: 'timeout', sizesFail: 'timeout' })).note).toMatchObject({
      why: 'server',
    });
  });

  test('has no rows if it was deleted', async () => {
    expect((await cleared(closed, { fails: 'no-index' })).note).toMatchObject(
      notReleased('rows-missing', { rowsMissing: 40 }),
    );
  });

  test.each([
    [600_000, 'released'],
    [600_001, 'not-released'],
    [-600_001, 'not-released'],
  ])('counted by a server whose clock is %i ms ahead of ours is %s', async (skew, kind) => {
    const { note } = await cleared(closed, { skew, clearing: { acceptMissing: 40 } });
    expect(note.kind).toBe(kind);
    if (kind === 'not-released') expect(note).toMatchObject({ why: 'clock' });
  });

  test('is not opened by a failed count that shows that the clocks disagree', async () => {
    const fails = new OperationsError({ kind: 'server-error', operation: 'dry-run' }, 600_001);
    const { note } = await cleared(closed, { fails, clearing: { acceptMissing: 1 } });
    expect(note).toMatchObject({ kind: 'not-released', why: 'clock' });
  });

  test.each<[World, object]>([
    [{ sizesFail: 'timeout' }, { kind: 'not-released', why: 'server' }],
    [{}, released(0, { uncounted: true })],
    [{ sizesFail: 'privilege' }, released(0, { uncounted: true })],
  ])('is opened uncounted by acceptMissing if the server answers otherwise (%j)', async (given, expected) => {
    const clearing = { acceptMissing: 1 };
    expect((await cleared(closed, { fails: 'timeout', clearing, ...given })).note).toMatchObject(expected);
  });

  test.each<[string, World, object]>([
    ['the server', { fails: 'timeout' }, notReleased('server', { error: { kind: 'timeout', operation: 'dry-run' } })],
    ['the ledger', { changes: { replace: () => Promise.reject(new LedgerError('no table')) } }, notReleased('ledger')],
    ['another run', { changes: { replace: async () => false } }, notReleased('taken')],
  ])('stays closed if %s interferes', async (_, given, expected) => {
    expect((await cleared(closed, given)).note).toStrictEqual(expected);
  });

  test('is left to the workflow if the failure is a defect', async () => {
    const changes = { replace: () => Promise.reject(new TypeError('a defect')) };
    await expect(cleared(closed, { changes })).rejects.toThrow('a defect');
    await expect(cleared(closed, { fails: new TypeError('of a count') })).rejects.toThrow('of a count');
  });
});

describe('a record of another version', () => {
  const whole = { state: 'quarantined', windows: [aWindow] };
  const sentBy = [{ runId: 'run-9', runStartMillis: 1, at: 2 }];

  test.each<[string, OtherVersion, World, object]>([
    [
      'whose head cannot be read',
      { state: 'other-version', index: anIndex },
      { clearing: { acceptMissing: 1 } },
      { ...notReleased('ledger'), unreadable: true },
    ],
    ['that is closed and whole', head({ ...whole, sentBy }), {}, released(0)],
    [
      'that is closed and lacks rows',
      head(whole),
      { upTo: { 1000000: 15 } },
      notReleased('rows-missing', { rowsMissing: 30 }),
    ],
    ['that is closed without windows', head({ state: 'quarantined' }), {}, notReleased('uncounted')],
    ['that is closed with none', head({ state: 'quarantined', windows: [] }), {}, notReleased('uncounted')],
    [
      'that is closed without windows, and accepted',
      head({ state: 'quarantined', sentBy }),
      { clearing: { acceptMissing: 1 } },
      released(0, { uncounted: true }),
    ],
    ['that another run is at', head(whole), { changes: { replace: async () => false } }, notReleased('taken')],
  ])('%s', async (_, record, given, expected) => {
    const { note, state } = await cleared(record, given);
    expect(note).toStrictEqual(expected);
    if (note.kind === 'released') expect(state).toMatchObject({ version: LEDGER_VERSION, state: 'idle', sentBy });
  });
});
