import { describe, expect, test } from 'vitest';
import type { HttpReply } from '../../operations-service/simulation/exchange.ts';
import { createEngine, type EngineOptions } from '../../operations-service/engine.ts';
import { day, serve, start, tenADay } from './service.ts';

/**
 * What a real search engine and the real datahub-gc were found to do, besides the statements that `npm run test:engine`
 * tries on both engines.
 */

const gcPairs = [
  ['dataset', 'operation'],
  ['dataset', 'datasetUsageStatistics'],
  ['chart', 'chartUsageStatistics'],
  ['dashboard', 'dashboardUsageStatistics'],
  ['query', 'queryUsageStatistics'],
] as const;

function simulate(options: EngineOptions = {}) {
  let now = start;
  const engine = createEngine({
    clock: { now: () => now },
    indices: [{ entityType: 'dataset', aspect: 'operation', timestamps: tenADay() }],
    ...options,
  });
  const truncate = (fields: object = {}): string => {
    const reply = engine.handle({
      method: 'POST',
      path: '/operations?action=truncateTimeseriesAspect',
      headers: { authorization: `Bearer ${engine.token}` },
      body: JSON.stringify({
        entityType: 'dataset',
        aspect: 'operation',
        endTimeMillis: start - 30 * day,
        dryRun: false,
        forceDeleteByQuery: true,
        batchSize: 100,
        ...fields,
      }),
    });
    return JSON.parse((reply as HttpReply).body).value;
  };
  const pass = (millis: number) => {
    now += millis;
  };
  return { engine, truncate, pass };
}

describe('a full disk', () => {
  test('flood-at fills it once: with room again the task goes on to its end', () => {
    const { engine, truncate, pass } = simulate({ faults: ['flood-at=0.5'] });
    truncate();
    pass(10_000);
    expect(engine.tasks()[0]).toMatchObject({ state: 'running', deleted: 400 });
    engine.floodStage(false);
    pass(20_000);
    expect(engine.tasks()[0]).toMatchObject({ state: 'completed', deleted: 700 });
  });

  test('without room the task ends after a minute, and the next one fares alike', () => {
    const { engine, truncate, pass } = simulate({ faults: ['flood-at=0'] });
    const first = truncate();
    pass(58_000);
    expect(engine.tasks()[0]?.state).toBe('running');
    pass(4_000);
    expect(engine.tasks()[0]).toMatchObject({ state: 'completed', deleted: 0 });
    expect(truncate()).not.toBe(first);
    pass(70_000);
    expect(engine.tasks()[1]).toMatchObject({ state: 'completed', deleted: 0 });
  });

  test('a copy waits as well, and the rows that it does not bring stay behind', () => {
    const { engine, truncate, pass } = simulate();
    const before = engine.mark('dataset.operation');
    truncate({ forceDeleteByQuery: undefined, forceReindex: true });
    pass(100);
    engine.floodStage(true);
    pass(70_000);
    expect(engine.tasks()[0]?.state).toBe('completed');
    const lost = engine.goneSince(before).filter(({ timestamp }) => timestamp > start - 30 * day);
    expect(new Set(lost.map(({ by }) => by))).toEqual(new Set(['left-behind']));
  });
});

describe('a restart', () => {
  test('lets task numbers begin anew: another task gets the id of one from before', () => {
    const { engine, truncate, pass } = simulate({ faults: ['task-numbers-restart'] });
    const before = engine.mark('dataset.operation');
    const first = truncate({ endTimeMillis: start - 60 * day });
    pass(5_000);
    engine.restartNode();
    const second = truncate();
    expect(second).toBe(first);
    pass(5_000);
    expect(engine.tasks()).toHaveLength(1);
    expect(engine.tasks()[0]).toMatchObject({ id: first, deleted: 300 });
    // It is still known which of the two deleted a row: the first 400, the second 300.
    expect(engine.goneSince(before)).toHaveLength(700);
  });

  test('keeps counting where that is not set', () => {
    const { engine, truncate } = simulate();
    const [, first] = truncate().split(':');
    engine.restartNode();
    expect(Number(truncate().split(':')[1])).toBe(Number(first) + 1);
  });
});

