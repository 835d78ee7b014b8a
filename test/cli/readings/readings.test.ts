import { describe, expect, test } from 'vitest';
import type { ServerProfile } from '../../../cli/embedded-service/server-profile.ts';
import { runAgainst } from './run.ts';

/**
 * Whole runs against every server that the specification describes: what it leaves open is a switch of the embedded
 * service, and each combination that matters is a row. Every index has 5,000 old and 5,000 young rows.
 */

const taskIds = ['value', 'json', 'text'] as const;
const statuses = ['object', 'string', 'value-string', 'value-object'] as const;

/** What a server does with the rows, and what its counters say about it. */
const deletes: Partial<ServerProfile> = { reindexes: false, counters: 'deleted' };
const reindexes: Partial<ServerProfile> = { reindexes: true, counters: 'created' };
const ways = [
  { way: 'it deletes', does: deletes, isReindex: false },
  { way: 'it reindexes', does: reindexes, isReindex: true },
  {
    way: 'it reindexes and counts deleted rows',
    does: { ...reindexes, counters: 'deleted' as const },
    isReindex: false,
  },
  { way: 'it deletes and counts created rows', does: { ...deletes, counters: 'created' as const }, isReindex: true },
];
const eitherWay = ways.slice(0, 2);

const truncated = { outcome: 'truncated', result: 'ok', rowsBefore: 10_000, rowsAfter: 5000, record: 'idle' };

describe('a server that the specification describes is truncated, and the count is verified, in 11 requests', () => {
  // How a task is named and how its status is written do not depend on each other, nor on what it does.
  const shapes = [
    ...statuses.map((status) => ({ taskId: 'value' as const, status })),
    ...taskIds.slice(1).map((taskId) => ({ taskId, status: 'value-string' as const })),
  ];
  const rows = shapes.flatMap((shape) => eitherWay.map((way) => ({ ...shape, ...way })));
  test.each(rows)('task id as $taskId, status as $status, $way', async ({ taskId, status, does, isReindex }) => {
    const ran = await runAgainst({ taskId, status, ...does });
    expect(ran).toMatchObject({ ...truncated, reindexes: isReindex, requests: 11 });
  });

  test.each(ways.slice(2))('a counter counts as said, not as done: $way', async ({ does, isReindex }) => {
    expect(await runAgainst(does)).toMatchObject({ ...truncated, reindexes: isReindex, requests: 11 });
  });

  test.each(ways)('no token is needed: $way', async ({ does }) => {
    expect(await runAgainst({ ...does, needsToken: false })).toMatchObject({ ...truncated, requests: 11 });
  });

  test.each(['', '/gms', '/api/gms'])('it is at %s/operations alone', async (prefix) => {
    expect(await runAgainst({ prefixes: [prefix] }, { prefix })).toMatchObject({ ...truncated, requests: 11 });
  });

  test.each(ways)('sizes are told, which takes two requests more: $way', async ({ does }) => {
    expect(await runAgainst({ ...does, hasSizes: true })).toMatchObject({ ...truncated, requests: 13 });
  });

  test.each(eitherWay)('no row is young: $way', async ({ does }) => {
    const ran = await runAgainst(does, { young: 0, policy: { maxDeletePercent: 100 } });
    expect(ran).toMatchObject({ ...truncated, rowsBefore: 5000, rowsAfter: 0 });
  });
});

describe('a server that refuses a field which the specification does not name is asked without it from then on', () => {
  const rows = ([400, 422] as const).flatMap((refusesFields) => eitherWay.map((way) => ({ refusesFields, ...way })));
  test.each(rows)('$refusesFields, $way', async ({ refusesFields, does, isReindex }) => {
    const ran = await runAgainst({ refusesFields, ...does });
    // With the field, without it, and with it again; never after that.
    expect(ran).toMatchObject({ ...truncated, reindexes: isReindex, requests: 14, withForceField: 2 });
  });
});

test.each([
  [5010, 'stay where rows are deleted in place', deletes, false],
  [5000, 'are in the old index alone after a reindex, and the entry says so', reindexes, true],
] as const)(
  'rows that are written while the truncation runs, %i of them: they %s',
  async (rowsAfter, _, does, isReindex) => {
    expect(await runAgainst(does, { written: 10 })).toMatchObject({ ...truncated, rowsAfter, reindexes: isReindex });
  },
);

