import { describe, expect, test } from 'vitest';
import { day, serve, start } from './service.ts';

/** Each statement of the operations service's specification, by its section. docs/operations-service.md lists them. */

const reindexes =
  'Delete 700 out of 1000 rows (70.00%). Reindexing the aspect without the deleted records. This was a dry run. Run with dryRun = false to execute.';

describe('1. what the service does', () => {
  test('1 truncating removes the entries of one aspect of one entity type that are older than the timestamp', async () => {
    const service = await serve({
      indices: [
        { entityType: 'dataset', aspect: 'operation', timestamps: [start - 3, start - 2, start - 1] },
        { entityType: 'dataset', aspect: 'datasetProfile', timestamps: [start - 3] },
        { entityType: 'chart', aspect: 'operation', timestamps: [start - 3] },
      ],
    });
    await service.startDelete({ endTimeMillis: start - 2 });
    service.pass(1000);
    expect(service.engine.rows('dataset.operation').map(({ timestamp }) => timestamp)).toEqual([start - 1]);
    expect(service.engine.rows('dataset.datasetProfile')).toHaveLength(1);
    expect(service.engine.rows('chart.operation')).toHaveLength(1);
  });

  test('1 truncating is a dry run unless the caller turns the dry run off', async () => {
    const service = await serve();
    expect((await service.truncate()).json.value).toContain('This was a dry run.');
    service.pass(60_000);
    expect(service.engine.rows('dataset.operation')).toHaveLength(1000);
    expect(service.engine.tasks()).toEqual([]);
  });

  test('1 getEsTaskStatus takes the task id that truncating gave', async () => {
    const service = await serve();
    const task = await service.startDelete();
    expect((await service.status(task)).taskId).toBe(task);
  });

  test('1 getIndexSizes gives entity type, aspect and size of each index', async () => {
    const service = await serve();
    expect(await service.sizes()).toEqual([
      {
        indexName: expect.stringMatching(/^dataset_operationaspect_v1_\d{13}$/),
        entityName: 'dataset',
        aspectName: 'operation',
        sizeInMb: 0.420208,
      },
    ]);
  });
});

describe('2. resources and their fields', () => {
  test('2 a task status has completed, taskId, runTimeNanos and status', async () => {
    const service = await serve();
    const task = await service.startDelete();
    service.pass(100);
    const status = await service.status(task);
    expect(Object.keys(status).sort()).toEqual(['completed', 'runTimeNanos', 'status', 'taskId']);
    expect(status.completed).toBe(false);
    expect(status.runTimeNanos).toBe(100 * 1e6);
    expect(status.status).toBeTypeOf('object');
  });

  test.each([
    'total',
    'updated',
    'created',
    'deleted',
    'batches',
    'version_conflicts',
    'noops',
    'throttled_millis',
    'throttled_until_millis',
  ])('2 the counter %s is an integer', async (counter) => {
    const service = await serve();
    const { status } = await service.status(await service.startDelete());
    expect(Number.isInteger(status[counter])).toBe(true);
  });

  test('2 retries holds the integers bulk and search', async () => {
    const service = await serve();
    const { status } = await service.status(await service.startDelete());
    expect(status.retries).toEqual({ bulk: 0, search: 0 });
  });

  test('2 requests_per_second is written as a negative decimal, there is no limit', async () => {
    const service = await serve();
    const { json } = await service.post('getEsTaskStatus', { task: await service.startDelete() });
    expect(json.value).toContain('"requests_per_second":-1.0,');
  });

  test('2 a message result is an object with the single field value, a string', async () => {
    const service = await serve();
    for (const dryRun of [true, false]) {
      const { json } = await service.truncate({ dryRun });
      expect(Object.keys(json)).toEqual(['value']);
      expect(json.value).toBeTypeOf('string');
    }
  });
});

test('3 a task is first not completed, then completed', async () => {
  const service = await serve();
  const task = await service.startDelete();
  const seen = [];
  for (let look = 0; look < 4; look++) {
    const { completed, status } = await service.status(task);
    seen.push([completed, status.deleted]);
    service.pass(140);
  }
  // 700 rows in batches of 100, each 45.5 ms.
  expect(seen).toEqual([
    [false, 0],
    [false, 300],
    [false, 600],
    [true, 700],
  ]);
});

