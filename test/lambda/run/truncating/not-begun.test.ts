import { describe, expect, test } from 'vitest';
import type { StoredRecord } from '../../../../lambda/ledger/record.ts';
import type { DoneEntry } from '../../../../lambda/run/state.ts';
import { anAttempt, anIdle, anIndex, aQuarantined, aReserved, aVerdict } from '../../../support/records.ts';
import { cutoff, day, hour, server, start, started, type World } from './started.ts';

/** What prevents Truncate from even counting, and what a reindex waits for. */

describe('a truncation is not begun', () => {
  const noTime = { kind: 'stopped', by: 'send-time' };

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

  test('by a preview, or with an open breaker', async () => {
    const preview = await started({ state: { mode: 'preview' } });
    expect(preview.after).toMatchObject({ breaker: { kind: 'preview' }, next: 'report', turns: { truncate: 1 } });
    const breaker = { kind: 'paused' } as const;
    const stopped = await started({ state: { breaker } });
    expect(stopped.entry.entry).toMatchObject({ outcome: 'not-started', cause: breaker });
    expect([preview.moments, stopped.moments]).toEqual([[], []]);
  });

  const reservedBy = (runId: string) =>
    aReserved({ server, attempt: anAttempt({ runId, runStartMillis: start, sendBy: start + 900_000 }) });

  test('if another run has reserved the index', async () => {
    const { entry, moments } = await started({ record: reservedBy('run-9') });
    expect(entry.entry).toMatchObject({
      outcome: 'in-flight',
      cause: { kind: 'held', state: 'reserved', runId: 'run-9' },
    });
    expect(moments).toEqual([]);
  });

  test('if the index is closed', async () => {
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
    ['of another version changes it', { version: 9, state: 'sending', index: anIndex }],
  ])('if another run %s at the same moment', async (_, theirs) => {
    const onReserve: World['onReserve'] = (ledger) =>
      theirs ? ledger.stored.set(anIndex, theirs) : ledger.stored.delete(anIndex);
    const { entry, moments } = await started({ onReserve });
    expect(entry.entry).toMatchObject({ outcome: 'in-flight' });
    expect((entry as DoneEntry).entry.cause).toStrictEqual({ kind: 'held', state: 'taken' });
    expect(moments).toEqual([]);
  });

  test.each<[string, StoredRecord]>([
    ['has reserved it', reservedBy('run-1')],
    ['has sent', anIdle({ server, sentBy })],
    ['has its verdict', anIdle({ server, lastVerdict: aVerdict({ runId: 'run-1', runStartMillis: start }) })],
  ])('if another call of this run %s at the same moment, which is left to Poll', async (_, ours) => {
    await expect(started({ onReserve: (ledger) => ledger.stored.set(anIndex, ours) })).rejects.toThrow('invoked twice');
  });

  test('twice in one run', async () => {
    await expect(started({ record: reservedBy('run-1') })).rejects.toThrow(
      `Truncate was invoked twice for ${anIndex} in one run`,
    );
  });

  test.each([
    [
      { state: 'other-version', index: anIndex, version: 9 },
      { kind: 'foreign', why: 'version' },
    ],
    [
      { version: 9, state: 'sending', index: anIndex, entityType: 'e', aspect: 'a', server },
      { kind: 'foreign', why: 'version', version: 9 },
    ],
  ])('if another version holds the index', async (record, cause) => {
    const { entry } = await started({ record: record as unknown as StoredRecord });
    expect((entry as DoneEntry).entry).toMatchObject({ outcome: 'in-flight' });
    expect((entry as DoneEntry).entry.cause).toStrictEqual(cause);
  });
});

describe('a reindex', () => {
  const reindexing = (more: World['counts'] = () => ({})): World => ({
    policy: { strategy: 'reindex' },
    plan: { strategy: 'reindex' },
    counts: (...given) => ({ strategy: 'reindex', ...more(...given) }),
  });

  test('is requested with the server’s time-out, and counted in three windows', async () => {
    const { sent, record, moments } = await started(reindexing());
    expect(sent[0]?.fields).toMatchObject({ forceReindex: true, timeoutSeconds: 300 });
    expect(record.windows.map(({ role }) => role)).toEqual(['settled', 'kept', 'counted']);
    expect(moments).toHaveLength(5);
  });

  const made = (ago: number, version = '') => ({
    indexName: `dataset_operationaspect_v1_${version}${start - ago}`,
    entityType: 'dataset',
    aspect: 'operation',
  });
  const ours = made(day);
  const proven = (provenName: string) => anIdle({ server, lastVerdict: aVerdict({ provenName }) });

  test.each<[string, World, boolean]>([
    ['an index of exactly 36 hours', { sizes: [made(36 * hour)] }, false],
    ['an older one', { sizes: [made(36 * hour + 1)] }, true],
    ['an upgrade’s index of exactly 14 days', { sizes: [made(14 * day, '1_7_0-0_')] }, false],
    ['an upgrade’s older one', { sizes: [made(14 * day + 1, '1_7_0-0_')] }, true],
    ['a young one that our last, proven reindex made', { sizes: [ours], record: proven(ours.indexName) }, true],
    ['a young one that came after it', { sizes: [made(hour)], record: proven(ours.indexName) }, false],
  ])('of %s: is it sent? %s', async (_, world, isSent) => {
    const { sent, entry } = await started({ ...reindexing(), ...world });
    expect(sent.length === 1).toBe(isSent);
    if (isSent) return;
    expect((entry as DoneEntry).entry).toMatchObject({
      outcome: 'not-started',
      cause: { kind: 'guard', which: 'index-young' },
    });
  });

  test('is counted again for one row, unlike a delete', async () => {
    const one =
      (at: number): World['counts'] =>
      ({ endTimeMillis }, number) =>
        endTimeMillis === cutoff && number >= at ? { rowsToDelete: 601 } : {};
    expect((await started(reindexing(one(5)))).moments).toHaveLength(5 + 4);
    expect((await started({ counts: one(3) })).moments).toHaveLength(3);
  });
});
