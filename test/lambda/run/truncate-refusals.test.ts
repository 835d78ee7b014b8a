import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../lambda/facts/cause.ts';
import type { Outcome } from '../../../lambda/facts/outcome.ts';
import type { ServerError } from '../../../lambda/facts/server-error.ts';
import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import type { Sending, StoredRecord } from '../../../lambda/ledger/record.ts';
import {
  type DryRun,
  type Operations,
  OperationsError,
  type ReadOptions,
  type TruncateFields,
  type Truncation,
} from '../../../lambda/operations/operations.ts';
import type { Policy } from '../../../lambda/policy/schema.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import type { ApprovedEntry, DoneEntry, Entry, Planned, RunState } from '../../../lambda/run/state.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { aPolicy } from '../../support/policies.ts';
import { anAttempt, anIdle, anIndex, aQuarantined, aReserved, aVerdict } from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

/** Truncate by what it counts, to the row and to the millisecond: when it sends, and why it does not. */

const start = Date.parse('2026-03-01T03:30:00.000Z');
const day = 86_400_000;
const hour = 3_600_000;
const cutoff = start - 30 * day;
const physical = `dataset_operationaspect_v1_${start - 400 * day}`;
const server = 'https://gms.example.com';

interface World {
  policy?: Partial<Policy>;
  plan?: Partial<Planned>;
  state?: Partial<RunState>;
  others?: Entry[];
  record?: StoredRecord;
  /** What the dry run with this number says, counted from 1; by default 600 rows to delete and 400 that stay. */
  counts?: (fields: TruncateFields, at: number, world: { clock: { time: number } }) => Partial<DryRun>;
  fails?: ServerError['kind'] | Error;
  answer?: Truncation;
  /** Milliseconds until the function ends. */
  left?: number;
  sizes?: object[];
  current?: object;
  /** Happens when the policies are read again. */
  meanwhile?: (ledger: ReturnType<typeof memoryLedger>) => void;
  /** Happens when it is sent, or when it is reserved, which then fails. */
  onSend?: (ledger: ReturnType<typeof memoryLedger>) => void;
  onReserve?: (ledger: ReturnType<typeof memoryLedger>) => void;
  /** Questions are answered when the time for them has ended. */
  isSlow?: boolean;
}

