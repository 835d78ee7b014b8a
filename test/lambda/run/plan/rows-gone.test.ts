import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../../lambda/ledger/memory.ts';
import type { Idle, Reserved, Verdict } from '../../../../lambda/ledger/record.ts';
import type { IndexSize, TruncateFields } from '../../../../lambda/operations/operations.ts';
import type { Found, PolicyContext } from '../../../../lambda/run/plan/context.ts';
import { rowsGone } from '../../../../lambda/run/plan/rows-gone.ts';
import type { Entry } from '../../../../lambda/run/state.ts';
import { aPolicy } from '../../../support/policies.ts';
import { anAttempt, anIdle, anIndex, aReserved, aRun, aVerdict } from '../../../support/records.ts';
import { aRunState } from '../../../support/states.ts';
import { cutoff, day, operation, planned, server, start } from './planned.ts';

/** The last verdict counted 40 rows in (400,000, 800,000]; today's cutoff is 350,000, and 5 rows are older. */
const cutoffMillis = 350_000;
const counted = { index: anIndex, entry: { entityType: 'dataset', aspect: 'operation', retentionDays: 30 } };
const before = 'dataset_operationaspect_v1_1600000000000';
const now = 'dataset_operationaspect_v1_1700000000000';
const started = new Date(aRun.runStartMillis + 5_000_000).toISOString();

interface World {
  record?: Idle | Reserved | undefined;
  /** Rows of the window that are there now. */
  there?: number;
  size?: IndexSize;
  mode?: 'enforce' | 'preview';
  names?: { entityType: string; aspect: string };
  /** Called before the second request is answered. */
  meanwhile?: (ledger: ReturnType<typeof memoryLedger>) => void;
}
const withVerdict = (fields: Partial<Verdict> = {}) =>
  anIdle({ attemptId: 'attempt-0', lastVerdict: aVerdict(fields) });

async function look({ record = withVerdict(), there = 10, size, mode = 'enforce', names, meanwhile }: World) {
  const ledger = memoryLedger();
  ledger.stored.set(anIndex, record);
  const asked: TruncateFields[] = [];
  const dryRun = { rowsToDelete: 5, rowsTotal: 100 };
  const ask = async (fields: TruncateFields) => {
    asked.push(fields);
    if (asked.length === 2) meanwhile?.(ledger);
    const rowsToDelete = fields.endTimeMillis >= 800_000 ? 5 + there : 5;
    return { ...dryRun, rowsToDelete };
  };
  const context = {
    state: aRunState([], { mode, runId: 'us', startedAt: started }),
    services: { ledger, clock: { now: () => 9_000_000 }, newId: () => 'new' },
  } as unknown as PolicyContext;
  const found: Found = { dryRun, cutoffMillis, startMillis: 0, record, size, ask };
  const entry = await rowsGone(counted, aPolicy(names), found, context);
  return { entry, ledger, asked };
}
const causeOf = (entry: Entry | undefined) => (entry?.phase === 'done' ? entry.entry.cause : undefined);
const gone = { kind: 'missing', expected: 40, found: 10, since: 900_000 };
const taken = { phase: 'done', entry: { outcome: 'in-flight', cause: { kind: 'held', state: 'taken' } } };

describe('rows gone since the last verdict', () => {
  test('are reported, and close the index under a new attempt id', async () => {
    const { entry, ledger } = await look({});
    expect(entry).toStrictEqual({
      index: anIndex,
      phase: 'done',
      entry: { ...counted.entry, rowsMissing: 30, outcome: 'rows-missing', cause: gone },
    });
    expect(await ledger.read(anIndex)).toMatchObject({
      state: 'quarantined',
      windows: [{ from: 400_000, to: 800_000, rows: 40 }],
      lastVerdict: { attemptId: 'new', runId: 'us', runStartMillis: Date.parse(started), decidedAt: 9_000_000 },
    });
  });

  test('are reported in a preview, which closes nothing', async () => {
    const { entry, ledger } = await look({ mode: 'preview' });
    expect(entry?.entry).toMatchObject({ outcome: 'rows-missing' });
    expect(await ledger.read(anIndex)).toEqual(withVerdict());
  });

  test('may still be in the previous index, until an upgrade deletes it', async () => {
    const record = withVerdict({ entry: { ...aVerdict().entry, indexName: before } });
    const { entry } = await look({ record, size: { indexName: now } });
    const cause = { ...gone, rowsIn: before, indexNow: now, deadline: 1_600_000_000_000 + 60 * 86_400_000 };
    expect(causeOf(entry)).toStrictEqual(cause);
    const unnamed = await look({
      record: withVerdict({ entry: { ...aVerdict().entry, indexName: 'by-hand' } }),
      size: { indexName: now },
    });
    expect(causeOf(unnamed.entry)).toStrictEqual({
      ...gone,
      rowsIn: 'by-hand',
      indexNow: now,
    });
    const same = await look({ record, size: { indexName: before } });
    expect(causeOf(same.entry)).toStrictEqual(gone);
  });

  test.each<[string, World]>([
    ['half of them are there', { there: 20 }],
    ['there is no verdict', { record: anIdle() }],
    ['a person has cleared its window', { record: withVerdict({ window: undefined }) }],
  ])('are none if %s', async (_, world) => {
    expect((await look(world)).entry).toBeUndefined();
  });

  test('are counted under the names of the verdict', async () => {
    const { asked } = await look({});
    expect(asked.map(({ endTimeMillis }) => endTimeMillis)).toEqual([800_000, 400_000, 800_000]);
    expect(asked[0]).toMatchObject({ entityType: 'dataset', aspect: 'operation', forceDeleteByQuery: true });
    for (const names of [
      { entityType: 'dataset_operation', aspect: 'operation' },
      { entityType: 'dataset', aspect: 'x' },
    ]) {
      const renamed = await look({ names });
      expect(renamed.asked.map(({ endTimeMillis }) => endTimeMillis)).toEqual([800_000, 400_000, 800_000]);
      for (const fields of renamed.asked) expect(fields).toMatchObject({ entityType: 'dataset', aspect: 'operation' });
    }
  });
});

