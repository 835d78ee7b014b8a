import { describe, expect, test } from 'vitest';
import type { TaskCounters } from '../../../lambda/operations/operations.ts';
import type { OwnTask } from '../../../lambda/truncation/own-task.ts';
import {
  advances,
  type End,
  fold,
  isMoving,
  isStill,
  longestStillMillis,
  mayEnd,
  type Sighting,
  unseen,
  type Watch,
  type Watched,
} from '../../../lambda/truncation/watch.ts';

const minutes = (count: number) => count * 60_000;
const tenMinutes = 600_000;
const twoHours = minutes(120);

const aWatch = (fields: Partial<Watch> = {}): Watch => ({
  attemptId: 'attempt-1',
  startedAt: 0,
  succeededAt: 0,
  lastLookAt: 0,
  nextLookAt: 5000,
  looks: 0,
  ...fields,
});
const aTask = (counters: TaskCounters = {}, more: Partial<OwnTask> = {}): OwnTask => ({
  completed: false,
  counters,
  ...more,
});
const seen = (at: number, fields: Partial<Sighting> = {}): Sighting => ({
  at,
  seenAt: at + 10,
  realAt: at + 20,
  task: undefined,
  ...fields,
});
const deletes: Watched = {
  mayHaveCopied: false,
  rowsToDelete: 1000,
  rowsKept: 400,
  judgeableAt: 0,
  longestStill: twoHours,
  isLastLook: false,
};
const copies: Watched = { ...deletes, mayHaveCopied: true };

/** Folds sightings one after another. */
function folded(sightings: Sighting[], watched = deletes, from = aWatch()) {
  let watch = from;
  let end: End | undefined;
  for (const sighting of sightings) ({ watch, end } = fold(watch, sighting, watched));
  return { watch, end };
}