async function started(world: World) {
  const { policy = {}, plan = {}, state = {}, others = [], record, counts = () => ({}), fails, left = 600_000 } = world;
  const { answer = { kind: 'started', taskId: 'n:1', pollable: true } as const } = world;
  const clock = { time: start + 60_000, back: 0 };
  const ledger = memoryLedger();
  if (record) ledger.stored.set(anIndex, record);
  const written = aPolicy(policy);
  const target: ApprovedEntry = {
    index: anIndex,
    phase: 'approved',
    entry: { entityType: 'dataset', aspect: 'operation' },
    policy: written,
    plan: { rowsToDelete: 600, strategy: 'delete-by-query', ...plan },
  };
  let asked = 0;
  const moments: number[] = [];
  const slept: number[] = [];
  const sent: { fields: TruncateFields; maySend: () => boolean }[] = [];
  const deadline = clock.time + left;
  const signals: unknown[] = [];
  let reservations = 0;
  const services = {
    settings: { stage: 's', gmsUrl: server, mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 },
    parameters: {
      async policies() {
        world.meanwhile?.(ledger);
        return [{ name: 'P', text: JSON.stringify({ ...written, ...world.current }) }];
      },
      paused: async () => false,
      token: {},
    },
    operations: {
      async dryRun(fields: TruncateFields, { signal }: ReadOptions): Promise<DryRun> {
        moments.push(fields.endTimeMillis);
        signals.push(signal);
        if (world.isSlow) {
          if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
          throw new OperationsError({ kind: 'aborted', operation: 'dry-run' });
        }
        if (fails instanceof Error) throw fails;
        if (fails) throw new OperationsError({ kind: fails, operation: 'dry-run' });
        const rowsToDelete = fields.endTimeMillis > cutoff ? 1000 : 600;
        return { rowsToDelete, rowsTotal: 1000, strategy: 'delete-by-query', ...counts(fields, ++asked, { clock }) };
      },
      async indexSizes({ signal }: ReadOptions) {
        signals.push(signal);
        return world.sizes ?? [{ indexName: physical, entityType: 'dataset', aspect: 'operation', sizeMb: 3 }];
      },
      async truncate(fields: TruncateFields, maySend: () => boolean) {
        sent.push({ fields, maySend });
        world.onSend?.(ledger);
        return answer;
      },
    } as unknown as Operations,
    ledger: {
      ...ledger,
      async replace(...[previous, next]: Parameters<typeof ledger.replace>) {
        if (world.onReserve && ++reservations === 1) {
          world.onReserve(ledger);
          return false;
        }
        return ledger.replace(previous, next);
      },
    },
    clock: { now: () => clock.time - clock.back, realNow: () => clock.time + 7, monotonic: () => clock.time - start },
    log: { info() {}, warn() {}, error() {} },
    newId: () => 'id',
    sleep: async (millis: number) => {
      slept.push(millis);
      clock.time += millis;
    },
    deadline: () => deadline,
  } as unknown as RunServices;
  const before = aRunState([...others, target], { server, ...state });
  const after = await truncate(before, services);
  const entry = after.entries.at(-1)!;
  return { after, entry, ledger, moments, slept, sent, clock, signals, record: ledger.stored.get(anIndex) as Sending };
}
const refusal = async (world: World) => {
  const { entry, sent, record } = await started(world);
  expect(sent).toEqual([]);
  expect((record as StoredRecord | undefined)?.state ?? 'idle').toBe('idle');
  const { outcome, cause, entityType: _, aspect: __, ...facts } = (entry as DoneEntry).entry;
  return [outcome, cause, facts];
};
const sends = async (world: World) => (await started(world)).sent.length === 1;
const counted = { rowsTotal: 1000, rowsToDelete: 600 };

