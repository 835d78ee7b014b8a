import { describe, expect, test } from 'vitest';
import type { AttemptWindow, Role } from '../../../lambda/ledger/record.ts';
import type { DryRun, TruncateFields } from '../../../lambda/operations/operations.ts';
import {
  type Bounds,
  boundsOf,
  countWindows,
  isMissing,
  keptOf,
  physicalIndex,
  settledUntil,
  shortfallOf,
  windowOf,
} from '../../../lambda/truncation/windows.ts';

const hour = 3_600_000;
const day = 24 * hour;
const startMillis = 100 * day;
const cutoffMillis = 70 * day;

describe('the windows of an attempt', () => {
  test('of a delete by query: from the cutoff to the run’s start', () => {
    const span = { strategy: 'delete-by-query', cutoffMillis, startMillis } as const;
    expect(boundsOf(span, startMillis + hour)).toEqual([{ role: 'kept', from: cutoffMillis, to: startMillis }]);
  });

  test.each([cutoffMillis, cutoffMillis - 1, undefined])(
    'of a policy cutoff that is not younger (%s): one window',
    (policyCutoffMillis) => {
      const span = { strategy: 'delete-by-query', cutoffMillis, policyCutoffMillis, startMillis } as const;
      expect(boundsOf(span, startMillis)).toHaveLength(1);
    },
  );

  test('of a bite: the backlog for later bites, and separately the young rows', () => {
    const policyCutoffMillis = cutoffMillis + 5;
    const span = { strategy: 'delete-by-query', cutoffMillis, policyCutoffMillis, startMillis } as const;
    expect(boundsOf(span, startMillis)).toEqual([
      { role: 'backlog', from: cutoffMillis, to: policyCutoffMillis },
      { role: 'young', from: policyCutoffMillis, to: startMillis },
    ]);
  });

  test.each(['reindex', 'unknown'] as const)(
    'of a %s: to two days before the start, to the start, to now',
    (strategy) => {
      const now = startMillis + hour;
      expect(boundsOf({ strategy, cutoffMillis, startMillis }, now)).toEqual([
        { role: 'settled', from: cutoffMillis, to: startMillis - 2 * day },
        { role: 'kept', from: cutoffMillis, to: startMillis },
        { role: 'counted', from: cutoffMillis, to: now },
      ]);
    },
  );

  test('of a reindex end at the run’s start at least, even if the clock lags', () => {
    const span = { strategy: 'reindex', cutoffMillis, startMillis } as const;
    expect(boundsOf(span, startMillis - hour)).toContainEqual({
      role: 'counted',
      from: cutoffMillis,
      to: startMillis,
    });
  });

  test('of a short retention are settled half-way', () => {
    expect(settledUntil(startMillis - 3 * day, startMillis)).toBe(startMillis - 1.5 * day);
    expect(settledUntil(startMillis - 4 * day, startMillis)).toBe(startMillis - 2 * day);
    expect(settledUntil(startMillis - 5 * day, startMillis)).toBe(startMillis - 2 * day);
  });
});

const fields: TruncateFields = { entityType: 'dataset', aspect: 'operation', endTimeMillis: 100, batchSize: 5 };
const two: Bounds[] = [
  { role: 'backlog', from: 100, to: 150 },
  { role: 'young', from: 150, to: 200 },
];
const toStart: Bounds[] = [{ role: 'kept', from: 100, to: 200 }];

/** A server that answers each moment's counts from a list, repeating the last one forever. */
function server(counts: Record<number, number[]>, rowsTotal = 10_000) {
  const asked: number[] = [];
  const sent: TruncateFields[] = [];
  const ask = async (given: TruncateFields): Promise<DryRun> => {
    asked.push(given.endTimeMillis);
    sent.push(given);
    const left = counts[given.endTimeMillis] ?? [0];
    const rowsToDelete = (left.length > 1 ? left.shift() : left[0]) ?? 0;
    return { rowsToDelete, rowsTotal, strategy: 'delete-by-query' };
  };
  return { ask, asked, sent };
}

