import { describe, expect, test } from 'vitest';
import type { AttemptStrategy } from '../../../lambda/facts/strategy.ts';
import type { AttemptWindow } from '../../../lambda/ledger/record.ts';
import type { TaskStatus } from '../../../lambda/operations/operations.ts';
import type { Looked } from '../../../lambda/truncation/look.ts';
import { anIdle, anIndex, aRunning, aSending, aSentAttempt, aVerdict, aWindow } from '../../support/records.ts';
import { aWorld, hours, minutes, sentAt } from './looking.ts';

/** When a look ends with a verdict, and when it waits for another one. */

const ended = { kind: 'found', completed: true, counters: { total: 60, deleted: 60 } } as const;
const goesOn = { kind: 'found', completed: false, counters: { total: 60, deleted: 5 } } as const;
const before = aSentAttempt().baseline.indexName;
const theirs = 'dataset_operationaspect_v1_1700000000000';
const sizesOf = (indexName: string) => [{ indexName, entityType: 'dataset', aspect: 'operation', sizeMb: 3 }];
const sentAs = (strategy: AttemptStrategy) => aSending({ attempt: aSentAttempt({ strategy }) });
const watching = { kind: 'watching' };
const causeOf = (looked: Looked) => (looked.kind === 'decided' ? looked.entry.cause : looked);

describe('a task that has ended', () => {
  test('with every row in place frees the record and is reported as truncated', async () => {
    const world = aWorld({ status: { ...ended, runTimeMillis: 61_000 }, sizes: sizesOf(before!) });
    expect(await world.look()).toEqual({
      kind: 'decided',
      entry: {
        entityType: 'dataset',
        aspect: 'operation',
        outcome: 'truncated',
        cause: { kind: 'verified', by: 'counts' },
        rowsDeleted: 60,
        rowsRemaining: 0,
        durationSeconds: 61,
        sizeAfterMb: 3,
        indexName: before,
      },
    });
    expect(world.state()).toBe('idle');
  });

  test('without a run time lasted until its end was seen', async () => {
    expect(await aWorld({ status: ended }).look()).toMatchObject({ entry: { durationSeconds: 120 } });
  });

  test('by its counts, while its status says running, lasted until its last movement', async () => {
    const world = aWorld({ status: { ...goesOn, runTimeMillis: 10_000 } });
    await world.look();
    expect(await world.lookAfter(30_000)).toMatchObject(watching);
    expect(await world.lookAfter(600_000)).toMatchObject({
      kind: 'decided',
      entry: { outcome: 'truncated', durationSeconds: 150 },
    });
  });

  test('keeps the verdict of another run that was first', async () => {
    const world = aWorld({ status: ended });
    const verdict = aVerdict({ attemptId: 'attempt-2' });
    world.server.before[3] = () => world.ledger.stored.set(anIndex, anIdle({ lastVerdict: verdict }));
    expect(await world.look()).toMatchObject({ kind: 'watching', watch: { lowestToDelete: 0 } });
    expect(world.ledger.stored.get(anIndex)).toMatchObject({ lastVerdict: { attemptId: 'attempt-2' } });
  });

  test('reports a deleted index as gone', async () => {
    const world = aWorld({ status: ended, counts: { fails: 'no-index' } });
    expect(await world.look()).toMatchObject(watching);
    expect(await world.lookAfter(90_000)).toMatchObject({
      entry: { outcome: 'rows-missing', cause: { indexGone: true, expected: 40, found: 0 } },
    });
    const there = aWorld({ status: ended, kept: 0 });
    await there.look();
    const told = await there.lookAfter(90_000);
    expect(told).toMatchObject({ entry: { outcome: 'rows-missing' } });
    expect(told).not.toHaveProperty('entry.cause.indexGone');
  });

  test('with contradicting counts is looked at again', async () => {
    const world = aWorld({ status: ended, toDelete: 5, kept: 40, total: 4 });
    expect(await world.look()).toMatchObject(watching);
    expect(world.state()).toBe('running');
    const moving = aWorld({ status: ended });
    for (let count = 1; count < 9; count++) moving.server.before[count] = () => (moving.server.toDelete = count * 1000);
    expect(await moving.look()).toMatchObject(watching);
    expect(moving.asked).not.toContain('index-sizes');
  });
});