describe('a truncation', () => {
  test('is recorded with what it was decided by, before it is sent', async () => {
    const { record, sent, entry, after } = await started({ counts: () => ({ clockSkewMillis: 5 }) });
    const time = start + 60_000;
    expect(record).toMatchObject({
      state: 'running',
      attemptId: 'id',
      windows: [{ from: cutoff, to: start, rows: 400 }],
      attempt: {
        runId: 'run-1',
        runStartMillis: start,
        retentionDays: 30,
        strategy: 'delete-by-query',
        reservedAt: time,
        sendBy: time + 60_000,
        sendingSince: time,
        sentRealAt: time + 7,
        clockSkewMillis: 5,
        answeredRealAt: time + 7,
        baseline: { ...counted, indexName: physical, sizeMb: 3 },
        fields: sent[0]?.fields,
      },
    });
    expect(record.attempt).not.toHaveProperty('policyCutoffMillis');
    expect(record.attempt).not.toHaveProperty('nights');
    expect(entry).toMatchObject({ phase: 'watched', watch: { nextLookAt: time + 5000, startedAt: time } });
    expect(after).toMatchObject({ next: 'wait', turns: { truncate: 1 }, refused: {}, notes: [] });
  });

  test('may be written for a minute after its dry run, by both clocks, and no longer than its reservation', async () => {
    const { sent, clock } = await started({});
    const may = (millis: number) => {
      clock.time = start + 60_000 + millis;
      return sent[0]?.maySend();
    };
    expect([may(59_999), may(60_000)]).toEqual([true, false]);
    const short = await started({ left: 150_000 + 20_000 });
    short.clock.time += 19_999;
    expect(short.sent[0]?.maySend()).toBe(true);
    short.clock.time += 1;
    expect(short.sent[0]?.maySend()).toBe(false);
  });

  test('may not be written longer because somebody sets the clock back', async () => {
    for (const [left, longest] of [
      [600_000, 60_000],
      [170_000, 20_000],
    ] as const) {
      const { sent, clock } = await started({ left });
      clock.back = hour;
      clock.time += longest - 1;
      expect(sent[0]?.maySend()).toBe(true);
      clock.time += 1;
      expect(sent[0]?.maySend()).toBe(false);
    }
  });

  test('knows neither name nor size where the server does not tell, and no skew without a Date', async () => {
    const { record } = await started({ sizes: [] });
    expect(record.attempt.baseline).toStrictEqual(counted);
    expect(record.attempt).not.toHaveProperty('clockSkewMillis');
    const unsized = await started({ sizes: [{ indexName: physical, entityType: 'dataset', aspect: 'operation' }] });
    expect(unsized.record.attempt.baseline).toStrictEqual({ ...counted, indexName: physical });
  });

  test('of a bite remembers the policy’s own cutoff, and the nights that it takes', async () => {
    const bite = { cutoffMillis: cutoff - day, rows: 600, nights: 4 };
    const counts: World['counts'] = ({ endTimeMillis }) => ({
      rowsToDelete: endTimeMillis < cutoff ? 600 : endTimeMillis > cutoff ? 1600 : 700,
      rowsTotal: 1700,
    });
    const { record } = await started({ plan: { bite, rowsToDelete: 700 }, policy: { maxRowsPerRun: 600 }, counts });
    expect(record).toMatchObject({
      attempt: { policyCutoffMillis: cutoff, nights: 4, fields: { endTimeMillis: cutoff - day } },
      windows: [
        { from: cutoff - day, to: cutoff, rows: 100 },
        { from: cutoff, to: start, rows: 900 },
      ],
    });
  });

  test('that one of an earlier run does not end is told of, once', async () => {
    const watch = { attemptId: 'x', startedAt: 0, succeededAt: 0, lastLookAt: 0, nextLookAt: start + hour, looks: 3 };
    const left = (adopted: boolean): Entry => ({
      index: 'o',
      phase: 'watched',
      entry: { entityType: 'e', aspect: 'a', adopted },
      watch,
    });
    const note = { kind: 'started-beside', index: 'e.a' } as const;
    expect((await started({ others: [left(true)] })).after.notes).toEqual([note]);
    expect((await started({ others: [left(true)], state: { notes: [note] } })).after.notes).toEqual([note]);
    expect((await started({ others: [left(false)] })).after.notes).toEqual([]);
    const other = { kind: 'clock-corrected', index: 'x' } as const;
    expect((await started({ others: [left(true)], state: { notes: [other] } })).after.notes).toEqual([other, note]);
    const entry = {
      entityType: 'e',
      aspect: 'a',
      adopted: true,
      outcome: 'truncated',
      cause: { kind: 'verified', by: 'counts' },
    } as const;
    expect((await started({ others: [{ index: 'o', phase: 'done', entry }] })).after.notes).toEqual([]);
  });
});

