import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../../../lambda/facts/report-schema.ts';
import { OperationsError } from '../../../../lambda/operations/operations.ts';
import type { RunServices } from '../../../../lambda/run/services.ts';
import type { Entry } from '../../../../lambda/run/state.ts';
import { aLastVerdict, anIdle, anIndex, aVerdict } from '../../../support/records.ts';
import { firstRun } from '../../../support/stand-in.ts';
import { aPolicyFor, server, type World, worlds } from '../../../support/world.ts';

/** What Plan approves, in which order, how much of it in one run, and what it notes. */

const open = worlds();
const hour = 3_600_000;
const day = 24 * hour;

const told = (entry: Entry | undefined) => {
  const { outcome, cause } = (entry?.entry ?? {}) as Partial<PolicyEntry>;
  return { phase: entry?.phase, outcome, cause };
};

describe('A bite', () => {
  const start = firstRun;
  /** One row each hour, of which 700 are past their 30 days. */
  const timestamps = Array.from({ length: 1000 }, (_, row) => start - 30 * day + (300 - row) * hour - 1);
  const bitten = async (maxRowsPerRun: number, rows = timestamps) => {
    const opened = await open({
      indices: [{ entityType: 'dataset', aspect: 'operation', timestamps: rows }],
      policies: [aPolicyFor('operation', { maxRowsPerRun })],
    });
    return opened;
  };

  test('takes the oldest rows up to its limit, and says how many stay for later', async () => {
    const opened = await bitten(100);
    const cutoffMillis = opened.clock.time - 30 * day;
    const state = await opened.plan();
    const [entry] = state.entries;
    expect(entry).toMatchObject({
      phase: 'approved',
      plan: { rowsToDelete: 100, deletesInPlace: true, bite: { cutoffMillis: cutoffMillis - 600 * hour, rest: 600 } },
      entry: {
        rowsToDelete: 100,
        rowsTotal: 1000,
        rowsPastRetention: 700,
        cutoffMillis: cutoffMillis - 600 * hour,
        policyCutoffMillis: cutoffMillis,
        strategy: 'delete-by-query',
      },
    });
    expect(state.next).toBe('truncate');
  });

  test('may be below the threshold, which is about all that is due', async () => {
    expect((await (await bitten(50)).plan()).entries[0]).toMatchObject({
      phase: 'approved',
      plan: { rowsToDelete: 50 },
    });
  });

  test('goes without the field that the server refuses', async () => {
    const opened = await bitten(100);
    opened.standIn.fault('refuses-force-flags');
    opened.standIn.set({ mode: 'always-delete' });
    expect((await opened.plan()).entries[0]?.entry).toMatchObject({ rowsPastRetention: 700, rowsToDelete: 100 });
  });

  test('is judged by the answer that found it, as every dry run is', async () => {
    const opened = await bitten(100);
    const { entries } = await opened.plan(
      {},
      slowly(opened, 1, () => opened.standIn.fault('clock-skew=3600'), 900_000),
    );
    expect(entries.map(told)).toMatchObject([{ outcome: 'failed', cause: { kind: 'guard', which: 'server-clock' } }]);
  });

  test('is not needed where all that is due fits, or was approved', async () => {
    expect((await (await bitten(700)).plan()).entries[0]).toMatchObject({
      plan: { rowsToDelete: 700, bite: undefined },
    });
    const approved = { indices: ['dataset.operation'], approveRows: 700 };
    expect((await (await bitten(100)).plan(approved)).entries[0]).toMatchObject({ plan: { bite: undefined } });
  });

  test('is what a preview says, too, whatever it was told to approve: it approves nothing, and says so', async () => {
    const opened = await bitten(100);
    const input = { mode: 'preview', indices: ['dataset.operation'], approveRows: 700 };
    const { entries, notes } = await opened.plan(input);
    expect(entries.map(told)).toMatchObject([{ outcome: 'would-truncate', cause: { kind: 'due', bite: 100 } }]);
    expect(notes).toContainEqual({ kind: 'approves-nothing', approveRows: 700 });
    opened.parameters.policies = [aPolicyFor('operation', { maxDeletePercent: 20 })];
    expect((await opened.plan(input)).entries.map(told)).toMatchObject([{ outcome: 'above-ceiling' }]);
  });

  test('of which a preview says how many rows it would take', async () => {
    const { entries } = await (await bitten(100)).plan({ mode: 'preview' });
    expect(entries.map(told)).toMatchObject([{ outcome: 'would-truncate', cause: { kind: 'due', bite: 100 } }]);
    const whole = await (await bitten(700)).plan({ mode: 'preview' });
    expect(told(whole.entries[0]).cause).toEqual({ kind: 'due', minDeletePercent: 10, bite: undefined });
  });

  test('is not found where the oldest hour alone has more rows: a person may approve those', async () => {
    const old = Array.from({ length: 50 }, () => start - 400 * day);
    const opened = await bitten(20, [...old, ...Array.from({ length: 100 }, (_, row) => start - row * hour)]);
    const { entries } = await opened.plan();
    expect(entries[0]?.entry).toMatchObject({
      outcome: 'above-ceiling',
      cause: { kind: 'above-ceiling', approveRows: 53, bite: 20 },
      rowsToDelete: 50,
      rowsPastRetention: 50,
      policyCutoffMillis: opened.clock.time - 30 * day,
    });
    expect(entries[0]?.entry.cutoffMillis).toBeLessThanOrEqual(opened.clock.time - 399 * day);
  });

  function slowly(opened: World, atMost: number, then: () => void, left = 30_000): RunServices {
    let asked = 0;
    const during = opened.during('plan', ({ dryRun }) => ({
      dryRun(...given) {
        if (++asked > atMost) then();
        return dryRun(...given);
      },
    }));
    return { ...during, deadline: () => opened.clock.time + (asked > atMost ? left : 900_000) };
  }

  test('that Plan’s time does not suffice for is not started', async () => {
    const opened = await bitten(100);
    const { entries } = await opened.plan(
      {},
      slowly(opened, 2, () => {}),
    );
    expect(entries.map(told)).toMatchObject([{ outcome: 'not-started', cause: { kind: 'stopped', by: 'plan-time' } }]);
  });

  test('that the server stops answering is a failure that has sent nothing', async () => {
    const opened = await bitten(100);
    const { entries } = await opened.plan(
      {},
      slowly(opened, 2, () => opened.standIn.fault('sentence=reworded')),
    );
    expect(entries.map(told)).toMatchObject([
      { outcome: 'failed', cause: { kind: 'server', error: { kind: 'unreadable', operation: 'dry-run' }, sent: 'no' } },
    ]);
  });

  test('of a server that announces a copy is none: a copy goes whole, and the report says so', async () => {
    const opened = await bitten(100);
    opened.standIn.fault('ignores-force-flags');
    const { entries } = await opened.plan();
    expect(entries[0]).toMatchObject({
      phase: 'approved',
      plan: { rowsToDelete: 700, deletesInPlace: false, bite: undefined },
      entry: { wholeReindex: true, strategy: 'reindex' },
    });
  });
});