const missing = { outcome: 'rows-missing', cause: 'missing', result: 'failed', record: 'quarantined' };
const hidden = { outcome: 'unknown', cause: 'not-visible', result: 'failed', record: 'quarantined' };

describe('rows that should have stayed and are gone', () => {
  test.each(statuses)('a reindex of half the rows: status as %s', async (status) => {
    const ran = await runAgainst({ status, ...reindexes, reindexesHalf: true });
    expect(ran).toMatchObject({ ...missing, rowsAfter: 2500, entry: { rowsMissing: 2500 }, requests: 16 });
  });

  test('a reindex of half the rows whose status counts deleted ones', async () => {
    const ran = await runAgainst({ ...reindexes, counters: 'deleted', reindexesHalf: true });
    expect(ran).toMatchObject({ ...missing, rowsAfter: 2500, entry: { rowsMissing: 2500 } });
  });

  // Where a status says that every row was written, those that are not counted may only not be visible.
  test.each(ways)('101 rows, which is more than 2 %%: $way', async ({ does, isReindex }) => {
    const ran = await runAgainst({ ...does, losesRows: 101 });
    const told = isReindex
      ? { ...hidden, entry: { rowsNotVisible: 101 } }
      : { ...missing, entry: { rowsMissing: 101 } };
    expect(ran).toMatchObject({ ...told, rowsAfter: 4899, requests: 16 });
  });

  test.each(ways)('100 rows, as are deleted on ordinary days: $way', async ({ does, isReindex }) => {
    const ran = await runAgainst({ ...does, losesRows: 100 });
    const entry = isReindex ? { rowsNotVisible: 100 } : { rowsMissing: 100 };
    expect(ran).toMatchObject({ ...truncated, rowsAfter: 4900, entry });
  });
});

const unknown = { outcome: 'unknown', cause: 'unproven', result: 'failed', record: 'quarantined', reindexes: true };

test('a status that says that half of the rows were written proves nothing, though every row is there', async () => {
  const ran = await runAgainst({ ...deletes, counters: 'created', reindexesHalf: true });
  expect(ran).toMatchObject({ ...unknown, rowsAfter: 5000 });
});

describe('a server that tells no status, and announces a reindex', () => {
  test.each(eitherWay)('nobody has seen the end: $way', async ({ does }) => {
    expect(await runAgainst({ status: 'none', ...does })).toMatchObject({ ...unknown, rowsAfter: 5000 });
  });

  test.each([1, 100, 4000])('%d rows fewer are a loss', async (losesRows) => {
    const ran = await runAgainst({ status: 'none', ...reindexes, losesRows });
    expect(ran).toMatchObject({ ...missing, rowsAfter: 5000 - losesRows, entry: { rowsMissing: losesRows } });
  });

  test('half the rows are a loss', async () => {
    const ran = await runAgainst({ status: 'none', ...reindexes, reindexesHalf: true });
    expect(ran).toMatchObject({ ...missing, rowsAfter: 2500 });
  });
});

describe('nothing is sent where there is little to gain, whatever a dry run says about how it would delete', () => {
  const readings: Partial<ServerProfile>[] = [deletes, reindexes, { refusesFields: 400 }, { refusesFields: 422 }];

  test.each(readings)('less than the threshold: %o', async (reading) => {
    const ran = await runAgainst(reading, { old: 100 });
    expect(ran).toMatchObject({ outcome: 'below-threshold', result: 'ok', rowsAfter: 5100, record: undefined });
  });

  test.each(readings)('a policy that refuses a reindex: %o', async (reading) => {
    const ran = await runAgainst(reading, { policy: { refuseReindex: true } });
    expect(ran).toMatchObject({ outcome: 'failed', cause: 'guard', rowsAfter: 10_000, record: undefined });
  });

  test.each(readings)('the address is wrong: %o', async (reading) => {
    const ran = await runAgainst({ ...reading, prefixes: [''] }, { prefix: '/gms' });
    expect(ran).toMatchObject({ outcome: 'failed', cause: 'server', rowsAfter: 10_000, record: undefined });
  });
});

test.each([0, 1, 500, 999])(
  'a policy of exactly minRetentionDays passes %d ms after a whole second',
  async (offset) => {
    const ran = await runAgainst({}, { offset, policy: { retentionDays: 7, maxDeletePercent: 100 } });
    expect(ran).toMatchObject({ outcome: 'truncated', rowsAfter: 0 });
  },
);