test('two tasks on the same rows take turns where batches are not equally fast', () => {
  const { engine, truncate, pass } = simulate({ faults: ['batch-jitter=0.5'] });
  truncate();
  truncate();
  pass(60_000);
  const deleted = engine.tasks().map((task) => task.deleted);
  expect(Math.min(...deleted)).toBeGreaterThan(0);
  expect(deleted[0]! + deleted[1]!).toBe(700);
});

test('a task that still searches reports zeros, and works no rows', () => {
  const { engine, truncate, pass } = simulate({ faults: ['first-search=400'] });
  truncate();
  pass(399);
  expect(engine.rows('dataset.operation')).toHaveLength(1000);
  pass(1000);
  expect(engine.rows('dataset.operation')).toHaveLength(300);
});

test('where refreshing is off, what is deleted is found until it is on again', () => {
  const { engine, truncate, pass } = simulate();
  engine.refreshing('dataset.operation', false);
  truncate();
  pass(10_000);
  expect(engine.indices()[0]).toMatchObject({ rows: 300, visibleRows: 1000 });
  engine.refreshing('dataset.operation', true);
  pass(1);
  expect(engine.indices()[0]).toMatchObject({ rows: 300, visibleRows: 300 });
});

describe('datahub-gc', () => {
  const indices = gcPairs.map(([entityType, aspect]) => ({ entityType, aspect, timestamps: tenADay() }));

  test('asks for its five indices, two of them in lower case, which Postgres does not find', () => {
    const all = gcPairs.map(([entityType, aspect]) => `${entityType}.${aspect}`);
    expect(simulate({ indices, profile: '0.13.2-1.1', faults: ['reindex-fails=400'] }).engine.runGc()).toEqual(all);
    expect(simulate({ indices, profile: 'postgres' }).engine.runGc()).toEqual([
      'dataset.operation',
      'chart.chartUsageStatistics',
      'dashboard.dashboardUsageStatistics',
    ]);
  });

  test('sends a truncate again after a 500, and by then the index is empty: it ends well, and every row is gone from view', () => {
    const { engine, pass } = simulate({ profile: '0.13.2-1.1', faults: ['reindex-fails=500'] });
    expect(engine.runGc()).toEqual(['dataset.operation']);
    pass(60_000);
    expect(engine.rows('dataset.operation')).toHaveLength(0);
    expect(engine.tasks()).toMatchObject([{ kind: 'delete', total: 0 }]);
  });

  test('waits 0, 4, 8 and 16 s before it asks a failing index again, then as long with the flag, and goes on to the next', () => {
    const { engine, pass } = simulate({ indices: indices.slice(0, 3), profile: '0.13.2-1.1' });
    engine.deleteIndex(engine.indices()[0]?.name ?? '');
    const touched = engine.runGc();
    const touchedAfter = (millis: number) => {
      pass(millis);
      // The engine catches up with the clock on each request.
      engine.indices();
      return touched;
    };
    expect(touchedAfter(55_000)).toEqual([]);
    expect(touchedAfter(2000)).toEqual(['dataset.datasetUsageStatistics', 'chart.chartUsageStatistics']);
  });

  test('whatever becomes of its calls, the requests of others are answered', async () => {
    const faults = ['ignores-force-flags', 'reindex-fails=500', 'gc-after=1'];
    const service = await serve({ profile: 'specification', faults });
    service.pass(2000);
    expect((await service.truncate()).status).toBe(200);
  });
});

describe('the door', () => {
  test('every answer says that the data is a sample, refusals and what stands in between included', async () => {
    const service = await serve();
    const answers = [
      await service.truncate(),
      await service.truncate({ dryRun: false }),
      await service.post('getIndexSizes', ''),
      await service.send('/operations?action=getIndexSizes', { method: 'GET', headers: service.headers }),
      await service.send('/nothing', { method: 'POST', headers: service.headers }),
      await service.send('/_asked', {}),
    ];
    service.engine.fault('bad-gateway');
    answers.push(await service.truncate());
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400, 404, 200, 502]);
    for (const { headers } of answers) expect(headers.get('X-Sample-Data')).toBe('true');
  });

  test('an error of the service itself is a 500, and the connection lives on', async () => {
    const service = await serve();
    service.engine.onRequest = () => {
      throw new Error('a hook has thrown');
    };
    const answer = await service.truncate();
    expect([answer.status, answer.json.message]).toEqual([500, 'Error: a hook has thrown']);
    service.engine.onRequest = undefined;
    expect((await service.truncate()).status).toBe(200);
  });
});