describe('a movement', () => {
  test.each<[string, Partial<Sighting>, Partial<Sighting>, boolean]>([
    ['a new low of rows to delete', { toDelete: 10 }, { toDelete: 9 }, true],
    ['more rows to delete', { toDelete: 10 }, { toDelete: 11 }, false],
    ['a new high of kept rows', { kept: 10 }, { kept: 11 }, true],
    ['kept rows that shrink a little', { kept: 1000 }, { kept: 990 }, false],
    ['a new high of a counter', { task: aTask({ deleted: 10 }) }, { task: aTask({ deleted: 11 }) }, true],
    ['a counter that starts again below', { task: aTask({ deleted: 10 }) }, { task: aTask({ deleted: 3 }) }, false],
    ['the same again', { toDelete: 5, kept: 5 }, { toDelete: 5, kept: 5 }, false],
    ['a count that is seen for the first time', { task: aTask({ deleted: 5 }) }, { toDelete: 7 }, true],
  ])('%s: %s', (_, first, next, moves) => {
    const { watch } = folded([seen(1000, first), seen(2000, next)]);
    expect(watch.movedAt).toBe(moves ? 2010 : 1010);
    expect(isMoving({ ...watch, looks: 2 })).toBe(moves);
  });

  test('is counted from the first sighting, which is not a movement itself', () => {
    const { watch } = folded([seen(1000, { toDelete: 5 })]);
    expect(watch.movedAt).toBe(1010);
    expect(isMoving({ ...watch, looks: 1 })).toBe(false);
  });

  test('is measured against the best values of the run: rows that come and go are no movement', () => {
    const { watch } = folded([100, 110, 100, 120, 100].map((toDelete, at) => seen(at, { toDelete })));
    expect(watch).toMatchObject({ movedAt: 10, lowestToDelete: 100 });
  });

  test('is counted from zero again after the alias moved', () => {
    const looks = [500, 0, 100, 200].map((kept, at) => seen(minutes(at), { kept, toDelete: 0 }));
    const { watch } = folded(looks, copies);
    expect(watch).toMatchObject({ movedAt: minutes(3) + 10, highestKept: 200 });
    expect(folded([seen(minutes(9), { kept: 199, toDelete: 0 })], copies, watch).watch.movedAt).toBe(minutes(3) + 10);
  });

  test('is seen as a moved alias by half of the rows, if they are few', () => {
    const looks = [8, 3, 4].map((kept, at) => seen(minutes(at), { kept, toDelete: 0 }));
    expect(folded(looks, copies).watch).toMatchObject({ highestKept: 4, movedAt: minutes(2) + 10 });
    const half = [8, 4, 5].map((kept, at) => seen(minutes(at), { kept, toDelete: 0 }));
    expect(folded(half, copies).watch).toMatchObject({ highestKept: 8, movedAt: 10 });
    // Of many rows: only a difference that is too large for ordinary losses counts.
    const many = [1000, 979, 980].map((kept, at) => seen(minutes(at), { kept, toDelete: 0 }));
    expect(folded(many, copies).watch).toMatchObject({ highestKept: 980, movedAt: minutes(2) + 10 });
  });

  test('is not recorded for values that were not seen', () => {
    const { watch } = folded([seen(1000), seen(2000, { toDelete: 5 })]);
    for (const value of ['highestKept', 'highestCounter']) expect(watch).not.toHaveProperty(value);
    expect(folded([seen(1000, { kept: 5 })]).watch).not.toHaveProperty('lowestToDelete');
  });

  test('of a run is recorded for kept rows and counters that rose, but not for the first sighting', () => {
    const risen = (...looks: Partial<Sighting>[]) =>
      folded(
        looks.map((look, at) => seen(at, look)),
        copies,
      ).watch.rose;
    expect(risen({ kept: 5 }, { kept: 5, toDelete: 1 }, { toDelete: 0 })).toBeUndefined();
    expect(risen({ kept: 5 }, { kept: 6 }, { kept: 6 })).toEqual({ kept: true });
    expect(risen({ kept: 500 }, { kept: 0 })).toBeUndefined();
    const task = (created: number) => aTask({ created });
    expect(risen({ task: task(5) }, { task: task(6) })).toEqual({ counter: true });
    expect(risen({ kept: 5 }, { kept: 6, task: task(5) }, { task: task(6) })).toEqual({ kept: true, counter: true });
  });

  test('is created and updated rows in the counters of a copy', () => {
    const task = (created: number, updated: number) => aTask({ created, updated, total: 400 }, { does: 'copy' });
    const { watch } = folded([seen(0, { task: task(1, 2) }), seen(5, { task: task(2, 2) })], copies);
    expect(watch).toMatchObject({ highestCounter: 4, movedAt: 15, progress: { done: 4, total: 400 } });
    // Sent as a delete, it copies anyway.
    expect(folded([seen(0, { task: task(1, 2) })], deletes).watch.highestCounter).toBe(3);
  });
});

