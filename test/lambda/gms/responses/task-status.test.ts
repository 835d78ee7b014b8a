import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Unreadable } from '../../../../lambda/gms/responses/server-text.ts';
import { readTaskStatus } from '../../../../lambda/gms/responses/task-status.ts';
import { holds } from '../../../properties.ts';

const counters = {
  total: 134517,
  updated: 0,
  created: 0,
  deleted: 45000,
  batches: 9,
  version_conflicts: 2,
  noops: 0,
  retries: { bulk: 1, search: 3 },
  throttled_millis: 0,
  requests_per_second: -1.0,
  throttled_until_millis: 0,
};
const read = { total: 134517, updated: 0, created: 0, deleted: 45000, noops: 0, versionConflicts: 2 };
const task = (status: unknown, more: object = {}) => ({
  completed: false,
  taskId: 'qhxGdzytQS-pQek8CwBCZg:533446',
  runTimeNanos: 12_000_000_000,
  ...(status !== undefined && { status }),
  ...more,
});
const text = JSON.stringify;
const found = (expected: object, completed = false) => ({
  kind: 'found',
  completed,
  runTimeMillis: 12_000,
  counters: expected,
});

describe('the status of a task', () => {
  test.each([
    ['real servers: JSON in a string in JSON in a string in JSON', { value: text(task(text(counters))) }],
    ['the specification: an object', task(counters)],
    ['an object with the counters in a string', task(text(counters))],
    ['a value in a value', { value: text({ value: task(counters) }) }],
    ['counters escaped once more', { value: text(task(text(text(counters)))) }],
    ['counters in a value in the status', task({ value: text(counters) })],
    ['counters in a value that is an object', { value: task({ value: counters }) }],
    ['unknown fields', { value: text(task(text({ ...counters, new: [1] }), { headers: {} })) }],
  ])('is read in the form of %s', (_, answer) => {
    expect(readTaskStatus(answer)).toEqual(found(read));
  });

  test('keeps counters from 0 and omits invalid ones', () => {
    const status = { total: '12', deleted: 0, created: -1, updated: 1.5, batches: null, noops: 'many', retries: 7 };
    expect(readTaskStatus(task(status))).toEqual(found({ total: 12, deleted: 0 }));
  });

  test.each([
    ['missing', undefined, {}],
    ['null', null, {}],
    ['an array', [1], {}],
    ['some words', 'running', {}],
    ['an empty string', '', {}],
    [
      'the text form of the Java class',
      'BulkIndexByScrollResponse[sliceId=null,updated=0,created=0,deleted=5,batches=1,versionConflicts=3,noops=0,retries=0,throttledUntil=0s]',
      { updated: 0, created: 0, deleted: 5, noops: 0, versionConflicts: 3 },
    ],
  ])('is found with a status that is %s', (_, status, expected) => {
    expect(readTaskStatus({ value: text(task(status, { completed: true })) })).toEqual(found(expected, true));
  });

  test.each(["1'600", '1,600', '1 600', '1_600'])('has no counter in %s', (number) => {
    const status = `BulkIndexByScrollResponse[deleted=5,total=${number},updated=0]`;
    expect(readTaskStatus(task(status))).toEqual(found({ deleted: 5, updated: 0 }));
    expect(readTaskStatus(task({ deleted: 5, total: number }))).toEqual(found({ deleted: 5 }));
  });

  test("gives a sliced task's own counters, not the sum of its slices", () => {
    const status = { ...counters, deleted: 100, slices: [{ slice_id: 0, deleted: 100 }, null, { error: 'x' }] };
    expect(readTaskStatus(task(text(status)))).toEqual(found({ ...read, deleted: 100 }));
  });

  test('shows that a task was cancelled', () => {
    expect(readTaskStatus(task({ deleted: 1, canceled: 'by user request' }))).toEqual(
      found({ deleted: 1, cancelled: true }),
    );
  });

  test('reads a run time written as text, and may lack one', () => {
    expect(readTaskStatus({ completed: true, runTimeNanos: '1179458' })).toMatchObject({ runTimeMillis: 1.179458 });
    expect(readTaskStatus({ completed: 'true', runTimeNanos: 'soon' })).toEqual({
      kind: 'found',
      completed: true,
      counters: {},
    });
  });

  test.each([
    ['wrapped', { value: text({ error: 'Could not get task status for XIAMx5WySACgg9XxBgaKmw:12587' }) }],
    ['bare', { error: 'Could not get task status for XIAMx5WySACgg9XxBgaKmw:12587' }],
  ])('that is an error means that the task has vanished (%s)', (_, answer) => {
    expect(readTaskStatus(answer)).toEqual({ kind: 'vanished' });
  });

  test.each([
    ['a sentence', { value: 'please only set one' }],
    ['an empty value', { value: '' }],
    ['a task without completed', task(counters, { completed: undefined })],
    ['an array', [task(counters)]],
    ['nothing', null],
    ['a number', 7],
    ['JSON that breaks off', '{"completed":true'],
  ])('cannot be read from %s', (_, answer) => {
    expect(readTaskStatus(answer)).toBeInstanceOf(Unreadable);
  });

  test('does not throw on any JSON, bare or wrapped', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const nearly = fc.record(
      { completed: fc.anything(), status: value, error: value, runTimeNanos: value },
      { requiredKeys: [] },
    );
    holds(
      fc.property(fc.oneof(value, nearly), (answer) => {
        for (const shape of [answer, { value: answer }, { value: JSON.stringify(answer) }]) {
          expect(() => readTaskStatus(shape)).not.toThrow();
        }
      }),
    );
  });
});