describe('A copy', () => {
  test('without a limit of rows goes whole without a word', async () => {
    const opened = await open();
    opened.standIn.fault('ignores-force-flags');
    const [entry] = (await opened.plan()).entries;
    expect(entry).toMatchObject({ phase: 'approved', plan: { deletesInPlace: false } });
    expect(entry?.entry.wholeReindex).toBeUndefined();
  });

  test('is not approved where its status cannot be read', async () => {
    const opened = await open();
    opened.standIn.fault('ignores-force-flags');
    opened.standIn.fault('denied=status');
    const { entries } = await opened.plan();
    expect(entries.map(told)).toMatchObject([
      {
        outcome: 'failed',
        cause: { kind: 'guard', which: 'task-status', error: { operation: 'task-status', status: 403 } },
      },
    ]);
  });
});

describe('The order of a run', () => {
  const indices = [
    { entityType: 'dataset', aspect: 'operation', rows: 900, days: 100 },
    { entityType: 'dataset', aspect: 'datasetProfile', rows: 300, days: 100 },
    { entityType: 'chart', aspect: 'chartUsageStatistics', rows: 300, days: 100 },
    { entityType: 'query', aspect: 'queryUsageStatistics', rows: 30, days: 100 },
  ];
  const policies = [
    aPolicyFor('operation'),
    aPolicyFor('datasetProfile'),
    aPolicyFor('chartUsageStatistics', {}, 'chart'),
    aPolicyFor('queryUsageStatistics', { enabled: false }, 'query'),
  ];
  const order = async (opened: World) => (await opened.plan()).entries.map(({ entry }) => entry.aspect);

  test('is the smallest truncation first, then by name; what has no count comes after', async () => {
    expect(await order(await open({ indices, policies }))).toEqual([
      'chartUsageStatistics',
      'datasetProfile',
      'operation',
      'queryUsageStatistics',
    ]);
  });

  test.each([
    [
      'comes last where its last verdict was bad',
      'incomplete',
      ['datasetProfile', 'operation', 'queryUsageStatistics', 'chartUsageStatistics'],
    ],
    [
      'keeps its place where its last verdict was good',
      'truncated',
      ['chartUsageStatistics', 'datasetProfile', 'operation', 'queryUsageStatistics'],
    ],
  ] as const)('an index %s', async (_, outcome, expected) => {
    const opened = await open({ indices, policies });
    const index = 'chart_chartusagestatisticsaspect_v1';
    const names = { entityType: 'chart', aspect: 'chartUsageStatistics', index };
    const lastVerdict = aLastVerdict({ verdict: aVerdict({ outcome }) });
    opened.ledger.stored.set(index, anIdle({ ...names, server, lastVerdict }));
    expect(await order(opened)).toEqual(expected);
  });
});