describe('a result that is not good yet', () => {
  const remains = { status: { ...ended, counters: { total: 60, deleted: 30 } }, toDelete: 30 };

  test('waits for a refresh by the run’s clock', async () => {
    const world = aWorld(remains);
    expect(await world.look()).toMatchObject({ ...watching, watch: { lowestToDelete: 30 } });
    expect(await world.lookAfter(89_999)).toMatchObject(watching);
    expect(await world.lookAfter(1)).toMatchObject({ entry: { outcome: 'incomplete', rowsRemaining: 30 } });
  });

  test('waits for a part of a refresh in real time, too', async () => {
    const world = aWorld(remains);
    await world.look();
    world.clock.ahead = 90_000 - 4999;
    expect(await world.lookAfter(90_000)).toMatchObject(watching);
    world.clock.ahead--;
    expect(await world.look()).toMatchObject({ entry: { outcome: 'incomplete' } });
  });

  test('is judged by the first count if its end was seen long before', async () => {
    const world = aWorld(remains);
    world.watch = { ...world.watch, completedAt: sentAt, completedRealAt: sentAt };
    expect(await world.look()).toMatchObject({ entry: { outcome: 'incomplete' } });
  });

  test('is timed from when its end was seen if the task’s record is gone since', async () => {
    const world = aWorld({ ...remains, sizes: sizesOf(before!) });
    await world.look();
    world.server.status = { kind: 'vanished' };
    expect(await world.lookAfter(minutes(2))).toMatchObject({ entry: { outcome: 'incomplete', durationSeconds: 120 } });
  });

  test('is looked at soon, as long as a refresh may come', async () => {
    const world = aWorld(remains);
    await world.lookAfter(hours(5));
    expect(world.watch.nextLookAt).toBe(world.clock.time + 10_000);
  });

  test('is looked at again while rows are still being deleted', async () => {
    const world = aWorld(remains);
    await world.look();
    world.server.toDelete = 25;
    expect(await world.lookAfter(minutes(2))).toMatchObject({ ...watching, watch: { lowestToDelete: 25 } });
    expect(await world.lookAfter(minutes(2))).toMatchObject({ entry: { rowsRemaining: 25 } });
  });

  test('is looked at again while a status says running', async () => {
    const world = aWorld({ status: goesOn });
    await world.look();
    // No rows were left at the sighting, but there are some when the windows are counted.
    for (let look = 0; look < 3; look++) {
      world.server.toDelete = 0;
      const first = world.asked.filter((what) => typeof what === 'number').length;
      world.server.before[first + 2] = () => (world.server.toDelete = 30);
      expect(await world.lookAfter(minutes(6))).toMatchObject(watching);
    }
    expect(world.state()).toBe('running');
  });

  test('after another process moved the alias is looked at again while rows arrive in its index', async () => {
    const world = aWorld({ status: ended, kept: 5, sizes: sizesOf(theirs) });
    await world.look();
    await world.look();
    expect(world.watch).toMatchObject({ highestKept: 5, movedAt: world.clock.time });
    world.server.kept = 9;
    await world.lookAfter(minutes(3));
    expect(world.watch).toMatchObject({ highestKept: 9, movedAt: world.clock.time });
    // Rows that arrive and go do not count as more.
    world.server.kept = 8;
    const { movedAt } = world.watch;
    expect(await world.lookAfter(minutes(9))).toMatchObject({ ...watching, watch: { highestKept: 9, movedAt } });
    world.server.kept = 9;
    expect(await world.lookAfter(minutes(1) - 1)).toMatchObject({ ...watching, watch: { movedAt } });
    expect(await world.lookAfter(1)).toMatchObject({ entry: { outcome: 'rows-missing', cause: { found: 9 } } });
  });

  test('after another process moved the alias is looked at twice at least', async () => {
    const world = aWorld({ status: ended, kept: 0, sizes: sizesOf(theirs) });
    world.watch = { ...world.watch, completedAt: sentAt - minutes(20), completedRealAt: sentAt - minutes(20) };
    expect(await world.look()).toMatchObject({ ...watching, watch: { highestKept: 0, movedAt: world.clock.time } });
  });

  test('because our own copy lacks rows is judged after a refresh, even while late rows arrive', async () => {
    const attempt = { ...aRunning().attempt, strategy: 'reindex' } as const;
    const status = { kind: 'found', completed: true, counters: { total: 40, created: 5 } } as const;
    const ours = sizesOf('dataset_operationaspect_v1_0000001200005');
    const world = aWorld({ record: aRunning({ attempt }), status, kept: 5, sizes: ours });
    await world.look();
    world.server.kept = 9;
    expect(await world.lookAfter(90_000)).toMatchObject({
      entry: { outcome: 'rows-missing', cause: { movedBy: 'us', found: 9 } },
    });
  });

  test('after another process moved the alias is judged in the end, even while rows still arrive', async () => {
    const world = aWorld({ status: ended, kept: 0, sizes: sizesOf(theirs), maxRunHours: 3 });
    await world.look();
    for (let quarter = 1; quarter <= 5; quarter++) {
      world.server.kept = quarter;
      expect(await world.lookAfter(minutes(15))).toMatchObject(watching);
    }
    world.server.kept = 6;
    expect(await world.lookAfter(minutes(15) - 1)).toMatchObject(watching);
    world.server.kept = 7;
    expect(await world.lookAfter(1)).toMatchObject({ entry: { outcome: 'rows-missing' } });
  });

  test('is judged after a refresh if the index is still ours', async () => {
    const world = aWorld({ status: ended, kept: 5, sizes: sizesOf(before!) });
    await world.look();
    world.server.kept = 9;
    expect(await world.lookAfter(90_000)).toMatchObject({ entry: { outcome: 'rows-missing' } });
  });
});