describe('it is not begun', () => {
  const noTime = { kind: 'no-time', what: 'send' };

  test.each([
    [150_000, 'done'],
    [150_001, 'watched'],
  ])('with %i ms left: %s', async (left, phase) => {
    const { entry, moments } = await started({ left });
    expect(entry.phase).toBe(phase);
    if (phase === 'done') expect([entry.entry, moments]).toMatchObject([{ outcome: 'not-started', cause: noTime }, []]);
  });

  test('in a run that is over before the function is', async () => {
    const startedAt = new Date(start + 60_000 - 12 * hour).toISOString();
    const { moments } = await started({ state: { startedAt } });
    expect(moments).toEqual([]);
  });

  test('by a preview, or with something against all', async () => {
    const preview = await started({ state: { mode: 'preview' } });
    expect(preview.after).toMatchObject({ breaker: { kind: 'preview' }, next: 'report', turns: { truncate: 1 } });
    const breaker = { kind: 'paused' } as const;
    const stopped = await started({ state: { breaker } });
    expect(stopped.entry.entry).toMatchObject({ outcome: 'not-started', cause: breaker });
    expect([preview.moments, stopped.moments]).toEqual([[], []]);
  });

  const reservedBy = (runId: string) =>
    aReserved({ server, attempt: anAttempt({ runId, runStartMillis: start, sendBy: start + hour }) });

  test('where another run has reserved the index', async () => {
    const { entry, moments } = await started({ record: reservedBy('run-9') });
    expect(entry.entry).toMatchObject({
      outcome: 'in-flight',
      cause: { kind: 'held', state: 'reserved', runId: 'run-9' },
    });
    expect(moments).toEqual([]);
  });

  test('where the index is closed', async () => {
    const { entry } = await started({ record: aQuarantined({ server }) });
    expect(entry.entry).toMatchObject({
      outcome: 'quarantined',
      cause: { kind: 'quarantined', outcome: 'rows-missing' },
    });
  });

  const sentBy = [{ runId: 'run-1', runStartMillis: start, at: start }];

  test.each<[string, StoredRecord | object | undefined]>([
    ['has reserved it', reservedBy('run-9')],
    ['has given it back', anIdle({ server })],
    ['has deleted its record', undefined],
    ['of another version is at it', { version: 3, state: 'idle', index: anIndex }],
  ])('where another run %s at the same moment', async (_, theirs) => {
    const onReserve: World['onReserve'] = (ledger) =>
      theirs ? ledger.stored.set(anIndex, theirs) : ledger.stored.delete(anIndex);
    const { entry, moments } = await started({ onReserve });
    expect(entry.entry).toMatchObject({ outcome: 'in-flight' });
    expect((entry as DoneEntry).entry.cause).toStrictEqual({ kind: 'taken', closed: false });
    expect(moments).toEqual([]);
  });

  test.each<[string, StoredRecord]>([
    ['has reserved it', reservedBy('run-1')],
    ['has sent', anIdle({ server, sentBy })],
    ['has its verdict', anIdle({ server, lastVerdict: aVerdict({ runId: 'run-1', runStartMillis: start }) })],
  ])('where another call of this run %s at the same moment: Poll finds out', async (_, ours) => {
    await expect(started({ onReserve: (ledger) => ledger.stored.set(anIndex, ours) })).rejects.toThrow('invoked twice');
  });

  test('twice in one run', async () => {
    await expect(started({ record: reservedBy('run-1') })).rejects.toThrow(
      `Truncate was invoked twice for ${anIndex} in one run`,
    );
  });

  test.each([
    [
      { state: 'other-version', index: anIndex, version: 3 },
      { kind: 'held', state: 'other-version' },
    ],
    [
      { version: 3, state: 'idle', index: anIndex, entityType: 'e', aspect: 'a', server },
      { kind: 'held', state: 'other-version', version: 3 },
    ],
  ])('where another version holds the index', async (record, cause) => {
    const { entry } = await started({ record: record as unknown as StoredRecord });
    expect((entry as DoneEntry).entry).toMatchObject({ outcome: 'in-flight' });
    expect((entry as DoneEntry).entry.cause).toStrictEqual(cause);
  });
});

