import { describe, expect, test } from 'vitest';
import { day, serve, start } from './service.ts';

/** How real servers behave, point by point; docs/operations-service.md lists the points. */

const cutoff = { endTimeMillis: start - 30 * day };
const message = 'User is unauthorized to truncate timeseries index';

describe('point 1: actions and refusals', () => {
  test('point 1 the three actions answer in their envelopes', async () => {
    const service = await serve({ profile: '0.13.2-1.1' });
    const task = await service.startDelete();
    service.pass(1000);
    expect(task).toMatch(/:\d+$/);
    const { json } = await service.post('getEsTaskStatus', { task });
    // JSON in a text in JSON in a text.
    expect(JSON.parse(JSON.parse(json.value).status).total).toBe(700);
    expect((await service.post('getIndexSizes', '')).json.value.indexSizes).toHaveLength(1);
  });

  test('point 1 GET is 400', async () => {
    const service = await serve();
    const { status, json } = await service.send('/operations?action=getIndexSizes', { headers: service.headers });
    expect(status).toBe(400);
    expect(json.message).toBe(
      "All action methods (specified via 'action' in URI) must be submitted as a POST (was GET)",
    );
  });

  test('point 1 without a token the answer is a 401 page, or JSON if the client accepts it', async () => {
    const service = await serve();
    const ask = (accept: string) =>
      service.send('/operations?action=getIndexSizes', { method: 'POST', headers: { Accept: accept } });
    const page = await ask('*/*');
    expect([page.status, page.headers.get('content-type')]).toEqual([401, 'text/html;charset=utf-8']);
    expect(page.text).toContain('Error 401 Unauthorized to perform this action.');
    const small = await ask('application/json');
    expect([small.status, small.json.message]).toEqual([401, 'Unauthorized to perform this action.']);
  });

  test('point 1 a missing privilege is a 403 in rest.li form, for a dry run as well', async () => {
    const service = await serve({ profile: '0.13.2-1.1', faults: ['denied=truncate'] });
    const { status, json, headers } = await service.truncate();
    expect(status).toBe(403);
    expect(json).toMatchObject({
      exceptionClass: 'com.linkedin.restli.server.RestLiServiceException',
      message,
      status: 403,
    });
    expect(json.stackTrace).toContain(`[HTTP Status:403]: ${message}\n\tat `);
    expect(headers.has('x-restli-error-response')).toBe(false);
  });

  test('point 1 old servers answer 401 for a missing privilege', async () => {
    const service = await serve({ profile: '0.10.5', faults: ['denied=truncate'] });
    const { status, json } = await service.truncate();
    expect([status, json.message]).toEqual([401, message]);
  });

  test('point 1 each action has a privilege of its own', async () => {
    const service = await serve({ faults: ['denied=status', 'denied=sizes'] });
    expect((await service.truncate()).status).toBe(200);
    expect((await service.post('getEsTaskStatus', { task: 'n:1' })).json.message).toBe(
      'User is unauthorized to get ES task status',
    );
    expect((await service.post('getIndexSizes', '')).json.message).toBe('User is unauthorized to get index sizes.');
  });
});

describe('point 2: rows, mode and texts', () => {
  test.each([
    [50, 'Issuing a delete by query request.'],
    [51, 'Reindexing the aspect without the deleted records.'],
    [100, 'Reindexing the aspect without the deleted records.'],
    [0, 'Issuing a delete by query request.'],
  ])('point 2 with %i of 100 rows matching: %s', async (matching, sentence) => {
    const timestamps = Array.from({ length: 100 }, (_, row) => (row < matching ? start - 50 * day : start));
    const indices = [{ entityType: 'dataset', aspect: 'operation', timestamps }];
    const service = await serve({ profile: '0.13.2-1.1', indices });
    expect((await service.truncate()).json.value).toBe(
      `Delete ${matching} out of 100 rows (${matching}.00%). ${sentence} This was a dry run. Run with dryRun = false to execute.`,
    );
  });

  test('point 2 an empty index prints NaN', async () => {
    const indices = [{ entityType: 'dataset', aspect: 'operation', timestamps: [] }];
    const service = await serve({ profile: 'newest', indices });
    expect((await service.truncate()).json.value).toMatch(/^Delete 0 out of 0 rows \(NaN%\)\. Issuing a delete/);
  });

  test.each([
    [{ forceDeleteByQuery: true }, 'delete'],
    [{ forceDeleteByQuery: false }, 'Reindexing'],
  ])('point 2 %o decides how rows are deleted', async (flags, way) => {
    const service = await serve();
    expect((await service.truncate(flags)).json.value).toContain(way);
  });
});