describe('counting windows', () => {
  test('counts the cutoff before and after, and ends with a dry run of exactly the fields to send', async () => {
    const { ask, asked, sent } = server({ 100: [600], 200: [1000] });
    expect(await countWindows(ask, fields, toStart, false)).toEqual({
      rowsToDelete: 600,
      rowsTotal: 10_000,
      windows: [{ role: 'kept', from: 100, to: 200, rows: 400 }],
      dryRun: { rowsToDelete: 600, rowsTotal: 10_000, strategy: 'delete-by-query' },
    });
    expect(asked).toEqual([100, 200, 100]);
    expect(sent.at(-1)).toEqual(fields);
  });

  test('requests a boundary that two windows share only once', async () => {
    const { ask, asked } = server({ 100: [10], 150: [30], 200: [60] });
    expect((await countWindows(ask, fields, two, false))?.windows.map(({ rows }) => rows)).toEqual([20, 30]);
    expect(asked).toEqual([100, 150, 200, 100]);
  });

  test('counts again when the two counts of the cutoff differ by more than 1 %', async () => {
    const { ask, asked } = server({ 100: [600, 500, 500], 200: [1000] });
    expect(await countWindows(ask, fields, toStart, false)).toMatchObject({
      rowsToDelete: 500,
      windows: [{ rows: 500 }],
    });
    expect(asked).toEqual([100, 200, 100, 200, 100]);
  });

  test.each([
    [1000, 990, 3],
    [1000, 989, 5],
    [990, 1000, 3],
    [989, 1000, 5],
  ])('from %i to %i rows at the cutoff takes %i requests', async (before, after, requests) => {
    const { ask, asked } = server({ 100: [before, after], 200: [5000] });
    await countWindows(ask, fields, toStart, false);
    expect(asked).toHaveLength(requests);
  });

  test('counts again if 1 % of the rows to delete would hide a loss among few kept rows', async () => {
    const { ask, asked } = server({ 100: [9_000, 8_989, 8_989], 200: [9_089] });
    expect(await countWindows(ask, fields, toStart, false)).toMatchObject({ windows: [{ rows: 100 }] });
    expect(asked).toHaveLength(5);
    const close = server({ 100: [9_000, 8_990], 200: [9_090] });
    await countWindows(close.ask, fields, toStart, false);
    expect(close.asked).toHaveLength(3);
  });

  test('tolerates no difference for a reindex', async () => {
    const { ask, asked } = server({ 100: [600, 599, 599], 200: [1000] });
    expect(await countWindows(ask, fields, toStart, true)).toMatchObject({ windows: [{ rows: 401 }] });
    expect(asked).toHaveLength(5);
  });

  test('gives up when the counts keep moving', async () => {
    const { ask, asked } = server({ 100: [600, 500, 400, 300, 200], 200: [1000] });
    expect(await countWindows(ask, fields, toStart, false)).toBeUndefined();
    expect(asked).toHaveLength(7);
  });

  test('rejects a window with fewer than no rows, or more than the index has', async () => {
    expect(await countWindows(server({ 100: [600], 200: [500] }).ask, fields, toStart, false)).toBeUndefined();
    expect(await countWindows(server({ 100: [600], 200: [1001] }, 1000).ask, fields, toStart, false)).toBeUndefined();
    expect(await countWindows(server({ 100: [600], 200: [600] }).ask, fields, toStart, false)).toMatchObject({
      windows: [{ rows: 0 }],
    });
    expect(await countWindows(server({ 100: [600], 200: [1000] }, 1000).ask, fields, toStart, false)).toBeDefined();
  });

  test('rejects two windows if one of them has fewer than no rows', async () => {
    const { ask } = server({ 100: [600], 150: [700], 200: [650] });
    expect(await countWindows(ask, fields, two, false)).toBeUndefined();
  });

  test('rejects more rows to delete than there are', async () => {
    expect(await countWindows(server({ 100: [600], 200: [700] }, 600).ask, fields, toStart, false)).toBeUndefined();
  });

  test('compares a difference with the window that has the fewest rows', async () => {
    const { ask, asked } = server({ 100: [9_000, 8_989, 8_989], 150: [19_500], 200: [19_600] }, 30_000);
    expect(await countWindows(ask, fields, two, false)).toBeDefined();
    expect(asked).toHaveLength(7);
  });

  test('leaves contradicting counts of one answer to the decision', async () => {
    expect(await countWindows(server({ 100: [600], 200: [700] }, 500).ask, fields, toStart, false)).toMatchObject({
      rowsToDelete: 600,
      rowsTotal: 500,
    });
  });
});