describe('4.1. truncate time series index', () => {
  test.each(['/gms/operations', '/operations'])('4.1 it answers a POST at %s', async (path) => {
    const service = await serve();
    const fields = { entityType: 'dataset', aspect: 'operation', endTimeMillis: start - 30 * day };
    const { status, json } = await service.post('truncateTimeseriesAspect', fields, path);
    expect([status, json.value]).toEqual([200, reindexes]);
  });

  test.each(['entityType', 'aspect', 'endTimeMillis'])('4.1 %s is required', async (field) => {
    const service = await serve();
    const { status, json } = await service.truncate({ [field]: undefined });
    expect([status, json.message]).toEqual([400, `Parameter '${field}' is required`]);
  });

  test('4.1 dryRun is true unless sent', async () => {
    const service = await serve();
    expect((await service.truncate({ dryRun: true })).json).toEqual((await service.truncate()).json);
  });

  test.each([
    ['delete by query', { endTimeMillis: start, forceDeleteByQuery: true }],
    ['reindex', { endTimeMillis: 0 }],
  ])('4.1 batchSize is 10000 unless sent (%s)', async (_, fields) => {
    const service = await serve({ indices: [{ entityType: 'dataset', aspect: 'operation', rows: 25_000, days: 90 }] });
    await service.truncate({ dryRun: false, ...fields });
    service.pass(60_000);
    expect(service.engine.tasks()).toMatchObject([{ total: 25_000, batches: 3 }]);
  });

  test('4.1 batchSize is the number of rows of one batch', async () => {
    const service = await serve();
    const task = await service.startDelete({ batchSize: 250 });
    service.pass(60_000);
    expect((await service.status(task)).status.batches).toBe(3);
  });

  test('4.1 timeoutSeconds may be sent, and there is no timeout unless it is', async () => {
    const service = await serve();
    service.engine.set({ batchOverheadMillis: 3_600_000 });
    const task = await service.startDelete({ timeoutSeconds: 1 });
    service.pass(24 * 3_600_000);
    expect((await service.status(task)).status.deleted).toBe(700);
  });

  test('4.1 the dry run names the rows to delete, all rows, the percentage with two decimals, that the aspect is reindexed, that it was a dry run and how to execute', async () => {
    const service = await serve();
    expect((await service.truncate()).json).toEqual({ value: reindexes });
  });

  test('4.1 dryRun false returns the id of an asynchronous task, as node id and task number', async () => {
    const service = await serve();
    const { json } = await service.truncate({ dryRun: false });
    expect(json.value).toMatch(/^[A-Za-z0-9_-]{22}:\d+$/);
    expect(service.engine.tasks()).toMatchObject([{ id: json.value, state: 'running' }]);
  });

  test('4.1 the aspect is reindexed without the deleted records', async () => {
    const service = await serve();
    await service.truncate({ dryRun: false });
    service.pass(60_000);
    expect(service.engine.tasks()).toMatchObject([{ kind: 'reindex', created: 300, deleted: 0, total: 300 }]);
    const rows = service.engine.rows('dataset.operation');
    expect(rows).toHaveLength(300);
    expect(rows.every(({ timestamp }) => timestamp > start - 30 * day)).toBe(true);
  });

  test('4.1 with forceDeleteByQuery the dry run says so and the rows are deleted in place', async () => {
    const service = await serve();
    const [before] = service.engine.indices();
    expect((await service.truncate({ forceDeleteByQuery: true })).json.value).toBe(
      'Delete 700 out of 1000 rows (70.00%). Issuing a delete by query request. This was a dry run. Run with dryRun = false to execute.',
    );
    await service.startDelete();
    service.pass(60_000);
    expect(service.engine.indices()).toEqual([{ ...before, rows: 300, visibleRows: 300 }]);
  });
});

describe('4.2. get task status', () => {
  test.each(['/gms/operations', '/operations'])('4.2 it answers a POST at %s', async (path) => {
    const service = await serve();
    const task = await service.startDelete();
    const { status, json } = await service.post('getEsTaskStatus', { task }, path);
    expect([status, JSON.parse(json.value).taskId]).toEqual([200, task]);
  });

  test('4.2 the combined and the separate form name the same task', async () => {
    const service = await serve();
    const task = await service.startDelete();
    const [nodeId, taskId] = task.split(':');
    const combined = await service.post('getEsTaskStatus', { task });
    const separate = await service.post('getEsTaskStatus', { nodeId, taskId: Number(taskId) });
    expect(combined.json).toEqual(separate.json);
  });

  test('4.2 the answer is a string that contains a JSON object', async () => {
    const service = await serve();
    const { json } = await service.post('getEsTaskStatus', { task: await service.startDelete() });
    expect(json.value).toBeTypeOf('string');
    expect(JSON.parse(json.value)).toBeTypeOf('object');
  });

  test('4.2 a status that cannot be obtained is an error inside value that names the task', async () => {
    const service = await serve();
    const { status, json } = await service.post('getEsTaskStatus', { task: 'XIAMx5WySACgg9XxBgaKmw:12587' });
    expect(status).toBe(200);
    expect(json).toEqual({ value: '{"error":"Could not get task status for XIAMx5WySACgg9XxBgaKmw:12587"}' });
  });
});

test('4.3 what getIndexSizes outputs is what truncating takes', async () => {
  const service = await serve();
  const [{ entityName, aspectName }] = await service.sizes();
  const { json } = await service.truncate({ entityType: entityName, aspect: aspectName });
  expect(json.value).toBe(reindexes);
});

test('5 a request is answered if it carries the token, and refused otherwise', async () => {
  const service = await serve();
  const ask = async (headers: Record<string, string>) =>
    (await service.send('/operations?action=getIndexSizes', { method: 'POST', headers })).status;
  expect(await ask({ Authorization: `Bearer ${service.token}` })).toBe(200);
  expect(await ask({ Authorization: 'Bearer wrong' })).toBe(401);
  expect(await ask({})).toBe(401);
});
