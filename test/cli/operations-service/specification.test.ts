import { describe, expect, onTestFinished, test } from 'vitest';
import type { Reading } from '../../../cli/operations-service/reading.ts';
import { sampleIndices } from '../../../cli/operations-service/samples.ts';
import { startOperationsService } from '../../../cli/operations-service/server.ts';

/** The embedded service against its specification, statement by statement, over real HTTP. */

const day = 86_400_000;
const start = Date.UTC(2026, 0, 15, 3, 30);

async function serve(reading: Partial<Reading> = {}) {
  let now = start;
  const timestamps = Array.from({ length: 1000 }, (_, row) => start - 100 * day + (row + 0.5) * 0.1 * day);
  const indices = [{ entityType: 'dataset', aspect: 'operation', timestamps }];
  const service = await startOperationsService({ clock: { now: () => now }, indices, reading });
  onTestFinished(() => service.close());
  const post = async (action: string, body: unknown, { path = '/gms/operations', token = service.token } = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const url = `${service.url}${path}?action=${action}`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
  };
  const cutoff = { entityType: 'dataset', aspect: 'operation', endTimeMillis: start - 30 * day };
  const truncate = (fields: object = {}) => post('truncateTimeseriesAspect', { ...cutoff, ...fields });
  const rows = () => service.service.rows('dataset', 'operation')?.total;
  const write = (count: number) => service.service.rows('dataset', 'operation')?.add(Array(count).fill(now));
  const pass = (millis: number) => {
    now += millis;
  };
  return { post, truncate, rows, write, pass };
}

const sentence =
  'Would delete 700 out of 1000 rows (70.00%). Reindexing the aspect without the deleted records. This was a dry run: repeat the call with dryRun set to false to execute it.';

describe('4.1 truncateTimeseriesAspect', () => {
  test('is a dry run by default, and states rows to delete, rows in all, the share and a reindex', async () => {
    const { truncate, rows, pass } = await serve();
    const answer = await truncate();
    expect(answer.json()).toEqual({ value: sentence });
    pass(60_000);
    expect(rows()).toBe(1000);
  });

  test('with dryRun false removes rows older than the timestamp, and none that is as old', async () => {
    const { truncate, rows, pass } = await serve();
    const exact = start - 100 * day + 700.5 * 0.1 * day;
    expect((await truncate({ dryRun: false, endTimeMillis: exact })).json().value).toMatch(/^[\w-]+:\d+$/);
    pass(60_000);
    expect(rows()).toBe(300);
  });

  test('finds its index whatever the case of the names', async () => {
    const { truncate } = await serve();
    expect((await truncate({ entityType: 'DATASET', aspect: 'Operation' })).json()).toEqual({ value: sentence });
  });

  test.each(['entityType', 'aspect', 'endTimeMillis'])('refuses a request without %s', async (field) => {
    const { truncate } = await serve();
    const answer = await truncate({ [field]: undefined });
    expect([answer.status, answer.json().message]).toEqual([400, `Parameter '${field}' is required`]);
  });

  test('refuses a timestamp beyond a long as DataHub does', async () => {
    const { truncate } = await serve();
    const answer = await truncate({ endTimeMillis: 2 ** 64 });
    expect([answer.status, answer.json().message]).toEqual([400, "Parameter 'endTimeMillis' is required"]);
  });

  test.each([400, 422] as const)('may refuse a field that the specification does not name: %d', async (status) => {
    const { truncate } = await serve({ refusesFields: status });
    expect((await truncate({ forceDeleteByQuery: true })).status).toBe(status);
    expect((await truncate({ batchSize: 10, timeoutSeconds: 5 })).status).toBe(200);
  });

  test('answers with the task id as text, as a JSON string, or in a value', async () => {
    const real = { dryRun: false };
    expect((await (await serve({ taskId: 'text' })).truncate(real)).text).toMatch(/^[\w-]+:\d+$/);
    expect((await (await serve({ taskId: 'json' })).truncate(real)).json()).toMatch(/^[\w-]+:\d+$/);
    expect((await (await serve({ taskId: 'value' })).truncate(real)).json().value).toMatch(/^[\w-]+:\d+$/);
  });
});

