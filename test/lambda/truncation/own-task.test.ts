import { describe, expect, test } from 'vitest';
import type { AttemptStrategy } from '../../../lambda/facts/strategy.ts';
import type { TaskCounters, TaskStatus } from '../../../lambda/operations/operations.ts';
import { ownTask, rowsDone } from '../../../lambda/truncation/own-task.ts';
import { aRunning } from '../../support/records.ts';

const sentAt = 1_700_000_000_000;
const rowsToDelete = 5000;
const rowsTotal = 6000;

function running(strategy: AttemptStrategy = 'delete-by-query', baseline = { rowsTotal, rowsToDelete }) {
  const record = aRunning();
  return { ...record, attempt: { ...record.attempt, strategy, sendingSince: sentAt, baseline } };
}
const found = (counters: TaskCounters, more: object = {}): TaskStatus => ({
  kind: 'found',
  completed: false,
  counters,
  ...more,
});

describe('whose a task status is', () => {
  const isOurs = (status: TaskStatus, record = running(), now = sentAt + 60_000) =>
    ownTask(status, record, now) !== undefined;

  test('a vanished one is not ours', () => {
    expect(isOurs({ kind: 'vanished' })).toBe(false);
  });

  test.each([
    [120_000, true],
    [120_001, false],
  ])('one that has run for %i ms, a minute after the call: %s', (runTimeMillis, ours) => {
    expect(isOurs(found({ total: rowsToDelete }, { runTimeMillis }))).toBe(ours);
  });

  test('without a run time, or without counters, it may be ours', () => {
    expect(isOurs(found({ total: rowsToDelete, deleted: 3 }))).toBe(true);
    expect(isOurs(found({}))).toBe(true);
    expect(isOurs(found({ total: 0 }))).toBe(true);
  });

  test.each([
    [4950, true],
    [4949, false],
    [5050, true],
    [5051, false],
  ])('of a delete with %i rows in all: %s', (total, ours) => {
    expect(isOurs(found({ total }))).toBe(ours);
  });

  test.each([
    [90, true],
    [89, false],
    [110, true],
    [111, false],
  ])('of a small delete (100 rows) with %i rows in all: %s', (total, ours) => {
    const record = running('delete-by-query', { rowsTotal: 200, rowsToDelete: 100 });
    expect(isOurs(found({ total }), record)).toBe(ours);
  });

  test('the parent of slices may have a smaller total until it has ended', () => {
    expect(isOurs(found({ total: 1250, deleted: 1250, sliced: true }))).toBe(true);
    expect(isOurs(found({ total: 1250, deleted: 1250, sliced: true }, { completed: true }))).toBe(false);
    expect(isOurs(found({ total: 5051, sliced: true }))).toBe(false);
  });

  test.each([
    [6060, true],
    [6061, false],
    [1, true],
  ])('of a reindex with %i rows in all: %s', (total, ours) => {
    expect(isOurs(found({ total, created: 1 }), running('reindex'))).toBe(ours);
    expect(isOurs(found({ total, created: 1 }), running('delete-by-query'))).toBe(ours);
  });

  test('one that copies and deletes is not ours, nor one that deletes after a reindex was sent', () => {
    expect(isOurs(found({ created: 1, deleted: 1 }))).toBe(false);
    expect(isOurs(found({ updated: 1, deleted: 1 }))).toBe(false);
    expect(isOurs(found({ deleted: 1 }), running('reindex'))).toBe(false);
    expect(isOurs(found({ deleted: 1 }))).toBe(true);
  });

  test('shows what it does by its counters, not by what was sent', () => {
    expect(ownTask(found({ total: 5000, deleted: 7 }, { runTimeMillis: 5 }), running(), sentAt)).toEqual({
      completed: false,
      counters: { total: 5000, deleted: 7 },
      does: 'delete',
      runTimeMillis: 5,
    });
    expect(ownTask(found({ updated: 2 }), running(), sentAt)).toMatchObject({ does: 'copy' });
    expect(ownTask(found({ created: 0 }), running('reindex'), sentAt)).not.toHaveProperty('does');
    expect(ownTask(found({ deleted: 0 }), running(), sentAt)).not.toHaveProperty('does');
    expect(ownTask(found({}), running(), sentAt)).not.toHaveProperty('runTimeMillis');
  });

  test('counts deleted, created and updated rows as done', () => {
    expect(rowsDone({ completed: false, counters: { deleted: 3 } })).toBe(3);
    expect(rowsDone({ completed: false, counters: { created: 3, updated: 4 } })).toBe(7);
    expect(rowsDone({ completed: false, counters: {} })).toBe(0);
  });
});