describe('it is given back', () => {
  test('where the counts keep moving', async () => {
    const counts: World['counts'] = ({ endTimeMillis }, at) =>
      endTimeMillis > cutoff ? {} : { rowsToDelete: 600 + at * 50 };
    expect(await refusal({ counts, plan: { rowsToDelete: 1 } })).toStrictEqual([
      'not-started',
      { kind: 'counts-moved' },
      {},
    ]);
    const later: World['counts'] = ({ endTimeMillis }, at) =>
      endTimeMillis > cutoff ? {} : { rowsToDelete: at < 4 ? 500 : 400 + at * 50 };
    expect(await refusal({ counts: later })).toStrictEqual(['not-started', { kind: 'counts-moved' }, {}]);
  });

  /** So many rows to delete in the first count, in the second, and from then on. */
  const falling =
    (first: number, second: number): World['counts'] =>
    ({ endTimeMillis }, at) =>
      endTimeMillis > cutoff ? {} : { rowsToDelete: at <= 3 ? first : second };

  test('where somebody goes on deleting', async () => {
    const { slept, entry } = await started({ counts: falling(500, 499) });
    expect(slept).toEqual([30_000]);
    expect((entry as DoneEntry).entry).toMatchObject({
      outcome: 'not-started',
      cause: { kind: 'others-deleting', planned: 600, found: 499 },
      rowsTotal: 1000,
      rowsToDelete: 499,
    });
  });

  test.each<[string, World, boolean, number]>([
    ['as many as planned', {}, true, 0],
    ['1 % fewer', { counts: falling(594, 594) }, true, 0],
    ['more than 1 % fewer, and no fewer after that', { counts: falling(593, 593) }, true, 1],
    [
      '0.1 % fewer after that',
      { plan: { rowsToDelete: 5000 }, counts: falling(1000, 999), policy: { maxDeletePercent: 100 } },
      true,
      1,
    ],
    [
      '0.2 % fewer after that',
      { plan: { rowsToDelete: 5000 }, counts: falling(1000, 998), policy: { maxDeletePercent: 100 } },
      false,
      1,
    ],
  ])('or sent with %s', async (_, world, isSent, pauses) => {
    const { sent, slept } = await started(world);
    expect([sent.length === 1, slept.length]).toEqual([isSent, pauses]);
  });

  test('where the last dry run is not what the windows were counted around', async () => {
    const last =
      (rowsToDelete: number): World['counts'] =>
      (_, at) =>
        at === 4 ? { rowsToDelete } : {};
    expect(await sends({ counts: last(590) })).toBe(true);
    expect(await sends({ counts: last(610) })).toBe(true);
    expect(await refusal({ counts: last(589) })).toStrictEqual([
      'not-started',
      { kind: 'counts-moved' },
      { rowsTotal: 1000, rowsToDelete: 589 },
    ]);
    const many =
      (rowsToDelete: number): World['counts'] =>
      ({ endTimeMillis }, at) => ({
        rowsToDelete: endTimeMillis > cutoff ? 9000 : at === 4 ? rowsToDelete : 6000,
        rowsTotal: 9000,
      });
    expect(await sends({ plan: { rowsToDelete: 6000 }, counts: many(5940) })).toBe(true);
    expect(await sends({ plan: { rowsToDelete: 6000 }, counts: many(5939) })).toBe(false);
  });

  test.each<[string, World, Outcome, Cause]>([
    [
      'the orders have changed',
      { current: { retentionDays: 31 } },
      'not-started',
      { kind: 'policy-changed', field: 'retentionDays', was: 30, now: 31 },
    ],
    [
      'a request fails',
      { fails: 'timeout' },
      'failed',
      { kind: 'server', error: { kind: 'timeout', operation: 'dry-run' }, sent: 'no' },
    ],
  ])('where %s', async (_, world, outcome, cause) => {
    expect(await refusal(world)).toStrictEqual([outcome, cause, {}]);
  });

  test.each<[string, World, Outcome, Cause]>([
    [
      'it is not worth it any more',
      { policy: { minDeletePercent: 61 } },
      'below-threshold',
      { kind: 'below-threshold', minDeletePercent: 61 },
    ],
    [
      'it is above its ceiling',
      { policy: { maxDeletePercent: 50 } },
      'above-ceiling',
      { kind: 'above-ceiling', maxDeletePercent: 50, approveRows: 630 },
    ],
    [
      'it is above what was approved',
      { policy: { maxDeletePercent: 50 }, state: { approveRows: 599 } },
      'above-ceiling',
      { kind: 'above-ceiling', maxDeletePercent: 50, approveRows: 630, approved: 599 },
    ],
    [
      'the server’s clock is wrong',
      { counts: () => ({ clockSkewMillis: 600_001 }) },
      'failed',
      { kind: 'guard', which: 'server-clock', found: 600_001 },
    ],
    [
      'the server would now reindex',
      { counts: () => ({ strategy: 'reindex' }) },
      'not-started',
      { kind: 'strategy-flipped', was: 'delete-by-query', now: 'reindex' },
    ],
    ['more than a bite would go', { policy: { maxRowsPerRun: 594 } }, 'not-started', { kind: 'counts-moved' }],
  ])('where %s', async (_, world, outcome, cause) => {
    expect(await refusal(world)).toStrictEqual([outcome, cause, counted]);
  });

  test('but sent where a person approves, and up to a hundredth above a bite', async () => {
    expect(await sends({ policy: { maxDeletePercent: 50 }, state: { approveRows: 600 } })).toBe(true);
    expect(await sends({ policy: { maxRowsPerRun: 595 } })).toBe(true);
    expect(await sends({ policy: { maxRowsPerRun: 500 }, state: { approveRows: 600 } })).toBe(true);
  });

  test('with the whole of which it is a bite, where that is above its ceiling', async () => {
    const bite = { cutoffMillis: cutoff - day, rows: 600 };
    const counts: World['counts'] = ({ endTimeMillis }) => ({ rowsToDelete: endTimeMillis < cutoff ? 600 : 900 });
    expect(
      await refusal({
        plan: { bite, rowsToDelete: 900 },
        policy: { maxRowsPerRun: 600, maxDeletePercent: 80 },
        counts,
      }),
    ).toStrictEqual([
      'above-ceiling',
      { kind: 'above-ceiling', maxDeletePercent: 80, approveRows: 945 },
      { ...counted, rowsPastRetention: 900 },
    ]);
  });

  test('where its time ends before the server has answered, which every question is told', async () => {
    expect(await refusal({ left: 150_001, isSlow: true })).toStrictEqual([
      'failed',
      { kind: 'no-time', what: 'send' },
      {},
    ]);
    const { signals } = await started({});
    expect(signals).toHaveLength(5);
    for (const signal of signals) expect(signal).toBeInstanceOf(AbortSignal);
  });

  test('by nobody where a defect ends it: the reservation is over by itself', async () => {
    await expect(started({ fails: new TypeError('a defect') })).rejects.toThrow('a defect');
  });

  test('where its dry run is too old when it is to be written down', async () => {
    const late =
      (millis: number): World['counts'] =>
      (_, at, { clock }) => {
        if (at === 4) clock.time += millis;
        return {};
      };
    expect(await sends({ counts: late(59_999) })).toBe(true);
    expect(await refusal({ counts: late(60_000) })).toStrictEqual([
      'not-started',
      { kind: 'no-time', what: 'send' },
      {},
    ]);
  });

  test('where another run has taken the record', async () => {
    const meanwhile: World['meanwhile'] = (ledger) =>
      ledger.stored.set(anIndex, anIdle({ server, attemptId: 'other' }));
    expect(await refusal({ meanwhile })).toStrictEqual(['in-flight', { kind: 'taken', closed: false }, {}]);
  });
});

