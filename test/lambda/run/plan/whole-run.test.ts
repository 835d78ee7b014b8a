import { describe, expect, test } from 'vitest';
import { MemoryError } from '../../../../lambda/memory/night.ts';
import { ParametersError } from '../../../../lambda/run/services.ts';
import { anIdle, aQuarantined, aRunning, aVerdict } from '../../../support/records.ts';
import { operation, planned, server, start, startedAt, type World } from './planned.ts';

/** What Plan says about the run as a whole: order, notes, what concerns every policy, and indices without one. */

const of = (...aspects: string[]) => aspects.map((aspect) => ({ ...operation, aspect }));
const outcomes = async (world: World) =>
  (await planned(world)).state.entries.map((entry) => [
    entry.entry.aspect,
    entry.phase === 'done' ? entry.entry.outcome : entry.phase,
  ]);
const key = (aspect: string) => ({ index: `dataset_${aspect}aspect_v1`, entityType: 'dataset', aspect, server });

describe('the order of a run', () => {
  const rows: Record<string, number> = { a: 700, b: 600, c: 600, d: 650 };
  const counts: World['counts'] = ({ aspect }) =>
    aspect === 'e' ? { fails: 'timeout' } : { rowsToDelete: rows[aspect] ?? 600 };
  const endedWith = (aspect: string, outcome: 'truncated' | 'incomplete') => ({
    [`dataset_${aspect}aspect_v1`]: anIdle({
      ...key(aspect),
      lastVerdict: aVerdict({ window: undefined, entry: { ...aVerdict().entry, outcome } }),
    }),
  });

  test('is by rows, then by name, and without counts last', async () => {
    expect((await outcomes({ policies: of('e', 'a', 'd', 'c', 'b'), counts })).map(([aspect]) => aspect)).toEqual([
      'b',
      'c',
      'd',
      'a',
      'e',
    ]);
    expect(
      (await outcomes({ policies: of('y', 'x'), counts: () => ({ fails: 'timeout' }) })).map(([aspect]) => aspect),
    ).toEqual(['x', 'y']);
  });

  test('ends with indices whose last verdict was bad', async () => {
    const records = { ...endedWith('b', 'incomplete'), ...endedWith('a', 'truncated') };
    expect((await outcomes({ policies: of('b', 'a'), counts, records })).map(([aspect]) => aspect)).toEqual(['a', 'b']);
  });
});