describe('4.2 getEsTaskStatus', () => {
  const shapes = {
    object: (text: string) => JSON.parse(text),
    string: (text: string) => JSON.parse(JSON.parse(text)),
    'value-string': (text: string) => JSON.parse(JSON.parse(text).value),
    'value-object': (text: string) => JSON.parse(text).value,
  } as const;

  test.each(Object.entries(shapes))('tells the status of a task as %s', async (status, read) => {
    const { truncate, post, pass } = await serve({ status: status as Reading['status'] });
    const task: string = (await truncate({ dryRun: false })).json().value;
    pass(500);
    const running = read((await post('getEsTaskStatus', { task })).text);
    expect(running).toMatchObject({ completed: false, taskId: task, status: { total: 700, created: 0, updated: 0 } });
    expect(running.status.deleted).toBeGreaterThan(0);
    pass(60_000);
    const ended = read((await post('getEsTaskStatus', { task })).text);
    expect(ended).toMatchObject({ completed: true, status: { deleted: 700, retries: { bulk: 0, search: 0 } } });
  });

  test('takes node and number separately', async () => {
    const { truncate, post } = await serve();
    const [nodeId, number] = (await truncate({ dryRun: false })).json().value.split(':');
    const answer = await post('getEsTaskStatus', { nodeId, taskId: Number(number) });
    expect(JSON.parse(answer.json().value).taskId).toBe(`${nodeId}:${number}`);
  });

  test('says that it could not be obtained for a task that it does not know', async () => {
    const { post } = await serve();
    const { value } = (await post('getEsTaskStatus', { task: 'nobody:1' })).json();
    expect(JSON.parse(value)).toEqual({ error: 'Could not get the status of the task nobody:1' });
  });

  test('a copy counts what it created, and takes the place of the rows when it ends', async () => {
    const { truncate, post, rows, pass } = await serve({ counters: 'created', reindexes: true });
    const task: string = (await truncate({ dryRun: false })).json().value;
    pass(500);
    expect(rows()).toBe(1000);
    pass(60_000);
    expect(rows()).toBe(300);
    const status = JSON.parse((await post('getEsTaskStatus', { task })).json().value);
    expect(status.status).toMatchObject({ created: 300, deleted: 0, total: 300 });
  });
});

test('rows that are written during a copy stay in the old index', async () => {
  const { truncate, rows, write, pass } = await serve({ counters: 'created', reindexes: true });
  await truncate({ dryRun: false });
  write(5);
  expect(rows()).toBe(1005);
  pass(60_000);
  expect(rows()).toBe(300);
});

describe('4.3 getIndexSizes and 5 authentication', () => {
  test('sizes are told only where a switch adds them', async () => {
    expect((await (await serve()).post('getIndexSizes', {})).status).toBe(400);
    const { value } = (await (await serve({ hasSizes: true })).post('getIndexSizes', {})).json();
    expect(value.indexSizes).toMatchObject([{ entityName: 'dataset', aspectName: 'operation', sizeInMb: 0.25 }]);
  });

  test('a request without the token is refused, unless none is needed', async () => {
    const other = { token: 'another-token' };
    expect((await (await serve()).post('getEsTaskStatus', { task: 'a:1' }, other)).status).toBe(401);
    expect((await (await serve({ needsToken: false })).post('getEsTaskStatus', { task: 'a:1' }, other)).status).toBe(
      200,
    );
  });

  test('both paths lead to it, and every answer says that the rows are samples', async () => {
    const { post } = await serve();
    for (const path of ['/operations', '/gms/operations']) {
      const answer = await post('getEsTaskStatus', { task: 'a:1' }, { path });
      expect([answer.status, answer.headers.get('x-sample-data')]).toEqual([200, 'true']);
    }
    expect((await post('getEsTaskStatus', { task: 'a:1' }, { path: '/elsewhere' })).status).toBe(404);
  });
});

test('the sample rows are the same for the same seed', async () => {
  const one = await startOperationsService({ clock: { now: () => start }, indices: sampleIndices(1000) });
  const other = await startOperationsService({ clock: { now: () => start }, indices: sampleIndices(1000) });
  onTestFinished(() => Promise.all([one.close(), other.close()]).then(() => undefined));
  const before = (service: typeof one) => service.service.rows('dataset', 'operation')?.before(start - 100 * day);
  expect(before(one)).toBe(before(other));
});