describe('a record that is no longer idle', () => {
  const reserved = (sendBy: number) => aReserved({ lastVerdict: aVerdict(), attempt: anAttempt({ sendBy }) });

  test('because of an expired reservation is given back first', async () => {
    const { entry, ledger } = await look({ record: reserved(9_000_000) });
    expect(entry?.entry).toMatchObject({ outcome: 'rows-missing' });
    expect(await ledger.read(anIndex)).toMatchObject({
      state: 'quarantined',
      windows: [{ from: 400_000, to: 800_000, rows: 40 }],
    });
  });

  test('because another run may send is left to that run', async () => {
    const { entry, ledger } = await look({ record: reserved(9_000_001) });
    expect(entry).toMatchObject(taken);
    expect(await ledger.read(anIndex)).toMatchObject({ state: 'reserved' });
  });

  test.each<[string, Idle | Reserved]>([
    ['idle', withVerdict()],
    ['reserved', reserved(9_000_000)],
  ])('because another run changed what was %s is left to that run', async (_, record) => {
    const meanwhile: World['meanwhile'] = (ledger) => ledger.stored.set(anIndex, anIdle({ attemptId: 'other' }));
    const { entry, ledger } = await look({ record, meanwhile });
    expect(entry).toMatchObject(taken);
    expect(await ledger.read(anIndex)).toEqual(anIdle({ attemptId: 'other' }));
  });
});

describe('an index that the search engine no longer has', () => {
  const had = { entityType: 'Dataset', aspect: 'Operation' };
  const window = { from: cutoff, to: start - 5 * day, rows: 40, countedAt: start - day };
  const told = () => ({ ...withVerdict({ entry: { ...aVerdict().entry, ...had }, window }), server });
  const world = (given: Parameters<typeof planned>[0] = {}) =>
    planned({ records: { [anIndex]: told() }, counts: () => ({ fails: 'no-index' }), ...given });
  const failed = (kind: string) => ({ outcome: 'failed', cause: { kind: 'server', error: { kind } } });

  test('has lost every row of the last verdict, is closed, and was asked for again under the verdict’s names', async () => {
    const { state, asked, ledger } = await world();
    const { entityType, aspect, retentionDays } = operation;
    expect(state.entries[0]?.entry).toStrictEqual({
      entityType,
      aspect,
      retentionDays,
      cutoffMillis: cutoff,
      rowsTotal: 0,
      rowsToDelete: 0,
      rowsMissing: 40,
      outcome: 'rows-missing',
      cause: { kind: 'missing', expected: 40, found: 0, since: start - day, indexGone: true },
    });
    expect(asked.filter((what) => what !== 'sizes')).toEqual(['operation 30', 'Operation 30']);
    expect(await ledger.read(anIndex)).toMatchObject({ state: 'quarantined' });
  });

  test.each<[string, Parameters<typeof planned>[0], string]>([
    ['no verdict has counted its rows', { records: {} }, 'no-index'],
    [
      'it is there when it is asked for once more',
      { counts: ({ aspect }) => (aspect === 'Operation' ? {} : { fails: 'no-index' }) },
      'no-index',
    ],
    [
      'the second question is not answered',
      { counts: ({ aspect }) => ({ fails: aspect === 'Operation' ? 'timeout' : 'no-index' }) },
      'no-index',
    ],
    ['the server answers something else', { counts: () => ({ fails: 'bad-request' }) }, 'bad-request'],
  ])('has lost nothing that is known if %s', async (_, given, kind) => {
    const { state, ledger } = await world(given);
    expect(state.entries[0]?.entry).toMatchObject(failed(kind));
    expect((await ledger.read(anIndex))?.state).not.toBe('quarantined');
  });
});