describe('point 3: delete tasks', () => {
  test('point 3 deleted rises, and counts follow at a refresh some seconds later', async () => {
    const service = await serve({ profile: '1.2-1.5' });
    const task = await service.startDelete();
    service.pass(1000);
    expect((await service.status(task)).status).toMatchObject({ total: 700, deleted: 700 });
    expect(await service.counts()).toEqual({ matching: 700, total: 1000 });
    service.pass(3000);
    expect(await service.counts()).toEqual({ matching: 0, total: 300 });
  });

  test('point 3 a task that aborts midway is completed with fewer deleted than total', async () => {
    const service = await serve({ faults: ['abort-at=0.99'] });
    const task = await service.startDelete();
    service.pass(1000);
    expect(await service.status(task)).toMatchObject({ completed: true, status: { total: 700, deleted: 693 } });
  });
});

describe('point 4: reindex', () => {
  test('point 4 getIndexSizes shows the new name and no longer the old index', async () => {
    const service = await serve();
    await service.truncate({ dryRun: false });
    expect((await service.sizes()).map(({ indexName }: { indexName: string }) => indexName)).toEqual([
      `dataset_operationaspect_v1_${start}`,
    ]);
  });

  test.each([
    ['0.13.2-1.1', {}, 400],
    ['newest', {}, 400],
    ['1.2-1.5', { batchSize: 1000 }, 400],
    ['0.13.2-1.1', { batchSize: 0 }, 400],
  ] as const)('point 4 %s with %o fails with %i after the alias was moved', async (profile, fields, expected) => {
    const service = await serve({ profile });
    const { status, json } = await service.truncate({ dryRun: false, ...fields });
    expect([status, json.message]).toEqual([expected, 'Async reindex failed']);
    service.pass(60_000);
    expect(await service.counts()).toEqual({ matching: 0, total: 0 });
    expect(service.engine.indices().map(({ rows }) => rows)).toEqual([0, 1000]);
    expect(service.engine.tasks()).toEqual([]);
  });

  test.each([400, 500])('point 4 reindex-fails=%i: the same with a batch size', async (expected) => {
    const service = await serve({ faults: [`reindex-fails=${expected}`] });
    expect((await service.truncate({ dryRun: false, batchSize: 100 })).status).toBe(expected);
    expect(service.engine.indices().map(({ rows }) => rows)).toEqual([0, 1000]);
  });
});