describe('stillness', () => {
  test.each([
    { run: 20, quiet: 9, still: false, because: 'ten minutes are the least' },
    { run: 20, quiet: 10, still: true, because: 'ten minutes are the least' },
    { run: 200, quiet: 39, still: false, because: 'a fifth of 200 minutes is 40' },
    { run: 200, quiet: 40, still: true, because: 'a fifth of 200 minutes is 40' },
    { run: 1500, quiet: 119, still: false, because: 'two hours are the most' },
    { run: 1500, quiet: 120, still: true, because: 'two hours are the most' },
  ])('after $run min, $quiet of them without a move: $still ($because)', ({ run, quiet, still }) => {
    const watch = aWatch({ movedAt: minutes(run - quiet) });
    expect(isStill(watch, minutes(run), longestStillMillis(12))).toBe(still);
  });

  test('takes a fifth of the time since the truncation began', () => {
    const startedAt = minutes(10_000);
    const watch = aWatch({ startedAt, movedAt: startedAt + minutes(160) });
    expect(isStill(watch, startedAt + minutes(200), twoHours)).toBe(true);
  });

  test('takes at most half of a run’s time', () => {
    expect([1, 3, 4, 12, 47].map(longestStillMillis)).toEqual([30, 90, 120, 120, 120].map(minutes));
  });

  test('starts again with a status that says running', () => {
    const watch = aWatch({ movedAt: 0, aliveAt: minutes(60) });
    expect(isStill(watch, minutes(60) + minutes(13) - 1, twoHours)).toBe(false);
    expect(isStill(watch, minutes(75), twoHours)).toBe(true);
  });

  test('is never reached before anything was seen', () => {
    expect(isStill(aWatch(), minutes(1500), twoHours)).toBe(false);
  });

  test('does not include time in which nothing could be seen', () => {
    const error = { kind: 'timeout', operation: 'dry-run' } as const;
    const before = aWatch({ movedAt: 1000, lastLookAt: 5000, succeededAt: 5000 });
    expect(unseen(before, error, 8000)).toEqual({ ...before, error, movedAt: 4000 });
    const alive = { ...before, aliveAt: 5000 };
    expect(unseen(alive, error, 8000)).toEqual({ ...alive, error, movedAt: 4000, aliveAt: 8000 });
    expect(unseen(aWatch(), error, 8000)).toEqual({ ...aWatch(), error });
  });
});