describe('a truncation without movement', () => {
  test('is judged when it is still, but not before judgeableAt', async () => {
    const world = aWorld({ record: aSending({ judgeableAt: sentAt + minutes(22) }), sizes: sizesOf(before!) });
    await world.look();
    expect(await world.lookAfter(minutes(20) - 1)).toMatchObject(watching);
    expect(world.asked).not.toContain(1_000_000);
    expect(await world.lookAfter(1)).toMatchObject({ entry: { outcome: 'truncated', durationSeconds: 120 } });
  });

  test('is not judged when rows are deleted between its two counts', async () => {
    const world = aWorld({ record: aSending(), toDelete: 20 });
    await world.look();
    world.server.before[3] = () => (world.server.toDelete = 19);
    expect(await world.lookAfter(minutes(20))).toMatchObject({
      ...watching,
      watch: { lowestToDelete: 19, movedAt: world.clock.time },
    });
    expect(world.state()).toBe('sending');
  });

  test('is not judged when a copy brings rows between its two counts', async () => {
    const world = aWorld({ record: sentAs('reindex'), kept: 20 });
    await world.look();
    world.server.before[4] = () => (world.server.kept = 21);
    expect(await world.lookAfter(minutes(20))).toMatchObject({
      ...watching,
      watch: { highestKept: 21, movedAt: world.clock.time },
    });
  });

  test.each<[string, TaskStatus | undefined, true | undefined]>([
    ['is gone', { kind: 'vanished' }, true],
    ['is another task’s', { ...goesOn, runTimeMillis: 10 ** 9 }, true],
    ['could not be requested', undefined, undefined],
  ])('reports whether its task’s record %s', async (_, status, vanished) => {
    const world = aWorld({ status: status ?? { fails: 'privilege' }, toDelete: 30, sizes: sizesOf(before!) });
    await world.look();
    const looked = await world.lookAfter(minutes(20));
    expect(looked).toMatchObject({ entry: { outcome: 'unknown', cause: { kind: 'unsettled', why: 'still' } } });
    expect((causeOf(looked) as { vanished?: boolean }).vanished).toBe(vanished);
    expect(world.state()).toBe('running');
  });

  test('may have been a copy if its task’s record is gone and its index name is no longer known', async () => {
    const nameless = (runStart?: number) =>
      aWorld({ status: { kind: 'vanished' }, toDelete: 30, ...(runStart !== undefined && { runStart }) });
    const young = nameless();
    await young.look();
    expect(await young.lookAfter(minutes(20))).toMatchObject({
      entry: { outcome: 'unknown', cause: { why: 'status', copied: true } },
    });
    const old = nameless(sentAt + hours(20));
    await old.look();
    expect(await old.lookAfter(hours(2))).toMatchObject({
      entry: { outcome: 'unknown', cause: { closed: 'quarantined' } },
    });
    expect(old.state()).toBe('quarantined');
  });

  test('was a copy if fewer rows than should stay were seen, even if late rows filled it up', async () => {
    const judgedAfter = async (total: number) => {
      const world = aWorld({ status: { kind: 'vanished' }, toDelete: 0, kept: 4000, total, sizes: sizesOf(theirs) });
      await world.look();
      Object.assign(world.server, { total: 4000 });
      // From here on the rows that stay are counted, too.
      await world.lookAfter(minutes(1));
      return world.lookAfter(minutes(20));
    };
    expect(await judgedAfter(9)).toMatchObject({ entry: { outcome: 'unknown', cause: { why: 'status' } } });
    // Another process's index, and nothing that looks like a copy.
    expect(await judgedAfter(4000)).toMatchObject({ entry: { outcome: 'unknown', cause: { why: 'replaced' } } });
  });

  test('was a copy if its task was seen to create rows, even if its record is gone and the name is the same', async () => {
    const creates = { kind: 'found', completed: false, counters: { total: 40, created: 5 } } as const;
    const world = aWorld({ status: creates, kept: 35, toDelete: 0, sizes: sizesOf(before!) });
    await world.look();
    expect(world.ledger.stored.get(anIndex)).toMatchObject({ attempt: { copied: 'task' } });
    world.server.status = { kind: 'vanished' };
    await world.lookAfter(minutes(1));
    expect(await world.lookAfter(minutes(20))).toMatchObject({ entry: { outcome: 'rows-missing', rowsMissing: 5 } });
  });

  test('is counted once more, row by row, in the very look that showed it to be a copy', async () => {
    const whole = { kind: 'found', completed: true, counters: { total: 40, created: 40 } } as const;
    const sizes = sizesOf('dataset_operationaspect_v1_0000001200005');
    const world = aWorld({ status: whole, kept: 40, toDelete: 0, sizes });
    expect(await world.look()).toMatchObject({ entry: { cause: { kind: 'verified', by: 'proof' } } });
    // Status, cutoff, window, cutoff, sizes; and all but the status again; then the window of the verdict.
    expect(world.asked).toHaveLength(1 + 4 + 4 + 1);
  });

  test('is compared without tolerance if it may have been a reindex', async () => {
    const counted = async (strategy: AttemptStrategy) => {
      const world = aWorld({ record: sentAs(strategy), kept: 4000, toDelete: 2000 });
      await world.look();
      const first = world.asked.length;
      world.server.before[first + 3] = () => (world.server.toDelete = 2001);
      await world.lookAfter(minutes(20));
      return world.asked.length - first;
    };
    // Cutoff, window, cutoff; for a copy window and cutoff again; and the sizes.
    expect(await counted('reindex')).toBe(3 + 2 + 1);
    expect(await counted('delete-by-query')).toBe(3 + 1);
  });

  test('whose status says running is reported as hung after two hours', async () => {
    const world = aWorld({ status: goesOn, toDelete: 30, maxRunHours: 3 });
    await world.look();
    await world.look();
    expect(await world.lookAfter(minutes(90) - 1)).toMatchObject(watching);
    expect(await world.lookAfter(1)).toMatchObject({
      entry: { outcome: 'unknown', cause: { why: 'hung', lastMovedAt: sentAt + minutes(2) }, durationSeconds: 120 },
    });
  });

  test('is judged at once, even if rows are missing in an index that another process put there', async () => {
    const world = aWorld({ record: aSending(), kept: 5, sizes: sizesOf(theirs) });
    await world.look();
    await world.lookAfter(minutes(1));
    expect(await world.lookAfter(minutes(14))).toMatchObject({ entry: { outcome: 'rows-missing' } });
  });

  test('is not unchanged if a look has seen fewer rows to delete', async () => {
    const world = aWorld({ record: aSending(), toDelete: 10 });
    await world.look();
    world.server.toDelete = 60;
    expect(await world.lookAfter(hours(1))).toMatchObject({ entry: { cause: { kind: 'unsettled' } } });
  });
});

