import { describe, expect, test } from 'vitest';
import type { Reading } from '../../../cli/operations-service/reading.ts';
import { runAgainst } from './run.ts';

/**
 * Whole runs against every server that the specification describes: what it leaves open is a switch of the embedded
 * service, and each combination that matters is a row.
 */

const taskIds = ['value', 'json', 'text'] as const;
const statuses = ['object', 'string', 'value-string', 'value-object'] as const;
const counters = ['deleted', 'created'] as const;

/** A server that copies says so by its counters. */
const does = (counter: (typeof counters)[number]): Partial<Reading> => ({
  counters: counter,
  copies: counter === 'created',
});

describe('a server that the specification describes is truncated, and the count is verified', () => {
  const shapes = taskIds.flatMap((taskId) =>
    statuses.flatMap((status) => counters.map((counter) => ({ taskId, status, counter }))),
  );
  test.each(shapes)('task id as $taskId, status as $status, counters say $counter', async ({ counter, ...shape }) => {
    const ran = await runAgainst({ ...shape, ...does(counter) });
    expect(ran).toMatchObject({ outcome: 'truncated', rowsBefore: 10_000, rowsAfter: 5000, record: 'idle' });
    expect(ran.copies).toBe(counter === 'created');
    expect(ran.requests).toBeLessThanOrEqual(13);
  });
});

describe('what the specification does not name may be refused', () => {
  const refusing = ([400, 422] as const).flatMap((refusesFields) =>
    counters.flatMap((counter) => taskIds.map((taskId) => ({ refusesFields, counter, taskId }))),
  );
  test.each(refusing)('$refusesFields for a field, counters say $counter, task id as $taskId', async (given) => {
    const { refusesFields, taskId, counter } = given;
    const ran = await runAgainst({ refusesFields, taskId, ...does(counter) });
    expect(ran).toMatchObject({ outcome: 'truncated', rowsAfter: 5000, state: { refusesForceField: true } });
    expect(ran.requests).toBeLessThanOrEqual(16);
  });

  test.each([true, false])('the token is needed: %s', async (needsToken) => {
    expect(await runAgainst({ needsToken })).toMatchObject({ outcome: 'truncated', rowsAfter: 5000 });
  });

  test.each([true, false])('sizes are told: %s', async (hasSizes) => {
    expect(await runAgainst({ hasSizes })).toMatchObject({ outcome: 'truncated', rowsAfter: 5000 });
  });
});

describe('rows that should have stayed and are gone', () => {
  const shapes = statuses.flatMap((status) => taskIds.map((taskId) => ({ status, taskId })));
  test.each(shapes)('a copy of half the rows: status as $status, task id as $taskId', async (shape) => {
    const ran = await runAgainst({ ...shape, ...does('created'), copiesHalf: true });
    expect(ran).toMatchObject({ outcome: 'rows-missing', cause: 'missing', rowsAfter: 2500, record: 'quarantined' });
    expect(ran.state.breaker).toMatchObject({ kind: 'stopped', by: 'breaker' });
  });

  test.each(counters)('more than 2 %% and 10: counters say %s', async (counter) => {
    const ran = await runAgainst({ ...does(counter), losesRows: 101 });
    expect(ran).toMatchObject({ outcome: 'rows-missing', rowsAfter: 4899, record: 'quarantined' });
  });

  test.each(counters)('a few, which are deleted on ordinary days: counters say %s', async (counter) => {
    const ran = await runAgainst({ ...does(counter), losesRows: 3 });
    expect(ran).toMatchObject({ outcome: 'truncated', rowsAfter: 4997, record: 'idle' });
  });
});

describe('a server that tells no status', () => {
  test.each(taskIds)('a copy is announced, so nobody has seen its end: task id as %s', async (taskId) => {
    const ran = await runAgainst({ taskId, status: 'none', ...does('created') });
    expect(ran).toMatchObject({ outcome: 'unknown', cause: 'unsettled', rowsAfter: 5000, record: 'quarantined' });
  });

  test.each([1, 4000])('%d rows fewer are a loss', async (losesRows) => {
    const ran = await runAgainst({ status: 'none', ...does('created'), losesRows });
    expect(ran).toMatchObject({ outcome: 'rows-missing', record: 'quarantined' });
  });
});

describe('nothing is sent where there is little to gain, whatever a dry run says about how it would delete', () => {
  const readings: Partial<Reading>[] = [{}, does('created'), { refusesFields: 400 }, { refusesFields: 422 }];
  test.each(readings)('no row is old: %o', async (reading) => {
    const ran = await runAgainst(reading, { old: 0 });
    expect(ran).toMatchObject({ outcome: 'nothing-to-delete', rowsAfter: 5000, record: undefined });
  });

  test.each(readings)('less than the threshold: %o', async (reading) => {
    const ran = await runAgainst(reading, { old: 100 });
    expect(ran).toMatchObject({ outcome: 'below-threshold', rowsAfter: 5100, record: undefined });
  });

  test.each(readings)('a policy that refuses a reindex: %o', async (reading) => {
    const ran = await runAgainst(reading, { policy: { refuseReindex: true } });
    expect(ran).toMatchObject({ outcome: 'failed', cause: 'guard', rowsAfter: 10_000, record: undefined });
  });
});

test.each([0, 1, 500, 999])(
  'a policy of exactly minRetentionDays passes %d ms after a whole second',
  async (offset) => {
    const ran = await runAgainst({}, { offset, policy: { retentionDays: 7, maxDeletePercent: 100 } });
    expect(ran).toMatchObject({ outcome: 'truncated', rowsAfter: 0 });
  },
);