describe('A run notes', () => {
  const kinds = async (opened: World, input = {}) => (await opened.plan(input)).notes.map(({ kind }) => kind);

  test('nothing about a server that does all that was asked', async () => {
    expect(await kinds(await open())).toEqual([]);
  });

  test('that the server refuses the field, and asks without it', async () => {
    const opened = await open();
    opened.standIn.fault('refuses-force-flags');
    const state = await opened.plan();
    expect([state.notes, state.refusesForceField]).toEqual([[{ kind: 'field-refused' }], true]);
  });

  test('that answers have no date, by which clocks could be compared', async () => {
    const opened = await open();
    opened.standIn.fault('no-date');
    expect(await kinds(opened)).toEqual(['no-date-header']);
  });

  test.each([
    ['a preview of a stage that was told to', { mode: 'preview' }, true, ['sizes', 'task-status']],
    ['a preview of another one', { mode: 'preview' }, undefined, []],
    ['an enforcing run', {}, true, []],
  ])('in %s which rights the token lacks: %o', async (_, input, notesRights, expected) => {
    const opened = await open(notesRights === undefined ? {} : { settings: { notesRights } });
    opened.standIn.fault('denied=sizes');
    opened.standIn.fault('denied=status');
    const { notes, withoutSizes } = await opened.plan(input);
    expect(notes.flatMap((note) => (note.kind === 'rights' ? [note.what] : []))).toEqual(expected);
    expect(withoutSizes).toBe(true);
  });

  test('nothing where the server does not answer at all: the run says so', async () => {
    const opened = await open({ settings: { notesRights: true } });
    opened.reach.server = false;
    const { notes, error, entries } = await opened.plan({ mode: 'preview' });
    expect([notes, error?.kind]).toEqual([[], 'server']);
    expect(entries.map(told)).toMatchObject([{ outcome: 'failed', cause: { kind: 'run-error' } }]);
  });
});