describe('a run that started 20 h after the call', () => {
  const old = sentAt + hours(20);

  test.each<[string, number, string | undefined]>([
    ['closes a truncation that is still', old, 'idle'],
    ['does not close it if the run started a moment earlier, however late it looks', old - 1, undefined],
  ])('%s', async (_, runStart, closed) => {
    const world = aWorld({ record: aSending(), toDelete: 30, sizes: sizesOf(before!), runStart });
    await world.look();
    const looked = await world.lookAfter(hours(2));
    expect(looked).toMatchObject({ entry: { outcome: 'unknown', cause: { why: 'still' } } });
    expect((causeOf(looked) as { closed?: string }).closed).toBe(closed);
    expect(world.state()).toBe(closed ?? 'sending');
  });

  test('closes nothing because of a start in the future', async () => {
    const world = aWorld({ record: aSending(), toDelete: 30, sizes: sizesOf(before!), runStart: old });
    world.clock.time = sentAt + hours(1);
    await world.look();
    expect(causeOf(await world.lookAfter(hours(2)))).not.toHaveProperty('closed');
    expect(world.state()).toBe('sending');
  });

  test('closes a truncation that hangs', async () => {
    const world = aWorld({ status: goesOn, toDelete: 30, sizes: sizesOf(before!), runStart: old });
    await world.look();
    await world.look();
    expect(await world.lookAfter(hours(2) - 1)).toMatchObject(watching);
    expect(await world.lookAfter(1)).toMatchObject({ entry: { cause: { why: 'hung', closed: 'idle' } } });
  });

  test.each<[string, object, string]>([
    ['a delete that one look has found', { record: aSending() }, 'idle'],
    ['a delete that says it is running', { status: goesOn }, 'idle'],
    ['a truncation that may have copied', { record: sentAs('reindex') }, 'quarantined'],
  ])('closes with its last look, even without stillness: %s', async (_, given, state) => {
    const sizes = sizesOf(state === 'idle' ? before! : theirs);
    const world = aWorld({ toDelete: 30, sizes, runStart: old, isOver: true, ...given });
    expect(await world.look()).toMatchObject({ entry: { outcome: 'unknown', cause: { closed: state } } });
    expect(world.state()).toBe(state);
  });

  test('does not close with its last look a task whose counters rose in this run', async () => {
    const world = aWorld({ status: goesOn, toDelete: 30, sizes: sizesOf(before!), runStart: old });
    await world.look();
    world.server.status = { ...goesOn, counters: { total: 60, deleted: 6 } };
    world.run.isOver = true;
    expect(await world.lookAfter(minutes(1))).toMatchObject(watching);
    expect(world.state()).toBe('running');
  });

  test('judges by counts with its last look if its status fails then', async () => {
    const world = aWorld({ status: goesOn, toDelete: 30, sizes: sizesOf(before!), runStart: old });
    await world.look();
    world.server.status = { fails: 'server-error' };
    world.server.kept = 3;
    world.run.isOver = true;
    const looked = await world.lookAfter(minutes(1));
    expect(looked).toMatchObject({ entry: { outcome: 'rows-missing', rowsMissing: 37 } });
    expect(world.state()).toBe('quarantined');
  });

  test.each<[string, object]>([
    ['its status', { status: { fails: 'server-error' } }],
    ['its status and its count', { status: { fails: 'server-error' }, counts: { fails: 'server-error' } }],
  ])('does not close with its last look a task that moved in this run because %s failed', async (_, failing) => {
    const world = aWorld({ status: goesOn, toDelete: 30, sizes: sizesOf(before!), runStart: old });
    await world.look();
    world.server.status = { ...goesOn, counters: { total: 60, deleted: 6 } };
    await world.lookAfter(minutes(1));
    Object.assign(world.server, failing);
    world.run.isOver = true;
    expect(await world.lookAfter(minutes(1))).toMatchObject(watching);
    expect(world.state()).toBe('running');
  });

  test('closes a copy whose rows still rose as unknown, with its shortfall and without a place where rows are', async () => {
    const ours = sizesOf('dataset_operationaspect_v1_0000001200005');
    const world = aWorld({ record: sentAs('reindex'), kept: 5, sizes: ours, runStart: old });
    await world.look();
    world.server.kept = 9;
    world.run.isOver = true;
    const looked = await world.lookAfter(minutes(1));
    expect(looked).toMatchObject({
      entry: { outcome: 'unknown', rowsMissing: 31, cause: { kind: 'unsettled', closed: 'quarantined' } },
    });
    expect(looked).not.toHaveProperty('entry.cause.rowsIn');
    expect(world.state()).toBe('quarantined');
  });

  /** More rows to delete than there are: counts that contradict each other, at every look. */
  const contradicting = { toDelete: 30, total: 5, runStart: old };

  test.each<[string, object, string]>([
    ['a delete', { record: aSending() }, 'idle'],
    ['a truncation that may have copied', { record: sentAs('reindex') }, 'quarantined'],
  ])('closes with its last look what its counts never agree about: %s', async (_, given, state) => {
    const world = aWorld({ ...contradicting, sizes: sizesOf(state === 'idle' ? before! : theirs), ...given });
    expect(await world.look()).toMatchObject(watching);
    expect(await world.lookAfter(hours(3))).toMatchObject(watching);
    world.run.isOver = true;
    const looked = await world.lookAfter(minutes(1));
    expect(looked).toMatchObject({ entry: { outcome: 'unknown', cause: { why: 'uncountable', closed: state } } });
    expect(causeOf(looked)).not.toHaveProperty('error');
    expect(world.state()).toBe(state);
  });

  test.each<[string, object]>([
    ['of a record that is not old', { record: aSending(), runStart: old - 1, isOver: true }],
    ['while the clocks disagree', { record: aSending(), isOver: true, clockSkewMillis: hours(1) }],
  ])('closes nothing with contradicting counts %s', async (_, given) => {
    const world = aWorld({ ...contradicting, sizes: sizesOf(before!), ...given });
    expect(await world.look()).toMatchObject(watching);
    expect(world.state()).toBe('sending');
  });

  test('closes a delete with contradicting counts although the server answers nothing else', async () => {
    const before = {
      ...aSending(),
      attempt: { ...aSending().attempt, baseline: { rowsTotal: 100, rowsToDelete: 60 } },
    };
    const world = aWorld({ ...contradicting, record: before, isOver: true, sizes: { fails: 'timeout' } });
    expect(await world.look()).toMatchObject({ entry: { cause: { why: 'uncountable', closed: 'idle' } } });
  });

  test('opens a delete with contradicting counts whose own status has deleted rows, though its name is not told', async () => {
    const status = { kind: 'found', completed: true, counters: { total: 60, deleted: 60 } } as const;
    const world = aWorld({ ...contradicting, status, isOver: true, sizes: [] });
    expect(await world.look()).toMatchObject({ entry: { cause: { why: 'uncountable', closed: 'idle' } } });
  });

  test('judges with its last look what only this look showed to be a copy', async () => {
    const sizes = sizesOf('dataset_operationaspect_v1_0000001200005');
    const world = aWorld({ record: aSending(), kept: 5, toDelete: 0, sizes, runStart: old, isOver: true });
    expect(await world.look()).toMatchObject({ entry: { outcome: 'rows-missing', rowsMissing: 35 } });
    expect(world.state()).toBe('quarantined');
  });

  test('does not close a task with contradicting counts whose counters rose in this run', async () => {
    const world = aWorld({ ...contradicting, status: goesOn, sizes: sizesOf(before!) });
    await world.look();
    world.server.status = { kind: 'found', completed: true, counters: { total: 60, deleted: 60 } };
    world.run.isOver = true;
    expect(await world.lookAfter(minutes(1))).toMatchObject(watching);
    expect(world.state()).toBe('running');
  });

  test('closes nothing while the clocks disagree, not even with its last look', async () => {
    const world = aWorld({
      record: aSending(),
      toDelete: 30,
      clockSkewMillis: minutes(11),
      runStart: old,
      isOver: true,
    });
    expect(await world.look()).toMatchObject(watching);
    expect(world.state()).toBe('sending');
  });
});

