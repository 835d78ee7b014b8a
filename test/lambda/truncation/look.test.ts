import { describe, expect, test } from 'vitest';
import type { DecidedFacts } from '../../../lambda/facts/report-schema.ts';
import type { StoredRecord } from '../../../lambda/ledger/record.ts';
import { anIdle, aRunning, aSending, aSentAttempt, aServer, aVerdict } from '../../support/records.ts';
import { aWorld, hours, minutes, sentAt } from './looking.ts';

/** One look: what it asks, what it remembers, and when the next one is due. */

describe('the ledger is read before any request', () => {
  const verdict = aVerdict({ attemptId: 'attempt-1' });
  const taken: Partial<DecidedFacts> = { outcome: 'in-flight', cause: { kind: 'held', state: 'closed' } };
  const foreign = { kind: 'foreign', ourAddress: aServer } as const;

  test.each<[string, StoredRecord | undefined, Partial<DecidedFacts>]>([
    ['no record', undefined, { outcome: 'unknown', cause: { kind: 'unsettled', why: 'no-record', copied: true } }],
    [
      'a record of another version',
      { state: 'other-version', index: 'x' },
      { outcome: 'in-flight', cause: { kind: 'foreign', why: 'version' } },
    ],
    [
      'a record of another address',
      aRunning({ server: 'http://elsewhere:8080' }),
      { outcome: 'in-flight', cause: { ...foreign, why: 'address', address: 'http://elsewhere:8080' } },
    ],
    [
      'another run’s time that no right clock has written',
      aRunning({ judgeableAt: sentAt + hours(2), attempt: { ...aRunning().attempt, runId: 'run-1' } }),
      { outcome: 'in-flight', cause: { kind: 'foreign', why: 'clock', until: sentAt + hours(2) } },
    ],
    ['the verdict of this attempt', anIdle({ lastVerdict: verdict }), { ...verdict.entry, adopted: true }],
    ['an attempt of another run', aRunning({ attemptId: 'attempt-2' }), taken],
    ['a record that was freed meanwhile', anIdle({ attemptId: 'attempt-1' }), taken],
  ])('%s', async (_, record, expected) => {
    const world = aWorld({ record });
    const entry = { entityType: 'dataset', aspect: 'operation', adopted: true };
    expect(await world.look({ entry })).toEqual({ kind: 'decided', entry: { ...entry, ...expected } });
    expect(world.asked).toEqual([]);
  });

  test('reports another run’s verdict as adopted', async () => {
    const world = aWorld({ record: anIdle({ lastVerdict: verdict }) });
    expect(await world.look()).toEqual({ kind: 'decided', entry: verdict.entry });
  });
});

describe('what a look asks', () => {
  const running = (deleted: number) => ({ kind: 'found', completed: false, counters: { total: 60, deleted } }) as const;

  test('only the status, as long as its counters show movement', async () => {
    const world = aWorld({ status: running(5) });
    await world.look();
    world.server.status = running(6);
    await world.look();
    expect(world.asked).toEqual(['task-status', 'task-status']);
    expect(world.watch).toMatchObject({ highestCounter: 6, looks: 2, aliveAt: world.clock.time });
    expect(world.watch).not.toHaveProperty('lowestToDelete');
  });

  test('the rows to delete as well, when the counters do not move', async () => {
    const world = aWorld({ status: running(5), toDelete: 33 });
    await world.look();
    await world.look();
    expect(world.asked).toEqual(['task-status', 'task-status', 500_000]);
    expect(world.watch).toMatchObject({ lowestToDelete: 33 });
  });

  test.each([
    [
      'its task id has no status',
      aRunning({ attempt: { ...aRunning().attempt, taskId: '3f0c1d9e-8a55-4f0e-9a3e-0c6c5b1f2d77' } }),
    ],
    ['it has no task id', aSending()],
  ])('only the rows to delete, if %s', async (_, record) => {
    const world = aWorld({ record });
    await world.look();
    expect(world.asked).toEqual([500_000]);
  });

  test('the rows that stay, for a reindex, because a swapped alias at once shows nothing to delete', async () => {
    const record = aSending({ attempt: aSentAttempt({ strategy: 'reindex' }) });
    const world = aWorld({ record, toDelete: 7, kept: 33 });
    await world.look();
    expect(world.asked).toEqual([500_000, 1_000_000]);
    expect(world.watch).toMatchObject({ lowestToDelete: 7, highestKept: 33 });
  });

  test('the rows that stay as well, for a delete that was seen to copy', async () => {
    const record = aSending({ attempt: aSentAttempt({ copied: 'index' }) });
    const world = aWorld({ record, toDelete: 0, kept: 33 });
    await world.look();
    expect(world.asked).toEqual([500_000, 1_000_000]);
    world.server.kept = 34;
    await world.lookAfter(minutes(9));
    expect(world.watch).toMatchObject({ highestKept: 34, movedAt: world.clock.time });
  });

  test('for a refused status only once, unless a proof depends on it', async () => {
    const refused = { fails: 'privilege' } as const;
    const deleting = aWorld({ status: refused });
    await deleting.look();
    await deleting.look();
    expect(deleting.asked).toEqual(['task-status', 500_000, 500_000]);
    const attempt = { ...aRunning().attempt, strategy: 'reindex' } as const;
    const copying = aWorld({ record: aRunning({ attempt }), status: refused });
    await copying.look();
    await copying.look();
    expect(copying.asked.filter((what) => what === 'task-status')).toHaveLength(2);
  });

  test('and counts a deleted index as empty', async () => {
    const world = aWorld({ record: aSending(), counts: { fails: 'no-index' } });
    await world.look();
    expect(world.watch).toMatchObject({ lowestToDelete: 0, succeededAt: world.clock.time });
  });

  test('with the signal that aborts every request in time', async () => {
    const world = aWorld({ status: { kind: 'found', completed: true, counters: {} } });
    await world.look();
    expect(world.asked).toEqual(['task-status', 500_000, 1_000_000, 500_000, 'index-sizes', 625_000]);
    expect(world.signals).toEqual(world.asked.map(() => world.signal));
  });
});