describe('what a window has lost', () => {
  const window = (rows: number, role: Role = 'kept'): AttemptWindow => ({ role, from: 100, to: 200, rows });

  test.each([
    [1000, 980, false],
    [1000, 979, true],
    [20, 10, false],
    [20, 9, true],
    [10, 0, false],
    [11, 0, true],
    [500, 490, false],
    [500, 489, true],
  ])('%i rows before and %i after is missing: %s', (before, after, missing) => {
    expect(shortfallOf([window(before)], [window(after)])).toEqual({
      rows: before - after,
      before: window(before),
      after: window(after),
      isMissing: missing,
    });
    expect(isMissing(before - after, before)).toBe(missing);
  });

  test('is nothing if rows came in', () => {
    expect(shortfallOf([window(10)], [window(50)])).toMatchObject({ rows: 0, isMissing: false });
    expect(shortfallOf([], [])).toBeUndefined();
  });

  test('is that of the worst window, and of those that lost too much first', () => {
    const before = [window(10_000, 'settled'), window(500), window(500, 'counted')];
    expect(shortfallOf(before, [window(9_900, 'settled'), window(480), window(470, 'counted')])).toMatchObject({
      rows: 30,
      isMissing: true,
      after: { role: 'counted' },
    });
    expect(shortfallOf(before, [window(9_900, 'settled'), window(499), window(498, 'counted')])).toMatchObject({
      rows: 100,
      isMissing: false,
    });
  });

  test('is that of the first of several equal ones', () => {
    const before = [window(10_000, 'settled'), window(10_000), window(500, 'young'), window(500, 'counted')];
    expect(shortfallOf(before.slice(0, 2), [window(9_900, 'settled'), window(9_900)])?.after.role).toBe('settled');
    const after = [window(9_900, 'settled'), window(9_900), window(470, 'young'), window(470, 'counted')];
    expect(shortfallOf(before, after)).toMatchObject({ rows: 30, isMissing: true, after: { role: 'young' } });
  });

  test('is the largest of those that lost too much, in any order', () => {
    const before = [window(500), window(500, 'counted'), window(10_000, 'backlog')];
    expect(shortfallOf(before, [window(440), window(470, 'counted'), window(9_900, 'backlog')])).toMatchObject({
      rows: 60,
      isMissing: true,
      after: { role: 'kept' },
    });
  });

  test('is all of a window that was not counted', () => {
    expect(shortfallOf([window(50)], [])).toMatchObject({ rows: 50, isMissing: true });
  });
});

describe('the window that a verdict remembers', () => {
  const windows = (...of: Role[]): AttemptWindow[] =>
    of.map((role, at) => ({ role, from: at, to: at + 1, rows: at + 3 }));

  test('is the kept one, at any position', () => {
    for (const others of [[], ['settled'], ['settled', 'backlog', 'young']] as const) {
      expect(keptOf([...windows(...others, 'kept'), ...windows('counted')])).toEqual({
        from: others.length,
        to: others.length + 1,
        rows: others.length + 3,
      });
    }
  });

  test('of a bite is backlog and young rows together, in any order', () => {
    const made = windows('backlog', 'young');
    expect(keptOf(made)).toEqual({ from: 0, to: 2, rows: 7 });
    expect(keptOf([...made].reverse())).toEqual({ from: 0, to: 2, rows: 7 });
  });

  test.each<[Role[]]>([[[]], [['backlog']], [['young']], [['settled', 'counted']]])('is none of %j', (of) => {
    expect(keptOf(windows(...of))).toBeUndefined();
  });

  test('is found by its role alone', () => {
    expect(windowOf(windows('settled', 'kept'), 'kept')?.rows).toBe(4);
    expect(windowOf(windows('settled', 'kept'), 'counted')).toBeUndefined();
  });
});

describe('the physical index', () => {
  const sizes = [
    { indexName: 'a_1', entityType: 'dataset', aspect: 'operation', sizeMb: 1 },
    { indexName: 'b_1', entityType: 'dataset', aspect: 'datasetprofile' },
    { indexName: 'b_2', entityType: 'dataset', aspect: 'datasetprofile' },
    { indexName: 'c_1' },
  ];

  test('is found in any case', () => {
    expect(physicalIndex(sizes, { entityType: 'Dataset', aspect: 'Operation' })?.indexName).toBe('a_1');
  });

  test('is unknown when there are several, none, or no sizes', () => {
    expect(physicalIndex(sizes, { entityType: 'dataset', aspect: 'datasetProfile' })).toBeUndefined();
    expect(physicalIndex(sizes, { entityType: 'chart', aspect: 'operation' })).toBeUndefined();
    expect(physicalIndex(sizes, { entityType: 'dataset', aspect: 'x' })).toBeUndefined();
    expect(physicalIndex(undefined, { entityType: 'dataset', aspect: 'operation' })).toBeUndefined();
  });
});

test('the backlog of a bite does not hide the loss of young rows', () => {
  const span = { strategy: 'delete-by-query', cutoffMillis: 10, policyCutoffMillis: 20, startMillis: 30 } as const;
  const [backlog, young] = boundsOf(span, 30);
  const before = [
    { ...backlog!, rows: 33_000_000 },
    { ...young!, rows: 900_000 },
  ];
  const after = [
    { ...backlog!, rows: 33_000_000 },
    { ...young!, rows: 300_000 },
  ];
  expect(shortfallOf(before, after)).toMatchObject({ isMissing: true, rows: 600_000 });
});
