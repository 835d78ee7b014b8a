import { describe, expect, test } from 'vitest';
import { json } from '../../operations-service/simulation/exchange.ts';
import { createEngine, type Engine, type EngineOptions } from '../../operations-service/engine.ts';
import { day, serve, start, tenADay } from './service.ts';

/** What the fault laboratory relies on: virtual time without timers, access to single rows, control of single requests. */

function createLaboratory(options: EngineOptions = {}) {
  let now = start;
  const engine = createEngine({
    clock: { now: () => now },
    indices: [{ entityType: 'dataset', aspect: 'operation', timestamps: tenADay() }],
    ...options,
  });
  const truncate = (fields: object = {}) => ask(engine, { dryRun: false, forceDeleteByQuery: true, ...fields });
  return {
    engine,
    truncate,
    pass: (millis: number) => {
      now += millis;
    },
    now: () => now,
  };
}

const ask = (engine: Engine, fields: object) =>
  engine.handle({
    method: 'POST',
    path: '/operations?action=truncateTimeseriesAspect',
    headers: { authorization: `Bearer ${engine.token}` },
    body: JSON.stringify({
      entityType: 'dataset',
      aspect: 'operation',
      endTimeMillis: start - 30 * day,
      batchSize: 100,
      ...fields,
    }),
  });

describe('time', () => {
  test('the end of a history does not depend on how often it was looked at', () => {
    const ends = [1, 7, 50, 1000].map((looks) => {
      const { engine, truncate, pass } = createLaboratory({ profile: '0.13.2-1.1', faults: ['conflicts=0.1'] });
      truncate();
      pass(60);
      truncate({ endTimeMillis: start - 20 * day });
      for (let look = 0; look < looks; look++) {
        pass(4000 / looks);
        engine.indices();
      }
      return JSON.stringify([engine.tasks(), engine.indices(), engine.rows('dataset.operation')]);
    });
    expect(new Set(ends).size).toBe(1);
  });

  test('the same seed gives the same rows, names, token and task ids, another seed others', () => {
    const history = (seed: number) => {
      const { engine, truncate, pass } = createLaboratory({ seed, indices: undefined, faults: ['conflicts=0.2'] });
      const reply = truncate();
      pass(300);
      return JSON.stringify([reply, engine.token, engine.indices(), engine.tasks()]);
    };
    expect(history(7)).toBe(history(7));
    expect(history(7)).not.toBe(history(8));
  });

  test('three weeks of nights pass without a timer', () => {
    const { engine, truncate, pass, now } = createLaboratory();
    for (let night = 0; night < 21; night++) {
      engine.addRows('dataset.operation', [now() - 1]);
      truncate({ endTimeMillis: now() - 30 * day });
      pass(day);
    }
    // The first night deleted 70 days' rows, later ones ten each; one row arrived each night.
    expect(engine.rows('dataset.operation')).toHaveLength(1000 + 21 - 700 - 20 * 10);
  });

  test('what is scheduled happens at its time, between the batches of a task', () => {
    const { engine, truncate, pass } = createLaboratory();
    truncate();
    const seen: number[] = [];
    engine.schedule(start + 200, () => seen.push(engine.tasks()[0]?.deleted ?? -1));
    engine.schedule(start + 100, () => seen.push(engine.tasks()[0]?.deleted ?? -1));
    pass(10_000);
    expect(engine.tasks()[0]?.deleted).toBe(700);
    expect(seen).toEqual([200, 400]);
  });

  test('things that are scheduled for the same time happen in the order in which they were planned', () => {
    const { engine, pass } = createLaboratory();
    const seen: string[] = [];
    for (const name of ['first', 'second', 'third']) engine.schedule(start + 5, () => seen.push(name));
    pass(5);
    engine.indices();
    expect(seen).toEqual(['first', 'second', 'third']);
  });

  test('the Date header tells the engine’s clock, and its skew', () => {
    const { engine, truncate } = createLaboratory();
    expect(truncate()).toMatchObject({ headers: { Date: new Date(start).toUTCString() } });
    engine.fault('clock-skew=-900');
    expect(truncate()).toMatchObject({ headers: { Date: new Date(start - 900_000).toUTCString() } });
    engine.fault('no-date');
    expect(truncate()).not.toHaveProperty('headers.Date');
  });
});