test('an index that is gone proves nothing while the answer shows that the clocks disagree', async () => {
  const looks = async (clockSkewMillis: number) => {
    const world = aWorld({ status: ended, counts: { fails: 'no-index' }, clockSkewMillis });
    await world.look();
    return world.lookAfter(minutes(20));
  };
  expect(await looks(minutes(11))).toMatchObject(watching);
  expect(await looks(minutes(10))).toMatchObject({ entry: { outcome: 'rows-missing', cause: { indexGone: true } } });
});

describe('an index that can no longer be counted', () => {
  const old = sentAt + hours(20);
  const uncountable = (given: Parameters<typeof aWorld>[0] = {}) =>
    aWorld({ counts: { fails: 'timeout' }, record: aSending(), runStart: old, sizes: sizesOf(before!), ...given });
  const told = { outcome: 'unknown', cause: { why: 'uncountable', error: { kind: 'timeout' } } };

  test.each([
    [12, 120],
    [3, 90],
  ])('is closed by an old record’s run of %i h after %i minutes without a count', async (maxRunHours, wait) => {
    const world = uncountable({ maxRunHours });
    expect(await world.lookAfter(minutes(wait) - 1)).toMatchObject(watching);
    expect(world.asked).not.toContain('index-sizes');
    expect(await world.lookAfter(1)).toMatchObject({ entry: told });
    expect(world.state()).toBe('idle');
  });

  test.each<[string, Parameters<typeof aWorld>[0], string]>([
    ['sizes answer, and its name is the same', {}, 'idle'],
    ['sizes answer, and no name has been seen', { sizes: [] }, 'quarantined'],
    ['another index answers', { sizes: { fails: 'privilege' }, others: ['datasetProfile'] }, 'quarantined'],
    ['nothing else answers', { sizes: { fails: 'timeout' } }, 'sending'],
    [
      'no other index answers either',
      { sizes: { fails: 'timeout' }, others: ['datasetProfile'], otherCounts: { fails: 'timeout' } },
      'sending',
    ],
    ['sizes and another index answer, and its name is the same', { others: ['datasetProfile'] }, 'idle'],
    [
      'sizes answer, but another index’s count shows that the clocks disagree',
      { others: ['datasetProfile'], clockSkewMillis: minutes(11) },
      'sending',
    ],
    ['the failed count itself shows that the clocks disagree', { clockSkewMillis: minutes(11) }, 'sending'],
    [
      'sizes answer, but another index’s failed count shows that the clocks disagree',
      { others: ['datasetProfile'], otherCounts: { fails: 'server-error' }, otherSkewMillis: minutes(11) },
      'sending',
    ],
    ['the run started too early', { runStart: old - 1 }, 'sending'],
  ])('if %s, becomes with the last look of a run: %s', async (_, given, state) => {
    const world = uncountable({ isOver: true, ...given });
    const looked = await world.look();
    expect(looked).toMatchObject(state === 'sending' ? watching : { entry: told });
    expect(world.state()).toBe(state);
  });

  test('asks at most three other indices', async () => {
    const others = ['a', 'b', 'c', 'd'];
    const world = uncountable({ isOver: true, others, sizes: { fails: 'timeout' }, otherCounts: { fails: 'timeout' } });
    await world.look();
    expect(world.asked.filter((what) => others.includes(String(what)))).toEqual(['a', 'b', 'c']);
  });

  test('is left to a run that changed it meanwhile', async () => {
    const world = uncountable({ isOver: true });
    world.server.before[1] = () => world.ledger.stored.set(anIndex, anIdle({ attemptId: 'attempt-2' }));
    expect(await world.look()).toMatchObject(watching);
    expect(world.state()).toBe('idle');
  });
});