describe('what a look makes of a truncation', () => {
  const still = { toDelete: 500 };

  test('without a status: still when nothing has moved for long enough, counted from before the look', () => {
    expect(folded([seen(0, still), seen(minutes(10) + 9, still)]).end).toBeUndefined();
    expect(folded([seen(0, still), seen(minutes(10) + 10, still)]).end).toBe('still');
    expect(folded([seen(0, still), seen(minutes(12), { toDelete: 499 })]).end).toBeUndefined();
  });

  test('without a status, before it may be judged: no end, however still it is', () => {
    const of = { ...deletes, judgeableAt: minutes(30) };
    expect(folded([seen(0, still), seen(minutes(30) - 1, still)], of).end).toBeUndefined();
    expect(folded([seen(0, still), seen(minutes(30), still)], of).end).toBe('still');
  });

  test('with a task that has ended: ended, from when it was first seen', () => {
    const done = { task: aTask({}, { completed: true }) };
    const first = folded([seen(1000, done)]);
    expect(first).toMatchObject({ end: 'task', watch: { completedAt: 1010, completedRealAt: 1020 } });
    expect(folded([seen(5000, done)], deletes, first.watch).watch).toMatchObject({
      completedAt: 1010,
      completedRealAt: 1020,
    });
    // Its record may be gone at the next look.
    expect(folded([seen(5000)], deletes, first.watch).end).toBe('task');
  });

  test('with a running task: not still, and alive', () => {
    const { watch, end } = folded([seen(1000, { task: aTask({ deleted: 5 }, { does: 'delete' }) })]);
    expect(watch).toMatchObject({ aliveAt: 1010, does: 'delete' });
    expect(end).toBeUndefined();
    // What its counters have shown once is not forgotten.
    expect(folded([seen(2000)], deletes, watch).watch.does).toBe('delete');
  });

  test.each([
    ['nothing is left', 0, 1000, 'task'],
    ['1 % is left', 10, 1000, 'task'],
    ['more is left', 11, 1000, undefined],
    ['ten rows of few are left', 10, 11, 'task'],
    ['none of ten is deleted', 10, 10, undefined],
    ['1 % of many is left', 1000, 100_000, 'task'],
    ['more of many is left', 1001, 100_000, undefined],
  ])('with a delete that says running for ten minutes, does not move, and %s', (_, toDelete, rowsToDelete, end) => {
    const of = { ...deletes, rowsToDelete };
    const first = folded([seen(1000, { task: aTask(), toDelete })], of);
    expect(first.end).toBeUndefined();
    const soon = folded([seen(tenMinutes, { task: aTask(), toDelete })], of, first.watch);
    expect(soon.end).toBeUndefined();
    const found = folded([seen(1010 + tenMinutes, { task: aTask(), toDelete })], of, soon.watch);
    expect(found.end).toBe(end);
    if (end === 'task') expect(found.watch).toMatchObject({ completedAt: 1020 + tenMinutes });
  });

  test('with a delete on its last rows: no end while it moves', () => {
    const sightings = [9, 8, 7].map((toDelete, at) =>
      seen(at * tenMinutes, { task: aTask({ deleted: 1000 - toDelete }), toDelete }),
    );
    expect(folded(sightings).end).toBeUndefined();
  });

  test('with a delete with nothing left: no end after another process moves the alias to an index with rows', () => {
    const task = aTask({ deleted: 5 });
    const ended = folded([0, 2 * tenMinutes].map((at) => seen(at, { task, toDelete: 0 })));
    expect(ended.end).toBe('task');
    const again = folded([seen(2 * tenMinutes + 1000, { task, toDelete: 222 })], deletes, ended.watch);
    expect(again.end).toBeUndefined();
    expect(again.watch).not.toHaveProperty('completedAt');
  });

  test.each<[string, Watched, Partial<OwnTask>]>([
    ['sent as a copy', copies, {}],
    ['sent as a copy, with its counters', copies, { does: 'copy' }],
    ['that was sent as a delete', deletes, { does: 'copy' }],
  ])('with a copy %s: no end because a moved alias shows nothing to delete', (_, of, more) => {
    const task = aTask({}, more);
    const looks = [0, 2 * tenMinutes].map((at) => seen(at, { task, toDelete: 0, kept: 0 }));
    expect(folded(looks, of).end).toBeUndefined();
  });

  test('with a task that says running, without movement for two hours: hung', () => {
    const task = aTask({ deleted: 3 });
    expect(folded([seen(0, { task, ...still }), seen(twoHours + 9, { task, ...still })]).end).toBeUndefined();
    expect(folded([seen(0, { task, ...still }), seen(twoHours + 10, { task, ...still })]).end).toBe('hung');
  });

  test.each<[string, Partial<Sighting>[], End | undefined]>([
    ['only one count', [still], 'over'],
    ['rows that still arrive', [{ kept: 3 }, { kept: 4 }], 'over'],
    ['a task that says running and does not move', [{ task: aTask({ deleted: 3 }), ...still }], 'over'],
    ['a task whose counters rose', [{ task: aTask({ deleted: 3 }) }, { task: aTask({ deleted: 4 }) }], undefined],
    ['a task that has ended', [{ task: aTask({}, { completed: true }) }], 'task'],
  ])('at the last look of a run that is to close it, with %s', (_, looks, end) => {
    const last = { ...deletes, isLastLook: true };
    expect(
      folded(
        looks.map((look, at) => seen(at, look)),
        last,
      ).end,
    ).toBe(end);
    expect(folded(looks.map((look, at) => seen(at, look))).end).toBe(end === 'over' ? undefined : end);
  });

  test('forgets why the last look failed', () => {
    const error = { kind: 'timeout', operation: 'dry-run' } as const;
    const { watch } = folded([seen(1000, still)], deletes, aWatch({ error }));
    expect(watch).not.toHaveProperty('error');
    expect(watch).toMatchObject({ succeededAt: 1010 });
  });

  test('does not change the watch that it is given', () => {
    const before = Object.freeze(aWatch());
    folded([seen(0, still)], deletes, before);
    expect(before).toEqual(aWatch());
  });
});