describe('rows', () => {
  test('who took a row is known: a task, others, or an alias that has left it behind', () => {
    const { engine, truncate, pass } = createLaboratory();
    const before = engine.mark('dataset.operation');
    truncate({ endTimeMillis: start - 90 * day });
    pass(10_000);
    expect(engine.removeRows('dataset.operation', ({ timestamp }) => timestamp < start - 80 * day)).toBe(100);
    truncate({ endTimeMillis: start - 70 * day, forceDeleteByQuery: undefined, forceReindex: true });
    pass(10_000);
    const [task] = engine.tasks();
    const by = (who: string) => engine.goneSince(before).filter((row) => row.by === who).length;
    expect([by(task?.id ?? ''), by('others'), by('left-behind')]).toEqual([100, 100, 100]);
  });

  test('a copied row keeps its id', () => {
    const { engine, truncate, pass } = createLaboratory();
    const before = new Set(engine.rows('dataset.operation').map(({ id }) => id));
    truncate({ forceDeleteByQuery: undefined });
    pass(10_000);
    const rows = engine.rows('dataset.operation');
    expect(rows).toHaveLength(300);
    expect(rows.every(({ id }) => before.has(id))).toBe(true);
  });

  test('a deleted index ends its task, and its aspect is unknown', () => {
    const { engine, truncate, pass } = createLaboratory();
    truncate();
    pass(100);
    engine.deleteIndex(engine.indices()[0]?.name ?? '');
    pass(10_000);
    expect(engine.tasks()).toMatchObject([{ state: 'completed', deleted: 200 }]);
    expect(truncate()).toMatchObject({ status: 500 });
    expect(() => engine.rows('dataset.operation')).toThrow(RangeError);
  });

  test('a reindex whose new index is deleted ends', () => {
    const { engine, truncate, pass } = createLaboratory();
    truncate({ forceDeleteByQuery: undefined });
    pass(100);
    engine.deleteIndex(engine.indices()[0]?.name ?? '');
    pass(10_000);
    expect(engine.tasks()).toMatchObject([{ state: 'completed', created: 200 }]);
  });

  test('a reindex whose source is deleted ends with what it has copied', () => {
    const { engine, truncate, pass } = createLaboratory();
    const [source] = engine.indices();
    truncate({ forceDeleteByQuery: undefined });
    pass(100);
    engine.deleteIndex(source?.name ?? '');
    pass(10_000);
    expect(engine.tasks()).toMatchObject([{ state: 'completed', created: 200, total: 300 }]);
  });

  test('a system-update deletes what reindexing left behind, by the age of its creation, and refreshes again', () => {
    const { engine, truncate, pass } = createLaboratory({ profile: 'newest' });
    truncate({ forceDeleteByQuery: undefined });
    pass(day);
    const [live, left] = engine.indices();
    truncate({ forceDeleteByQuery: undefined, forceReindex: true });
    pass(day);
    engine.pointAlias('dataset.operation', live?.name ?? '');
    expect(live).toMatchObject({ rows: 300, visibleRows: 0 });
    pass(58 * day);
    expect(engine.systemUpdate()).toEqual([left?.name]);
    pass(3000);
    const young = { name: `dataset_operationaspect_v1_${start + day}` };
    expect(engine.indices()).toMatchObject([{ ...live, visibleRows: 300 }, young]);
  });

  test('two reindexes of the same millisecond make two indices, and leave every row somewhere', () => {
    const { engine, truncate, pass } = createLaboratory();
    truncate({ forceDeleteByQuery: undefined });
    truncate({ forceDeleteByQuery: undefined });
    pass(10_000);
    expect(engine.indices().map(({ name, rows }) => [name.slice(-13), rows])).toEqual([
      [String(start + 1), 0],
      [expect.any(String), 1000],
      [String(start), 300],
    ]);
  });

  test('a second delete meets other conflicts than the first', () => {
    const { engine, truncate, pass } = createLaboratory({ faults: ['conflicts=0.2'] });
    for (let night = 0; night < 10; night++) {
      truncate();
      pass(60_000);
    }
    expect(engine.rows('dataset.operation').length).toBeLessThan(305);
  });

  test('a million rows: half of them go in batches of 10000, in seconds of virtual time, in little memory', () => {
    // Of this thread: what the process holds is that of all of them.
    const held = () => process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    const before = held();
    const indices = [{ entityType: 'dataset', aspect: 'operation', rows: 1_000_000, days: 100 }];
    const { engine, truncate, pass } = createLaboratory({ indices });
    truncate({ endTimeMillis: start - 50 * day, batchSize: 10_000 });
    let looks = 0;
    while (engine.tasks()[0]?.state === 'running') {
      pass(100);
      looks++;
    }
    expect(engine.tasks()).toMatchObject([{ total: 500_000, deleted: 500_000, batches: 50 }]);
    expect(looks * 100).toBeLessThan(10_000);
    expect(engine.indices()).toMatchObject([{ rows: 500_000, visibleRows: 500_000 }]);
    expect(held() - before).toBeLessThan(300e6);
  });
});

