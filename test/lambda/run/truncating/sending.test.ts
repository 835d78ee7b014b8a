import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../../lambda/facts/cause.ts';
import type { Truncation } from '../../../../lambda/operations/operations.ts';
import type { DoneEntry, Entry } from '../../../../lambda/run/state.ts';
import { anIdle, anIndex } from '../../../support/records.ts';
import { counted, cutoff, day, hour, physical, server, start, started, type World } from './started.ts';

/** What is recorded before a truncation is sent, until when it may be sent, and what its answer changes. */

describe('a truncation', () => {
  test('is recorded with its counts before it is sent', async () => {
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

  test('may not be written longer because the clock is set back', async () => {
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

  test('has no name, size or skew if the server does not send them', async () => {
    const { record } = await started({ sizes: [] });
    expect(record.attempt.baseline).toStrictEqual(counted);
    expect(record.attempt).not.toHaveProperty('clockSkewMillis');
    const unsized = await started({ sizes: [{ indexName: physical, entityType: 'dataset', aspect: 'operation' }] });
    expect(unsized.record.attempt.baseline).toStrictEqual({ ...counted, indexName: physical });
  });

  test('of a bite records the policy’s own cutoff, and its forecast of nights', async () => {
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

  test('alongside an endless one of an earlier run is noted once', async () => {
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
    const other = { kind: 'nothing-to-clear', index: 'x' } as const;
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

describe('what came back', () => {
  test('a call of which no byte was written frees the record, with no news about its rows', async () => {
    const { record, entry } = await started({ answer: { kind: 'not-sent', why: 'withheld' } });
    expect((entry as DoneEntry).entry).toMatchObject({
      outcome: 'failed',
      cause: { kind: 'stopped', by: 'send-time' },
      rowsToDelete: 600,
    });
    expect(record).toMatchObject({ state: 'idle', lastVerdict: { entry: { outcome: 'failed' } } });
    expect(record).not.toHaveProperty('lastVerdict.window');
    const error = { kind: 'connect', operation: 'truncate' } as const;
    const refused = await started({ answer: { kind: 'not-sent', why: error } });
    expect((refused.entry as DoneEntry).entry.cause).toStrictEqual({ kind: 'server', error, sent: 'no' });
  });

  test('a call of which no byte was written is reported even if another run has taken the record', async () => {
    const onSend: World['onSend'] = (ledger) => ledger.stored.set(anIndex, anIdle({ server, attemptId: 'other' }));
    const { entry, record } = await started({ answer: { kind: 'not-sent', why: 'withheld' }, onSend });
    expect(entry.entry).toMatchObject({
      outcome: 'failed',
      cause: { kind: 'stopped', by: 'send-time' },
      rowsToDelete: 600,
    });
    expect(record).toMatchObject({ attemptId: 'other' });
  });

  const unresolved = (status?: number): Truncation => ({
    kind: 'unresolved',
    error: { kind: 'server-error', operation: 'truncate', ...(status !== undefined && { status }) },
    mentionsReindex: false,
  });

  test.each<[string, number | undefined, number | undefined, Cause | undefined]>([
    ['once', 500, undefined, undefined],
    ['twice', 500, 1, { kind: 'stopped', by: 'no-task-ids', status: 500 }],
    ['twice, without a status', undefined, 1, { kind: 'stopped', by: 'no-task-ids' }],
    ['because the token is refused', 401, undefined, { kind: 'stopped', by: 'no-task-ids', status: 401 }],
    ['because it is forbidden', 403, undefined, { kind: 'stopped', by: 'no-task-ids', status: 403 }],
  ])('an answer without a task id, %s', async (_, status, before, breaker) => {
    const { after, entry, clock } = await started({
      answer: unresolved(status),
      ...(before !== undefined && { state: { callsWithoutTask: before } }),
    });
    expect(after.callsWithoutTask).toBe((before ?? 0) + 1);
    expect(after.breaker).toStrictEqual(breaker);
    expect(entry).toMatchObject({ phase: 'watched', watch: { nextLookAt: clock.time + 10_000 } });
  });
});