describe('a look that proves nothing', () => {
  test('is counted, and planned again by the time run', async () => {
    const world = aWorld({ toDelete: 60 });
    world.clock.time = sentAt + minutes(10);
    const before = Object.freeze({ ...world.watch });
    world.watch = before;
    await world.look();
    // A tenth of ten minutes, and a little before that.
    expect(world.watch).toMatchObject({
      looks: 1,
      lastLookAt: world.clock.time,
      nextLookAt: world.clock.time + 58_000,
      succeededAt: world.clock.time,
    });
    expect(world.watch).not.toHaveProperty('earlyLooks');
  });

  test('is planned earlier where its counters promise the end, and such looks are counted', async () => {
    const counters = { total: 60, deleted: 59 };
    const world = aWorld({ status: { kind: 'found', completed: false, counters }, toDelete: 60 });
    world.clock.time = sentAt + minutes(30);
    await world.look();
    // A row in half a minute, one to go: 30.5 s, 3 % and a second.
    expect(world.watch).toMatchObject({ earlyLooks: 1, nextLookAt: world.clock.time + 33_000 });
    await world.look();
    expect(world.watch.earlyLooks).toBe(2);
  });

  test('is frequent enough for a run of one hour to see that an old task hangs, even if its first look counts nothing', async () => {
    const status = { kind: 'found', completed: false, counters: { total: 60, deleted: 5 } } as const;
    const world = aWorld({ status, toDelete: 33, maxRunHours: 1 });
    world.clock.time = sentAt + hours(30);
    const end = world.clock.time + hours(1);
    let looked = await world.look();
    // Between two looks there are transitions and a start as well.
    const next = () => world.watch.nextLookAt + 1000;
    while (looked.kind === 'watching' && next() < end) looked = await world.lookAfter(next() - world.clock.time);
    expect(looked).toMatchObject({ kind: 'decided', entry: { outcome: 'unknown', cause: { why: 'hung' } } });
    expect(world.state()).toBe('running');
  });

  test('because it failed does not count as time without movement', async () => {
    const world = aWorld({ toDelete: 60 });
    await world.look();
    const { movedAt = 0, succeededAt } = world.watch;
    world.server.counts = { fails: 'timeout' };
    world.clock.time += minutes(3);
    await world.look();
    expect(world.watch).toMatchObject({
      looks: 2,
      succeededAt,
      movedAt: movedAt + minutes(3),
      lastLookAt: world.clock.time,
      error: { kind: 'timeout', operation: 'dry-run' },
    });
    expect(world.warnings).toEqual([
      ['look failed', { index: 'dataset_operationaspect_v1', error: { kind: 'timeout', operation: 'dry-run' } }],
    ]);
  });

  test('is left to the workflow if it is a defect', async () => {
    const world = aWorld({ record: aSending() });
    world.server.counts = new TypeError('a defect');
    await expect(world.look()).rejects.toThrow('a defect');
  });

  test.each([
    [600_000, true],
    [600_001, false],
    [-600_000, true],
    [-600_001, false],
  ])('while the server’s clock differs by %i ms: seen %s', async (clockSkewMillis, isSeen) => {
    const world = aWorld({ record: aSending(), toDelete: 60, clockSkewMillis });
    await world.look();
    expect(world.watch.movedAt !== undefined).toBe(isSeen);
    expect(world.watch.succeededAt).toBe(isSeen ? world.clock.time : world.run.runStartMillis);
    expect(world.watch.looks).toBe(1);
    expect(world.watch).not.toHaveProperty('error');
  });
});