describe('a clock that is put right', () => {
  const reindexed = sizesOf('dataset_operationaspect_v1_0000001201000');

  test('during a look proves neither that its call can be judged nor that nothing moves', async () => {
    const world = aWorld({ record: aSending(), toDelete: 60, sizes: sizesOf(before!), clockSkewMillis: 0 });
    await world.look();
    world.server.clockSkewMillis = -hours(3);
    world.server.before[3] = () => {
      world.clock.time -= hours(3);
      world.server.clockSkewMillis = 0;
    };
    expect(await world.lookAfter(hours(3))).toMatchObject(watching);
    expect(world.state()).toBe('sending');
  });

  test('before the first count of a look, without a word from the server, proves nothing either', async () => {
    const world = aWorld({ record: aSending(), toDelete: 60, sizes: sizesOf(before!) });
    await world.look();
    world.server.before[2] = () => {
      world.clock.time -= hours(3);
    };
    expect(await world.lookAfter(hours(3))).toMatchObject(watching);
    expect(world.state()).toBe('sending');
  });

  test('after it went back does not make a copy still', async () => {
    const given = { record: sentAs('reindex'), kept: 10, sizes: reindexed, clockSkewMillis: 0 };
    const world = aWorld(given);
    world.clock.time = sentAt + minutes(15);
    const setBack = (millis: number) => {
      world.clock.time -= millis;
      world.server.clockSkewMillis! += millis;
    };
    await world.look();
    world.server.before[3] = () => setBack(hours(1));
    expect(await world.lookAfter(minutes(1))).toMatchObject(watching);
    setBack(-hours(1));
    expect(await world.lookAfter(minutes(1))).toMatchObject(watching);
    expect(world.state()).toBe('sending');
  });
});