describe('a reindex', () => {
  const at = { from: cutoff, to: start - 2 * day, rows: 400, countedAt: start + 60_000 - 20_000 };
  const reindexing = (rows: number, more: World['counts'] = () => ({})): World => ({
    policy: { strategy: 'reindex' },
    plan: { strategy: 'reindex', settled: { ...at, rows } },
    counts: (...given) => ({ strategy: 'reindex', ...more(...given) }),
  });

  test('waits until a minute after Plan has counted, and asks with the server’s time-out', async () => {
    const { slept, sent, record } = await started(reindexing(400));
    expect(slept).toEqual([40_000]);
    expect(sent[0]?.fields).toMatchObject({ forceReindex: true, timeoutSeconds: 300 });
    expect(record.windows).toHaveLength(3);
    const settled = { ...at, countedAt: start };
    expect((await started({ ...reindexing(400), plan: { strategy: 'reindex', settled } })).slept).toEqual([]);
  });

  test.each([
    [390, true],
    [389, false],
    [410, true],
    [411, false],
  ])('is sent where %i settled rows have become 400: %s', async (rows, isSent) => {
    const { sent, entry } = await started(reindexing(rows));
    expect(sent.length === 1).toBe(isSent);
    if (!isSent)
      expect((entry as DoneEntry).entry.cause).toStrictEqual({ kind: 'others-copying', planned: rows, found: 400 });
  });

  test('is told as not started, where others are copying', async () => {
    expect((await started(reindexing(389))).entry.entry).toMatchObject({ outcome: 'not-started' });
  });

  test('is counted again for one row, where a delete is not', async () => {
    const one =
      (at: number): World['counts'] =>
      ({ endTimeMillis }, number) =>
        endTimeMillis === cutoff && number >= at ? { rowsToDelete: 601 } : {};
    expect((await started(reindexing(400, one(5)))).moments).toHaveLength(5 + 4 + 1);
    expect((await started({ counts: one(3) })).moments).toHaveLength(3 + 1);
  });

  test('bears no difference to what its windows were counted around', async () => {
    expect(await sends(reindexing(400, (_, number) => (number === 6 ? { rowsToDelete: 601 } : {})))).toBe(false);
  });
});