describe('the fate of one request', () => {
  const total = (engine: Engine) => engine.rows('dataset.operation').length;

  test('fails before: the server does nothing', () => {
    const { engine, truncate, pass } = createLaboratory();
    engine.onRequest = () => ({ kind: 'fail-before', answer: { kind: 'reset' } });
    expect(truncate()).toEqual({ kind: 'reset', delayMillis: 0 });
    pass(10_000);
    expect(total(engine)).toBe(1000);
    expect(engine.asked).toMatchObject([{ acted: false, status: 'reset' }]);
  });

  test.each([
    [{ kind: 'no-answer' }, { kind: 'no-answer' }],
    [
      { kind: 'status', status: 504, body: 'late' },
      { kind: 'reply', status: 504, body: 'late' },
    ],
    [{ kind: 'garbage' }, { kind: 'reply', status: 200, body: expect.stringMatching(/^\{"value":"[^"]*$/) }],
  ] as const)('acts, then %o', (answer, expected) => {
    const { engine, truncate, pass } = createLaboratory();
    engine.onRequest = () => ({ kind: 'act-then', answer, delayMillis: 70_000 });
    expect(truncate()).toMatchObject({ ...expected, delayMillis: 70_000 });
    pass(10_000);
    expect(total(engine)).toBe(300);
    expect(engine.asked[0]?.value).toBe(engine.tasks()[0]?.id);
  });

  test('acts later than it seemed to fail', () => {
    const { engine, truncate, pass } = createLaboratory();
    engine.onRequest = () => ({ kind: 'act-then', answer: { kind: 'reset' }, actsAfterMillis: 60_000 });
    truncate();
    pass(59_999);
    expect(engine.tasks()).toEqual([]);
    pass(1);
    expect(engine.tasks()).toMatchObject([{ startedAt: start + 60_000 }]);
  });

  test('may be left alone, or only slowed down', () => {
    const { engine, truncate } = createLaboratory();
    engine.onRequest = (request) =>
      request.body.includes('"dryRun":false') ? undefined : { kind: 'pass', delayMillis: 5 };
    expect(truncate()).toMatchObject({ status: 200, delayMillis: 0 });
    expect(truncate({ dryRun: true })).toMatchObject({ status: 200, delayMillis: 5 });
  });
});

describe('over the network', () => {
  test('a reset is a reset and an answer that is cut is cut', async () => {
    const service = await serve();
    service.engine.onRequest = () => ({ kind: 'fail-before', answer: { kind: 'reset' } });
    await expect(service.truncate()).rejects.toThrow();
    service.engine.onRequest = () => ({ kind: 'act-then', answer: { kind: 'garbage' } });
    expect((await service.truncate()).json).toBeUndefined();
  });

  test('an answer that never comes keeps the connection open, and closing the service ends it', async () => {
    const service = await serve();
    service.engine.onRequest = () => ({ kind: 'act-then', answer: { kind: 'no-answer' } });
    const asked = service.truncate();
    const ended = expect(asked).rejects.toThrow();
    while (service.engine.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await service.close();
    await ended;
  });

  test('what was asked can be read back, without the token', async () => {
    const service = await serve();
    await service.truncate({ note: service.token });
    await service.post('getEsTaskStatus', 'not json');
    const { json: asked, text } = await service.send('/_asked', {});
    expect(asked).toEqual([
      {
        at: start,
        method: 'POST',
        path: '/operations?action=truncateTimeseriesAspect',
        action: 'truncateTimeseriesAspect',
        body: {
          entityType: 'dataset',
          aspect: 'operation',
          endTimeMillis: start - 30 * day,
          note: '[token]',
        },
        acted: true,
        status: 200,
        value: expect.stringContaining('Delete 700 out of 1000'),
      },
      {
        at: start,
        method: 'POST',
        path: '/operations?action=getEsTaskStatus',
        action: 'getEsTaskStatus',
        body: 'not json',
        acted: true,
        status: 400,
      },
    ]);
    expect(text).not.toContain(service.token);
  });

  test('what was asked is kept for the last ten thousand requests at least', () => {
    const { engine } = createLaboratory({ indices: [] });
    const request = { method: 'POST', headers: {}, body: '' };
    for (let number = 0; number < 25_000; number++) engine.handle({ ...request, path: `/${number}` });
    expect(engine.asked.length).toBeLessThanOrEqual(20_000);
    expect(engine.asked.slice(-10_000).map(({ path }) => path)).toEqual(
      Array.from({ length: 10_000 }, (_, number) => `/${15_000 + number}`),
    );
  });

  test('a path that is no path does not end the service', () => {
    const { engine } = createLaboratory();
    const headers = { authorization: `Bearer ${engine.token}` };
    const request = { method: 'POST', path: 'http://[', headers, body: '' };
    expect(engine.handle(request)).toMatchObject({ ...json(404, ''), headers: {}, body: expect.any(String) });
  });
});

describe('a shard that is away', () => {
  test('makes counts short without a word, ends what begins, and brings its rows back', async () => {
    const service = await serve();
    service.engine.shardAway('dataset.operation', 2);
    expect(await service.counts()).toEqual({ matching: 350, total: 500 });
    const task = await service.startDelete();
    service.pass(60_000);
    expect(await service.status(task)).toMatchObject({ completed: true, status: { total: 0, deleted: 0 } });
    service.engine.shardAway('dataset.operation', undefined);
    expect(await service.counts()).toEqual({ matching: 700, total: 1000 });
  });
});
