import { expect, test } from 'vitest';
import { day, serve, start } from './service.ts';

/** What the real server answers to invalid requests (rest.li's parameter layer, DataHub's resource). */

test.each([
  [{ endTimeMillis: 'abc' }, 'ERROR :: /endTimeMillis :: abc cannot be coerced to Long\n'],
  [{ endTimeMillis: '1687970192000' }, 'ERROR :: /endTimeMillis :: 1687970192000 cannot be coerced to Long\n'],
  [{ batchSize: true }, 'ERROR :: /batchSize :: true cannot be coerced to Integer\n'],
  [{ dryRun: 'false' }, 'ERROR :: /dryRun :: false cannot be coerced to Boolean\n'],
  [{ entityType: 1 }, 'ERROR :: /entityType :: 1 cannot be coerced to String\n'],
  [
    { timeoutSeconds: null, forceDeleteByQuery: 1 },
    'ERROR :: /timeoutSeconds :: null cannot be coerced to Long\nERROR :: /forceDeleteByQuery :: 1 cannot be coerced to Boolean\n',
  ],
])('the wrong types in %o are 400, each named', async (fields, errors) => {
  const service = await serve();
  const { status, json } = await service.truncate({ dryRun: false, ...fields });
  expect(status).toBe(400);
  expect(json.message).toBe(`Parameters of method 'truncateTimeseriesAspect' failed validation with error '${errors}'`);
  expect(service.engine.tasks()).toEqual([]);
});

test('a task number as text is 400', async () => {
  const service = await serve();
  const { status, json } = await service.post('getEsTaskStatus', { nodeId: 'n', taskId: '12' });
  expect([status, json.message]).toEqual([
    400,
    "Parameters of method 'getEsTaskStatus' failed validation with error 'ERROR :: /taskId :: 12 cannot be coerced to Long\n'",
  ]);
});

test('unknown fields are ignored', async () => {
  const service = await serve();
  expect((await service.truncate({ dryrun: false, colour: 'red' })).json.value).toContain('This was a dry run.');
});

test.each(['not json', '[1]', '"text"', '{"a":'])('the body %s is 400', async (body) => {
  const service = await serve();
  const { status, json } = await service.post('truncateTimeseriesAspect', body);
  expect([status, json.message]).toEqual([400, 'Cannot parse request entity']);
});

test.each(['restart', ''])('the action "%s" is 400', async (action) => {
  const service = await serve();
  const { status, json } = await service.post(action, {});
  expect(status).toBe(400);
  expect(json.message).toContain('not supported ');
});

test.each(['/', '/gms', '/operation', '/operations/more', '//'])('the path %s is 404', async (path) => {
  const service = await serve();
  expect((await service.send(path, { method: 'POST', headers: service.headers })).status).toBe(404);
});

test('a wrong token is refused before the body is looked at', async () => {
  const service = await serve();
  const response = await service.send('/operations?action=truncateTimeseriesAspect', {
    method: 'POST',
    headers: { Authorization: 'Bearer wrong' },
    body: 'not json',
  });
  expect(response.status).toBe(401);
});

test('a wrong body is refused before the privilege is asked for, an unknown name afterwards', async () => {
  const service = await serve({ faults: ['denied=truncate'] });
  expect((await service.post('truncateTimeseriesAspect', 'not json')).status).toBe(400);
  expect((await service.truncate({ endTimeMillis: 'abc' })).status).toBe(400);
  expect((await service.truncate({ aspect: 'foo' })).status).toBe(403);
});

test.each([0, -5])('a batch size of %i is the default in a delete', async (batchSize) => {
  const service = await serve();
  const task = await service.startDelete({ batchSize });
  service.pass(60_000);
  expect((await service.status(task)).status).toMatchObject({ deleted: 700, batches: 1 });
});

test('numbers are cut to whole ones', async () => {
  const service = await serve();
  const task = await service.startDelete({ batchSize: 350.9, endTimeMillis: start - 30 * day + 0.5 });
  service.pass(60_000);
  expect((await service.status(task)).status).toMatchObject({ deleted: 700, batches: 2 });
  const [nodeId, number] = task.split(':');
  const { json } = await service.post('getEsTaskStatus', { nodeId, taskId: Number(number) + 0.9 });
  expect(JSON.parse(json.value).taskId).toBe(task);
});

test('a delete that finds nothing is a completed task without a batch', async () => {
  const service = await serve();
  const task = await service.startDelete({ endTimeMillis: 0 });
  service.pass(1000);
  expect(await service.status(task)).toMatchObject({ completed: true, status: { total: 0, deleted: 0, batches: 0 } });
});

test('a cutoff in seconds matches nothing, one in the future everything', async () => {
  const service = await serve();
  expect(await service.counts({ endTimeMillis: Math.floor(service.now() / 1000) })).toEqual({
    matching: 0,
    total: 1000,
  });
  expect(await service.counts({ endTimeMillis: service.now() * 2 })).toEqual({ matching: 1000, total: 1000 });
});

test('a body of more than a megabyte is 413', async () => {
  const service = await serve();
  expect((await service.post('getIndexSizes', 'x'.repeat(1_000_001))).status).toBe(413);
});
