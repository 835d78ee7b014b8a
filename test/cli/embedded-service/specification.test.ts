import { describe, expect, onTestFinished, test } from 'vitest';
import { sampleIndices } from '../../../cli/embedded-service/samples.ts';
import { startOperationsService } from '../../../cli/embedded-service/service.ts';

/** The embedded service against its specification, over real HTTP: what the whole runs in ../readings do not show. */

const day = 86_400_000;
const start = Date.UTC(2026, 0, 15, 3, 30);

async function serve() {
  let now = start;
  const timestamps = Array.from({ length: 1000 }, (_, row) => start - 100 * day + (row + 0.5) * 0.1 * day);
  const indices = [{ entityType: 'dataset', aspect: 'operation', timestamps }];
  const service = await startOperationsService({ clock: { now: () => now }, indices });
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
  const rows = () => service.rows('dataset', 'operation')?.total;
  const pass = (millis: number) => {
    now += millis;
  };
  return { post, truncate, rows, pass };
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
});

describe('4.2 getEsTaskStatus', () => {
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
});

describe('5 authentication', () => {
  test('a request without the token is refused, and so is every other path', async () => {
    const { post } = await serve();
    expect((await post('getEsTaskStatus', { task: 'a:1' }, { token: 'another-token' })).status).toBe(401);
    expect((await post('getEsTaskStatus', { task: 'a:1' }, { path: '/elsewhere' })).status).toBe(404);
  });

  test('every answer says that the rows are samples', async () => {
    const { post } = await serve();
    expect((await post('getEsTaskStatus', { task: 'a:1' })).headers.get('x-sample-data')).toBe('true');
  });
});

test('the sample rows are the same at every start', async () => {
  const one = await startOperationsService({ clock: { now: () => start }, indices: sampleIndices(1000) });
  const other = await startOperationsService({ clock: { now: () => start }, indices: sampleIndices(1000) });
  onTestFinished(() => Promise.all([one.close(), other.close()]).then(() => undefined));
  const before = (service: typeof one) => service.rows('dataset', 'operation')?.before(start - 100 * day);
  expect(before(one)).toBe(before(other));
});