test('what was gone while the server’s clock was wrong was not left unchanged', async () => {
  const looks = async (clockSkewMillis: number) => {
    const world = aWorld({ record: aSending(), toDelete: 0, sizes: sizesOf(before!), clockSkewMillis });
    await world.look();
    Object.assign(world.server, { toDelete: 60, clockSkewMillis: 0 });
    await world.lookAfter(minutes(1));
    return world.lookAfter(hours(3));
  };
  const told = { entry: { outcome: 'unknown', cause: { why: 'still' } } };
  expect(await looks(hours(1))).toMatchObject(told);
  expect(await looks(0)).toMatchObject(told);
});

describe('the kept window', () => {
  test('is found at any position', async () => {
    const settled: AttemptWindow = { ...aWindow, role: 'settled', to: 900_000, rows: 30 };
    const kept = (upTo: number) => (upTo < 1_000_000 ? 30 : 40);
    const world = aWorld({ record: aRunning({ windows: [settled, aWindow] }), status: ended, toDelete: 30, kept });
    await world.look();
    await world.look();
    expect(world.watch.highestKept).toBe(40);
    const none = aWorld({ record: aRunning({ windows: [settled] }), status: ended, toDelete: 30 });
    await none.look();
    await none.look();
    expect(none.watch).not.toHaveProperty('highestKept');
  });
});