describe('A server that stops answering', () => {
  test('after the first policies have been approved starts none of them', async () => {
    const opened = await open({ policies: [aPolicyFor('operation'), aPolicyFor('datasetProfile')] });
    let asked = 0;
    const during = opened.during('plan', ({ dryRun }) => ({
      dryRun(...given) {
        if (++asked > 1) opened.reach.server = false;
        return dryRun(...given);
      },
    }));
    const { entries, error, next } = await opened.plan({}, during);
    expect(entries.map(told)).toMatchObject([
      { outcome: 'not-started', cause: { kind: 'run-error' } },
      { outcome: 'failed', cause: { kind: 'run-error' } },
    ]);
    expect([error?.kind, next]).toEqual(['server', 'report']);
  });

  test('for one policy alone fails that one, with what was asked and what came back', async () => {
    const opened = await open();
    opened.standIn.fault('sentence=reworded');
    const { entries, error } = await opened.plan();
    expect(entries.map(told)).toMatchObject([
      { outcome: 'failed', cause: { kind: 'server', error: { kind: 'unreadable', operation: 'dry-run' }, sent: 'no' } },
    ]);
    expect(error).toBeUndefined();
  });

  test('while Plan’s time ends leaves its policy to the next run', async () => {
    const opened = await open();
    const aborted = new OperationsError({ kind: 'aborted', operation: 'dry-run' });
    const during = opened.during('plan', () => ({ dryRun: () => Promise.reject(aborted) }));
    const { entries } = await opened.plan({}, during);
    expect(entries.map(told)).toMatchObject([{ outcome: 'failed', cause: { kind: 'stopped', by: 'plan-time' } }]);
  });

  test('in time is not asked any more, and the policies that are left wait for the next run', async () => {
    const opened = await open();
    const deadline = () => opened.clock.time + 30_000;
    const { entries } = await opened.plan({}, { ...opened.during('plan'), deadline });
    expect(entries.map(told)).toMatchObject([{ outcome: 'failed', cause: { kind: 'stopped', by: 'plan-time' } }]);
    expect(opened.standIn.asked().filter(({ action }) => action !== 'getIndexSizes')).toEqual([]);
  });
});

test('A stage’s own limit does not hide that a policy cannot be read', async () => {
  const opened = await open({
    settings: { maxRowsPerRun: 5 },
    policies: [aPolicyFor('operation', { retentionDays: 1 })],
  });
  const { entries } = await opened.plan();
  expect(entries.map(told)).toMatchObject([{ outcome: 'failed', cause: { kind: 'policy' } }]);
});

test('A Plan that is tried again after its run’s verdict goes on with that index as with any other', async () => {
  const opened = await open();
  const own = { runId: 'run-1', runStartMillis: opened.clock.time };
  const lastVerdict = aLastVerdict({ ...own, verdict: aVerdict() });
  opened.ledger.stored.set(anIndex, anIdle({ server, lastVerdict }));
  expect((await opened.plan()).entries[0]).toMatchObject({ phase: 'approved', plan: { rowsToDelete: 600 } });
});

test('A run whose policies cannot be used still says which those are', async () => {
  const opened = await open({ policies: [aPolicyFor('operation')] });
  const { entries, error, next, unmanagedIndices } = await opened.plan({ indices: ['dataset.nothing'] });
  expect([entries, unmanagedIndices, error?.kind, next]).toEqual([[], [], 'setup', 'report']);
  opened.reach.ledger = false;
  const away = await opened.plan();
  expect(away.entries.map(told)).toMatchObject([{ outcome: 'failed', cause: { kind: 'run-error' } }]);
  expect(away.entries[0]).toMatchObject({ index: anIndex, entry: { retentionDays: 30 } });
});