describe('point 5: task status', () => {
  test('point 5 restart-at ends a task by itself', async () => {
    const service = await serve({ faults: ['restart-at=0.5'] });
    const task = await service.startDelete();
    service.pass(60_000);
    expect(await service.status(task)).toEqual({ error: `Could not get task status for ${task}` });
    expect(await service.counts()).toEqual({ matching: 350, total: 650 });
  });

  test.each([
    [{ task: 'hello' }, 'Task should be in the form nodeId:taskId e.g. aB1cdEf2GHIJKLMnoPQr3S:123456 (got hello)'],
    [
      { task: '123456:aB1cdEf2GHIJKLMnoPQr3S' },
      'Task should be in the form nodeId:taskId e.g. aB1cdEf2GHIJKLMnoPQr3S:123456 (got 123456:aB1cdEf2GHIJKLMnoPQr3S)',
    ],
    [{ task: 'n:0' }, 'Task should be in the form nodeId:taskId e.g. aB1cdEf2GHIJKLMnoPQr3S:123456 (got n:0)'],
    [
      { task: 'n:9223372036854775808' },
      'Task should be in the form nodeId:taskId e.g. aB1cdEf2GHIJKLMnoPQr3S:123456 (got n:9223372036854775808)',
    ],
    [{}, 'Please specify either Node ID + task ID OR composite task parameters'],
    [{ nodeId: 'n', taskId: 0 }, 'Please specify either Node ID + task ID OR composite task parameters'],
    [{ nodeId: 'n' }, 'Please specify either Node ID + task ID OR composite task parameters'],
    [
      { task: 'n:1', nodeId: 'n', taskId: 2 },
      'Please specify only one of Node ID + task ID OR composite task parameters',
    ],
  ])('point 5 the task %o is 400', async (body, expected) => {
    const service = await serve();
    const { status, json } = await service.post('getEsTaskStatus', body);
    expect([status, json.message]).toEqual([400, expected]);
  });

  test('point 5 both forms that mean the same task are accepted', async () => {
    const service = await serve();
    const task = await service.startDelete();
    const [nodeId, number] = task.split(':');
    expect((await service.post('getEsTaskStatus', { task, nodeId, taskId: Number(number) })).status).toBe(200);
  });

  test('point 5 status may be missing', async () => {
    const service = await serve({ faults: ['status-form=missing'] });
    expect(Object.keys(await service.status(await service.startDelete())).sort()).toEqual([
      'completed',
      'runTimeNanos',
      'taskId',
    ]);
  });

  test('point 5 the task id may be empty while the work goes on', async () => {
    const service = await serve({ faults: ['task-id=empty'] });
    expect((await service.truncate({ dryRun: false, forceDeleteByQuery: true })).json).toEqual({ value: '' });
    service.pass(60_000);
    expect(await service.counts()).toEqual({ matching: 0, total: 300 });
  });
});

describe('point 7: unknown names', () => {
  test('point 7 names are not case-sensitive', async () => {
    const service = await serve();
    expect(await service.counts({ entityType: 'DATASET', aspect: 'Operation' })).toEqual({
      matching: 700,
      total: 1000,
    });
  });
});

describe('point 8: sizes', () => {
  test('point 8 a merge happens by itself after some minutes', async () => {
    const service = await serve({ profile: 'newest' });
    const size = async () => (await service.sizes())[0].sizeInMb;
    const before = await size();
    await service.startDelete();
    service.pass(60_000);
    expect(await size()).toBeGreaterThan(before);
    service.pass(600_000);
    expect(await size()).toBeLessThan(before / 3);
  });

  test('point 8 on managed OpenSearch early servers answer 500', async () => {
    const service = await serve({ faults: ['sizes=failing'] });
    const { status, json } = await service.post('getIndexSizes', '');
    expect(status).toBe(500);
    expect(json.message).toContain('*aspect_v1/_stats');
  });

  test('point 8 the oldest form has sizeMb only', async () => {
    const service = await serve({ profile: '0.10.5' });
    expect(Object.keys((await service.sizes())[0])).toEqual(['aspectName', 'sizeMb', 'indexName', 'entityName']);
  });

  test('point 8 entity and aspect names may be missing', async () => {
    const service = await serve({ faults: ['sizes=no-names'] });
    expect(Object.keys((await service.sizes())[0])).toEqual(['sizeInMb', 'indexName']);
  });

  test('point 8 Postgres answers one row with stars', async () => {
    const service = await serve({ profile: 'postgres' });
    expect(await service.sizes()).toEqual([
      { indexName: 'public.metadata_timeseries_aspect', entityName: '*', aspectName: '*', sizeInMb: 0.420208 },
    ]);
  });
});

