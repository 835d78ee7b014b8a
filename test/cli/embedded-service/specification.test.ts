import { describe, expect, onTestFinished, test } from 'vitest';
import { sampleIndices } from '../../../cli/embedded-service/samples.ts';
import { startOperationsService } from '../../../cli/embedded-service/service.ts';

/** The embedded service against its specification, over real HTTP: what takes a clock (walk.test.ts has the rest). */

const day = 86_400_000;
const start = Date.UTC(2026, 0, 15, 3, 30);

async function serve() {
  let now = start;
  const timestamps = Array.from({ length: 1000 }, (_, row) => start - 100 * day + (row + 0.5) * 0.1 * day);
  const indices = [{ entityType: 'dataset', aspect: 'operation', timestamps }];
  const service = await startOperationsService({ clock: { now: () => now }, indices });
  onTestFinished(() => service.close());
  const post = async (action: string, body: unknown) => {
    const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' };
    const url = `${service.url}/gms/operations?action=${action}`;
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

describe('4.1 truncateTimeseriesAspect', () => {
  test('states rows to delete, rows in all, the share and a reindex, whatever the case of the names', async () => {
    const { truncate } = await serve();
    const sentence =
      'Delete 700 out of 1000 rows (70.00%). Reindexing the aspect without the deleted records. This was a dry run. Run with dryRun = false to execute.';
    expect((await truncate({ entityType: 'DATASET', aspect: 'Operation' })).json()).toEqual({ value: sentence });
  });

  test('with dryRun false removes rows older than the timestamp, and none that is as old', async () => {
    const { truncate, rows, pass } = await serve();
    const exact = start - 100 * day + 700.5 * 0.1 * day;
    expect((await truncate({ dryRun: false, endTimeMillis: exact })).json().value).toMatch(/^[\w-]+:\d+$/);
    pass(60_000);
    expect(rows()).toBe(300);
  });

  test('sent twice, by a gateway that repeats requests, removes no newer rows', async () => {
    const { truncate, rows, pass } = await serve();
    await truncate({ dryRun: false });
    await truncate({ dryRun: false });
    pass(60_000);
    expect(rows()).toBe(300);
  });
});

test('every answer says that the rows are samples', async () => {
  const { post } = await serve();
  expect((await post('getEsTaskStatus', { task: 'a:1' })).headers.get('x-sample-data')).toBe('true');
});

test('the sample rows are the same at every start', async () => {
  const one = await startOperationsService({ clock: { now: () => start }, indices: sampleIndices(1000) });
  const other = await startOperationsService({ clock: { now: () => start }, indices: sampleIndices(1000) });
  onTestFinished(() => Promise.all([one.close(), other.close()]).then(() => undefined));
  const before = (service: typeof one) => service.rows('dataset', 'operation')?.before(start - 100 * day);
  expect(before(one)).toBe(before(other));
});