describe('a verdict that frees the record', () => {
  const since = { from: 625_000, to: 1_000_000, rows: 30, countedAt: sentAt + minutes(2) };
  const kept = (upTo: number) => (upTo < 1_000_000 ? 10 : 40);
  const windowOf = (world: ReturnType<typeof aWorld>) =>
    (world.ledger.stored.get(anIndex) as { lastVerdict?: { window?: object } }).lastVerdict?.window;
  const running = () => aRunning({ lastVerdict: aVerdict() });

  test('keeps the rows from a quarter of the way to the run’s start', async () => {
    const world = aWorld({ record: running(), status: ended, kept });
    await world.look();
    expect(windowOf(world)).toEqual(since);
  });

  test.each<[string, (world: ReturnType<typeof aWorld>) => void]>([
    ['the server does not answer', ({ server }) => (server.counts = { fails: 'timeout' })],
    ['rows are deleted in between', ({ server }) => (server.total = 39)],
  ])('keeps the previous window if %s', async (_, happens) => {
    const world = aWorld({ record: running(), status: ended, kept });
    world.server.before[4] = () => happens(world);
    expect(await world.look()).toMatchObject({ entry: { outcome: 'truncated' } });
    expect(windowOf(world)).toEqual(aVerdict().window);
  });

  test('is not written by a look that fails', async () => {
    const world = aWorld({ record: running(), status: ended, kept });
    world.server.before[4] = () => (world.server.counts = new TypeError('a defect'));
    await expect(world.look()).rejects.toThrow('a defect');
    expect(world.state()).toBe('running');
  });
});