describe('whether everything is counted', () => {
  const { watch } = folded([seen(0, { toDelete: 500, kept: 40 })]);
  const known = (at: number, task?: OwnTask) => ({ at, realAt: at, task });

  test.each<[string, ReturnType<typeof known>, Partial<Watched>, boolean]>([
    ['not while something may still move', known(minutes(9)), {}, false],
    ['when nothing has moved for long enough', known(minutes(11)), {}, true],
    ['when its task has ended', known(1, aTask({}, { completed: true })), {}, true],
    ['not while its task is running', known(minutes(11), aTask()), {}, false],
    ['at the last look of a run', known(1), { isLastLook: true }, true],
  ])('%s', (_, sighting, of, expected) => {
    expect(mayEnd(watch, sighting, { ...deletes, ...of })).toBe(expected);
  });
});

describe('progress', () => {
  const progressOf = (sighting: Partial<Sighting>, watched = deletes) =>
    folded([seen(1000, sighting)], watched).watch.progress;

  test.each<[string, Partial<Sighting>, Watched, { done: number; total: number } | undefined]>([
    ['by the counters of a delete', { task: aTask({ deleted: 30, total: 900 }) }, deletes, { done: 30, total: 900 }],
    ['by counters without a total', { task: aTask({ deleted: 30 }) }, deletes, { done: 30, total: 1000 }],
    [
      'by counters whose total is zero, as at the first search',
      { task: aTask({ total: 0 }) },
      copies,
      { done: 0, total: 400 },
    ],
    ['by rows to delete', { toDelete: 300 }, deletes, { done: 700, total: 1000 }],
    ['by rows to delete that have grown', { toDelete: 1300 }, deletes, { done: 0, total: 1000 }],
    ['by kept rows', { kept: 100, toDelete: 0 }, copies, { done: 100, total: 400 }],
    ['by more kept rows than before', { kept: 500 }, copies, { done: 400, total: 400 }],
    ['by nothing, for a delete', { kept: 5 }, deletes, undefined],
    ['by nothing, for a copy', { toDelete: 5 }, copies, undefined],
    [
      'of a sliced task by rows to delete, because its counters say that all is done',
      { task: aTask({ deleted: 333, total: 333, sliced: true }), toDelete: 900 },
      deletes,
      { done: 100, total: 1000 },
    ],
    [
      'of a sliced task that has ended by its counters',
      { task: aTask({ deleted: 1000, total: 1000, sliced: true }, { completed: true }) },
      deletes,
      { done: 1000, total: 1000 },
    ],
  ])('%s', (_, sighting, watched, expected) => {
    expect(progressOf(sighting, watched)).toEqual(expected && { ...expected, at: 1000 });
  });

  test('keeps the look before, for the rate since then, unless it goes back', () => {
    const looks = [10, 30, 20].map((deleted, at) => seen(at, { task: aTask({ deleted, total: 90 }) }));
    expect(folded(looks.slice(0, 2)).watch.progress).toEqual({
      done: 30,
      total: 90,
      at: 1,
      previous: { done: 10, at: 0 },
    });
    expect(folded(looks).watch.progress).toEqual({ done: 20, total: 90, at: 2 });
    const standing = [10, 10].map((deleted, at) => seen(at, { task: aTask({ deleted, total: 90 }) }));
    expect(folded(standing).watch.progress).toMatchObject({ previous: { done: 10, at: 0 } });
  });

  test('is kept if a look shows none', () => {
    const { watch } = folded([seen(0, { toDelete: 900 }), seen(5, { kept: 3 })]);
    expect(watch.progress).toEqual({ done: 100, total: 1000, at: 0 });
  });
});

describe('whether counters alone show that a task moves', () => {
  test.each<[string, Partial<Watch>, TaskCounters, boolean]>([
    ['the first counter', {}, { deleted: 0 }, true],
    ['a higher one', { highestCounter: 5 }, { deleted: 6 }, true],
    ['the same', { highestCounter: 5 }, { deleted: 5 }, false],
    ['none, after one', { highestCounter: 5 }, {}, false],
    ['those of a sliced task', { highestCounter: 5 }, { deleted: 6, sliced: true }, false],
  ])('%s: %s', (_, fields, counters, expected) => {
    expect(advances(aWatch(fields), aTask(counters))).toBe(expected);
  });
});