describe('point 9: Postgres', () => {
  test('point 9 a real run returns a UUID; its status is 400, or an error in the other form', async () => {
    const service = await serve({ profile: 'postgres' });
    const task = await service.startDelete();
    expect(task).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect((await service.post('getEsTaskStatus', { task })).status).toBe(400);
    const { json } = await service.post('getEsTaskStatus', { task: 'n:1' });
    expect(json.value).toBe('{"error":"Could not get task status for n:1"}');
    service.pass(60_000);
    expect(await service.counts()).toEqual({ matching: 0, total: 300 });
  });

  test('point 9 it never reindexes', async () => {
    const service = await serve({ profile: 'postgres' });
    expect((await service.truncate()).json.value).toContain('Delete 700 out of 1000 rows (70.00%). Issuing a delete');
  });
});

describe('point 10: proxies', () => {
  test('point 10 504 as text after the server has executed', async () => {
    const service = await serve({ faults: ['gateway-timeout'] });
    const { status, text } = await service.truncate({ dryRun: false, forceDeleteByQuery: true });
    expect([status, text]).toEqual([504, 'Proxy request timed out.']);
    service.pass(60_000);
    expect(await service.counts()).toEqual({ matching: 0, total: 300 });
  });

  test.each([
    ['login-redirect', 302, 'text/html;charset=utf-8'],
    ['login-page', 200, 'text/html;charset=utf-8'],
    ['bad-gateway', 502, 'text/html;charset=utf-8'],
    ['unauthorized-empty', 401, null],
  ])('point 10 %s answers %i and the server does nothing', async (fault, expected, type) => {
    const service = await serve({ faults: [fault] });
    const { status, headers, text } = await service.truncate({ dryRun: false });
    expect([status, headers.get('content-type')]).toEqual([expected, type]);
    expect(headers.has('location')).toBe(fault === 'login-redirect');
    expect(text === '').toBe(fault === 'unauthorized-empty');
    expect(service.engine.tasks()).toEqual([]);
  });

  test('point 10 the frontend forwards /api only, shows its page for another GET and an error page for another POST', async () => {
    const service = await serve({ faults: ['frontend'] });
    const fields = { entityType: 'dataset', aspect: 'operation', ...cutoff };
    const at = (path: string) => service.post('truncateTimeseriesAspect', fields, path);
    expect((await at('/api/gms/operations')).json.value).toContain('Delete 700');
    expect((await at('/gms/operations')).status).toBe(404);
    const page = await service.send('/operations', { headers: service.headers });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html;charset=utf-8']);
    const anonymous = await service.send('/api/gms/operations?action=getIndexSizes', { method: 'POST' });
    expect([anonymous.status, anonymous.text]).toEqual([401, '']);
  });
});

describe('point 11: another process truncates', () => {
  test('point 11 datahub-gc sends no batch size, so its reindex fails after the swap, and it covers that up', async () => {
    const service = await serve({ profile: '0.13.2-1.1' });
    expect(service.engine.runGc()).toEqual(['dataset.operation']);
    service.pass(60_000);
    expect(await service.counts()).toEqual({ matching: 0, total: 0 });
    expect(service.engine.tasks()).toMatchObject([{ kind: 'delete', total: 0, state: 'completed' }]);
    expect(service.engine.indices().map(({ rows }) => rows)).toEqual([0, 1000]);
  });

  test('point 11 the same cutoff was truncated already: nothing is left to delete', async () => {
    const service = await serve();
    service.engine.truncateByOthers('dataset.operation', { ...cutoff, forceDeleteByQuery: true });
    service.pass(60_000);
    expect(await service.counts()).toEqual({ matching: 0, total: 300 });
    expect(service.engine.asked.filter(({ action }) => action === 'truncateTimeseriesAspect')).toHaveLength(1);
  });
});

test('point 13 429 comes with a rest.li body and Retry-After', async () => {
  const service = await serve({ faults: ['throttled'] });
  const { status, json, headers } = await service.truncate();
  expect([status, json.status, headers.get('retry-after')]).toEqual([429, 429, '1']);
  expect(json.message).toBeTypeOf('string');
});