describe('what came back', () => {
  test('that no byte was written frees the record, with the window that the next Plan counts', async () => {
    const { record, entry } = await started({ answer: { kind: 'not-sent', why: 'withheld' } });
    expect((entry as DoneEntry).entry).toMatchObject({
      outcome: 'failed',
      cause: { kind: 'no-time', what: 'send' },
      rowsToDelete: 600,
    });
    expect(record).toMatchObject({ state: 'idle', lastVerdict: { window: { from: cutoff, to: start, rows: 400 } } });
    const error = { kind: 'connect', operation: 'truncate' } as const;
    const refused = await started({ answer: { kind: 'not-sent', why: error } });
    expect((refused.entry as DoneEntry).entry.cause).toStrictEqual({ kind: 'server', error, sent: 'no' });
  });

  test('that no byte was written, under a record that another run has taken, is told all the same', async () => {
    const onSend: World['onSend'] = (ledger) => ledger.stored.set(anIndex, anIdle({ server, attemptId: 'other' }));
    const { entry, record } = await started({ answer: { kind: 'not-sent', why: 'withheld' }, onSend });
    expect(entry.entry).toMatchObject({
      outcome: 'failed',
      cause: { kind: 'no-time', what: 'send' },
      rowsToDelete: 600,
    });
    expect(record).toMatchObject({ attemptId: 'other' });
  });

  const unresolved = (status?: number): Truncation => ({
    kind: 'unresolved',
    error: { kind: 'server-error', operation: 'truncate', ...(status !== undefined && { status }) },
    answered: true,
    mentionsReindex: false,
  });

  test.each<[string, number | undefined, number | undefined, Cause | undefined]>([
    ['once', 500, undefined, undefined],
    ['twice', 500, 1, { kind: 'no-task-ids', status: 500 }],
    ['twice, without a status', undefined, 1, { kind: 'no-task-ids' }],
    ['because the token is refused', 401, undefined, { kind: 'no-task-ids', status: 401 }],
    ['because it is forbidden', 403, undefined, { kind: 'no-task-ids', status: 403 }],
  ])('without a task id, %s', async (_, status, before, breaker) => {
    const { after, entry, clock } = await started({
      answer: unresolved(status),
      ...(before !== undefined && { state: { callsWithoutTask: before } }),
    });
    expect(after.callsWithoutTask).toBe((before ?? 0) + 1);
    expect(after.breaker).toStrictEqual(breaker);
    expect(entry).toMatchObject({ phase: 'watched', watch: { nextLookAt: clock.time + 10_000 } });
  });
});