describe('a run', () => {
  test('starts with empty facts', async () => {
    const { state } = await planned({});
    expect({ ...state, entries: [] }).toStrictEqual({
      version: 3,
      runId: 'us',
      server,
      stage: 's',
      mode: 'enforce',
      startedAt,
      next: 'truncate',
      waitSeconds: 10,
      entries: [],
      notes: [],
      unmanagedIndices: [],
      refused: {},
      turns: { truncate: 0, poll: 0 },
    });
  });

  test('refuses input that it cannot use', async () => {
    const { state, log, asked } = await planned({ input: { mode: 'x'.repeat(700) } });
    expect(state).toMatchObject({
      error: { kind: 'input', problem: expect.stringMatching(/^the execution's input cannot be used: mode/) },
      entries: [],
      next: 'report',
    });
    expect([state.unmanagedIndices, state.notes]).toEqual([[], []]);
    expect([log, asked]).toEqual([[['the run could not do its work', { cause: state.error }]], []]);
  });

  test('keeps the approved rows and the requested mode', async () => {
    const { state } = await planned({ input: { only: ['dataset.operation'], approveRows: 7, mode: 'preview' } });
    expect(state).toMatchObject({ approveRows: 7, mode: 'preview' });
    expect((await planned({ mode: 'preview', input: { mode: 'enforce' } })).state).toMatchObject({
      mode: 'enforce',
      next: 'truncate',
    });
  });

  test.each(['enforce', 'preview'] as const)('without a token sends no request (%s)', async (mode) => {
    const { state, asked } = await planned({ mode, token: new ParametersError('no token') });
    expect(state).toMatchObject({
      error: { kind: 'parameters', problem: 'no token' },
      entries: [{ entry: { outcome: 'failed', cause: { kind: 'run-error' } } }],
    });
    const checks = [
      ['Address', 'ok'],
      ['DNS', 'ok'],
    ];
    expect(state.preflight?.map((check) => [check.name, check.state])).toEqual(mode === 'preview' ? checks : undefined);
    expect(asked).toEqual([]);
  });

  test('that is paused plans anyway, and starts nothing', async () => {
    const records = { [key('x').index]: anIdle({ ...key('x') }) };
    expect(await outcomes({ records, policies: of('x'), input: { scheduledTime: startedAt } })).toEqual([
      ['x', 'approved'],
    ]);
  });

  test('of more than 48 policies fails in one sentence, starts nothing, and names what is unresolved or quarantined', async () => {
    const names = Array.from({ length: 49 }, (_, at) => `a${at}`);
    const records = {
      [key('a1').index]: anIdle(key('a1')),
      [key('a2').index]: aQuarantined(key('a2')),
      [key('a3').index]: aRunning(key('a3')),
    };
    const { state } = await planned({ policies: of(...names), records });
    expect(state.error).toEqual({
      kind: 'parameters',
      problem: 'there are 49 policies, and a stage has at most 48: remove some, or spread them over several stages',
    });
    expect(state.breaker).toEqual({ kind: 'run-error' });
    expect(state.entries.map(({ index, phase }) => [index, phase])).toEqual([
      [key('a2').index, 'done'],
      [key('a3').index, 'watched'],
    ]);
    const { state: full } = await planned({ policies: of(...names.slice(1)) });
    expect(full).not.toHaveProperty('error');
    expect(full.entries).toHaveLength(48);
  });

  test('reports once that clock, sizes and memory are missing', async () => {
    const failed = () => Promise.reject(new MemoryError('no table'));
    const { state } = await planned({
      policies: of('a', 'b'),
      counts: () => ({ clockSkewMillis: undefined as never }),
      sizes: { fails: 'privilege' },
      nights: { read: failed, write: failed },
    });
    expect(state.notes).toStrictEqual([
      { kind: 'memory-unavailable', problem: 'no table' },
      { kind: 'no-date-header' },
      { kind: 'no-sizes', error: { kind: 'privilege', operation: 'index-sizes' } },
    ]);
    expect(state.refused).toEqual({ sizes: 2 });
    expect(state).not.toHaveProperty('error');
    const written = await planned({ nights: { read: async () => [], write: failed } });
    expect(written.state.notes).toStrictEqual([{ kind: 'memory-unavailable', problem: 'no table' }]);
    const timeless = await planned({
      counts: () => ({ clockSkewMillis: undefined as never }),
      nights: { read: async () => [], write: failed },
    });
    expect(timeless.state.notes.map(({ kind }) => kind)).toEqual(['no-date-header', 'memory-unavailable']);
    const preview = await planned({ mode: 'preview', nights: { read: async () => [], write: failed } });
    expect(preview.state.notes).toEqual([]);
  });

  test('that clears has the notes of every run', async () => {
    const exp = Math.floor(start / 1000) + 60;
    const token = `e30.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.x`;
    const { state } = await planned({ token, input: { clear: ['dataset.operation'] } });
    expect(state.notes).toStrictEqual([
      { kind: 'token-expires', at: exp * 1000 },
      { kind: 'nothing-to-clear', index: 'dataset.operation' },
    ]);
    expect(state).toMatchObject({ mode: 'enforce', next: 'report', entries: [] });
  });

  test('that clears stops in time, and releases nothing', async () => {
    const records = { [key('operation').index]: aQuarantined({ ...key('operation') }) };
    const { state } = await planned({ records, left: 30_001, isSlow: true, input: { clear: ['dataset.operation'] } });
    expect(state.notes).toMatchObject([{ kind: 'not-released', why: 'server', error: { kind: 'aborted' } }]);
  });

  test('without a policy fails, and watches running truncations', async () => {
    const { state } = await planned({
      policies: [],
      records: { x: aRunning({ ...key('x'), index: 'x', judgeableAt: start }) },
    });
    expect(state).toMatchObject({
      error: { kind: 'no-policy' },
      entries: [{ index: 'x', phase: 'watched' }],
      next: 'wait',
    });
  });
});

describe('the requests of Plan', () => {
  const many = (count: number) => of(...Array.from({ length: count }, (_, at) => `a${at}`));
  const told = (...aspects: string[]) =>
    aspects.map((aspect) => ({ indexName: aspect, entityType: 'dataset', aspect }));
  const none: World['counts'] = () => ({ rowsToDelete: 0 });

  test('are parallel for eight policies at a time', async () => {
    expect((await planned({ policies: many(20), counts: none })).mostAtOnce).toBe(8);
  });

  test('start in a preview with one dry run, to see whether it is allowed', async () => {
    const { asked } = await planned({ mode: 'preview', policies: of('x', 'y'), sizes: told('a', 'y') });
    expect(asked.slice(0, 3)).toEqual(['sizes', 'status', expect.stringMatching(/^y \d/)]);
    const unread = await planned({
      mode: 'preview',
      policies: [{ ...operation, aspect: 'y', retentionDays: 1 }],
      sizes: told('a', 'y'),
    });
    expect(unread.asked[2]).toMatch(/^a \d/);
  });

  test('to the memory are for the counted indices, the ten largest without a policy, and those in trouble', async () => {
    const read: string[] = [];
    const nights = {
      async read(index: string) {
        read.push(index);
        return [];
      },
      write: async () => {},
    };
    const counts: World['counts'] = ({ aspect }) => (aspect === 'b' ? { fails: 'timeout' } : {});
    const unmanaged = Array.from({ length: 12 }, (_, at) => ({ ...told(`u${at}`)[0]!, sizeMb: 100 - at }));
    await planned({
      policies: of('a', 'b'),
      counts,
      nights,
      sizes: [...unmanaged, { indexName: 'z_aspect_v1', sizeMb: 999 }],
    });
    const largest = Array.from({ length: 9 }, (_, at) => key(`u${at}`).index);
    expect(read).toEqual([key('a').index, ...largest, key('b').index]);
  });

  test('to the memory for indices without a policy are reported when they fail', async () => {
    const nights = {
      read: async (index: string) => {
        if (index === key('u').index) throw new MemoryError('no table');
        return [];
      },
      write: async () => {},
    };
    const { state } = await planned({ nights, sizes: [{ ...told('u')[0]!, sizeMb: 1 }] });
    expect(state.notes).toEqual([{ kind: 'memory-unavailable', problem: 'no table' }]);
  });

  test('are left to the workflow after a defect', async () => {
    await expect(planned({ sizes: new TypeError('a defect') })).rejects.toThrow('a defect');
  });
});

test('a running truncation is watched even if its policy cannot be read', async () => {
  const records = { [key('a').index]: aRunning({ ...key('a'), judgeableAt: start }) };
  const { state, log } = await planned({ policies: [{ ...operation, aspect: 'a', retentionDays: 1 }], records });
  expect(state.entries.map(({ phase }) => phase)).toEqual(['done', 'watched']);
  expect(log).toMatchObject([['planned', { index: key('a').index, outcome: 'failed' }]]);
});

test.each([
  ['TypeError', new TypeError('x')],
  ['unknown', 'a text'],
])('a preview whose preflight fails continues, and logs why: %s', async (error, thrown) => {
  let asked = 0;
  const token = () => {
    if (++asked > 1) throw thrown;
    return 'opaque';
  };
  const { state, log } = await planned({ mode: 'preview', token });
  expect(log[0]).toEqual(['the preflight could not be made', { error }]);
  expect([state.entries.length, 'preflight' in state]).toEqual([1, false]);
  const well = await planned({ mode: 'preview' });
  expect(well.log[0]).toEqual(['preflight', { checks: well.state.preflight }]);
});

describe('a server that cannot be reached', () => {
  const failed = { entry: { outcome: 'failed', cause: { kind: 'run-error' } } };
  const error = (operation: string) => ({ kind: 'server', error: { kind: 'connect', operation }, sent: 'no' });

  test('gets one request for sizes', async () => {
    const { state, asked } = await planned({ policies: of('a', 'b'), sizes: { fails: 'connect' } });
    expect(state).toMatchObject({ error: error('index-sizes'), entries: [failed, failed], notes: [] });
    expect(asked).toEqual(['sizes']);
  });

  test('after the first dry runs starts nothing, and leaves running truncations to the next run', async () => {
    const records = { [key('b').index]: aRunning({ ...key('b'), judgeableAt: start }) };
    const counts: World['counts'] = ({ aspect }) => (aspect === 'c' ? { fails: 'connect' } : {});
    const { state } = await planned({ policies: of('a', 'b', 'c'), counts, records });
    expect(state.error).toStrictEqual(error('dry-run'));
    const found = Object.fromEntries(state.entries.map(({ entry }) => [entry.aspect, entry]));
    expect(found['a']).toMatchObject({ outcome: 'not-started', cause: { kind: 'run-error' } });
    expect(found['b'] ?? found['operation']).toMatchObject({
      outcome: 'still-running',
      cause: { kind: 'watching', why: 'server' },
    });
    expect(found['c']).toMatchObject(failed.entry);
  });

  test('because its name is never resolved does not hold up a preview', async () => {
    const lookup = () => new Promise<string[]>(() => {});
    const dns = ({ preflight = [] }: { preflight?: { name: string; state: string }[] }) =>
      preflight.find(({ name }) => name === 'DNS')?.state;
    // With each reading of the clock, as much time passes as a preflight may take.
    const world: World = { mode: 'preview', lookup, ticks: 30_000 };
    expect(dns((await planned(world)).state)).not.toBe('ok');
    expect(dns((await planned({ ...world, token: new ParametersError('no token') })).state)).toBe('failed');
  });

  test('is reported by the checks of a preview as well', async () => {
    const { state } = await planned({ mode: 'preview', sizes: { fails: 'connect' } });
    expect(state.preflight?.find(({ name }) => name === 'Connection')).toMatchObject({ state: 'failed' });
    const late = await planned({
      mode: 'preview',
      counts: ({ endTimeMillis }) => (endTimeMillis === 0 ? {} : { fails: 'connect' }),
    });
    expect(late.state.preflight?.find(({ name }) => name === 'Connection')).toMatchObject({ state: 'failed' });
    expect((await planned({ mode: 'preview' })).state.preflight?.every((check) => check.state === 'ok')).toBe(true);
    expect((await planned({})).state).not.toHaveProperty('preflight');
  });
});

describe('an index without a policy', () => {
  const listed = async (...sizes: object[]) => (await planned({ sizes: sizes as never })).state.unmanagedIndices;
  const index = (aspect: string, sizeMb?: number) => ({
    indexName: `i-${aspect}`,
    entityType: 'dataset',
    aspect,
    ...(sizeMb !== undefined && { sizeMb }),
  });

  test('is listed with its size, named as DataHub spells it', async () => {
    expect(await listed(index('datasetprofile', 5), index('unsized'))).toStrictEqual([
      { indexName: 'i-datasetprofile', sizeMb: 5, entityType: 'dataset', aspect: 'datasetProfile' },
      { indexName: 'i-unsized', entityType: 'dataset', aspect: 'unsized' },
    ]);
  });

  test('comes after the larger ones, and last without a size', async () => {
    const found = await listed(index('small', 1), index('unsized'), index('large', 5), index('more'));
    expect(found.map(({ aspect }) => aspect)).toEqual(['large', 'small', 'unsized', 'more']);
  });

  test('is no index that a policy is for, and never the state of ingestion', async () => {
    expect(await listed(index('operation', 9), index('datahubingestioncheckpoint', 7))).toEqual([]);
  });

  test.each([
    ['x_aspect_v1', true],
    ['x_aspect_v1_1700000000000', true],
    ['x_aspect_v1_1_7_0-0_1754300000000', true],
    ['x_aspect_v1_clone', true],
    ['metadata_aspect_v2', false],
  ])('that the server lists only as %s is listed: %s', async (indexName, isListed) => {
    expect(await listed({ indexName })).toStrictEqual(isListed ? [{ indexName }] : []);
    expect(await listed({ indexName, entityType: 'e' })).toStrictEqual(isListed ? [{ indexName }] : []);
    expect(await listed({ indexName, aspect: 'operation' })).toStrictEqual(isListed ? [{ indexName }] : []);
  });

  test('is one of at most twenty', async () => {
    expect(await listed(...Array.from({ length: 21 }, (_, at) => index(`a${at}`)))).toHaveLength(20);
  });
});
