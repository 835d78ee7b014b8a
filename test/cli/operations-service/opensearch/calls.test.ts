import { describe, expect, onTestFinished, test } from 'vitest';
import { connectEngine, type OpenSearchOptions } from '../../../operations-service/opensearch/engine.ts';
import { type FakeOptions, fakeEngine } from './fake.ts';

/** Which calls are made for each generation of DataHub, and what its clients see of the answers. */

const now = 1_790_000_000_000;

async function connected(options: Omit<OpenSearchOptions, 'address'> = {}, fake: FakeOptions = {}) {
  const engine = await fakeEngine(fake);
  const service = await connectEngine({ address: engine.address, clock: { now: () => now }, ...options });
  onTestFinished(() => service.close());
  const ask = async (action: string, body: object) => {
    const reply = await service.handle({
      method: 'POST',
      path: `/operations?action=${action}`,
      headers: { authorization: `Bearer ${service.token}` },
      body: JSON.stringify(body),
    });
    if (reply.kind !== 'reply') throw new Error(reply.kind);
    const { value, message } = JSON.parse(reply.body);
    return { status: reply.status, value: value ?? message, headers: reply.headers };
  };
  const fields = { entityType: 'dataset', aspect: 'operation', endTimeMillis: 99 };
  const truncate = (more: object = {}) =>
    ask('truncateTimeseriesAspect', { ...fields, dryRun: false, batchSize: 500, forceDeleteByQuery: true, ...more });
  const reindex = (more: object = {}) => truncate({ forceDeleteByQuery: undefined, forceReindex: true, ...more });
  return { ...engine, service, ask, truncate, reindex };
}

const counts = ['POST /dataset_operationaspect_v1/_count', 'POST /dataset_operationaspect_v1/_count'];
const swap = [
  'GET /_alias/dataset_operationaspect_v1',
  'GET /dataset_operationaspect_v1_TIME/_mapping',
  'PUT /dataset_operationaspect_v1_TIME',
  'POST /_aliases',
];

test('a dry run is two counts, of rows at or before the cutoff and of all', async () => {
  const { truncate, lines, calls } = await connected();
  const { value } = await truncate({ dryRun: true });
  expect(value).toMatch(/^Delete 12 out of 12 rows \(100\.00%\)\. Issuing a delete by query request\./);
  expect(lines()).toEqual(counts);
  expect(JSON.stringify(calls[1]!.body)).toContain('{"range":{"timestampMillis":{"lte":99}}}');
});

test('a delete runs on the alias, goes on at conflicts, and is not waited for', async () => {
  const { truncate, lines, calls } = await connected();
  expect((await truncate({ timeoutSeconds: 60 })).value).toBe('node:7');
  const [path, query] = lines().at(-1)!.split('?');
  expect(path).toBe('POST /dataset_operationaspect_v1/_delete_by_query');
  expect(Object.fromEntries(new URLSearchParams(query))).toEqual({
    conflicts: 'proceed',
    refresh: 'false',
    wait_for_completion: 'false',
    scroll_size: '500',
    timeout: '60s',
  });
  expect(JSON.stringify(calls.at(-1)!.body)).toContain('"lte":99');
});

test.each([
  ['0.13.2-1.1', '10000'],
  ['newest', '5000'],
] as const)('without a batch size %s deletes in batches of %s', async (profile, size) => {
  const { truncate, lines } = await connected({ profile });
  await truncate({ batchSize: undefined });
  expect(new URLSearchParams(lines().at(-1)!.split('?')[1]).get('scroll_size')).toBe(size);
});

describe('a reindex', () => {
  test('up to 1.1 moves the alias, then copies in one slice', async () => {
    const { reindex, lines, calls } = await connected({ profile: '0.13.2-1.1' });
    expect((await reindex()).value).toBe('node:8');
    const made = lines().slice(2);
    expect(made.slice(0, 4)).toEqual(swap);
    expect(made[4]).toBe('POST /_reindex?wait_for_completion=false&timeout=0s');
    expect(made).toHaveLength(5);
    expect(calls.at(-1)).toMatchObject({
      body: {
        conflicts: 'proceed',
        source: { index: ['dataset_operationaspect_v1_1700000000000'], size: 500 },
        dest: { index: `dataset_operationaspect_v1_${now}` },
      },
      headers: { 'x-opaque-id': expect.stringMatching(/^\S+\|dataset_\S+\|dataset_\S+_1790000000000$/) },
    });
    expect(JSON.stringify(calls.at(-1)!.body)).toContain('{"range":{"timestampMillis":{"gt":99}}}');
    expect(calls.find(({ line }) => line === 'POST /_aliases')?.body).toEqual({
      actions: [
        { remove: { index: 'dataset_operationaspect_v1_1700000000000', alias: 'dataset_operationaspect_v1' } },
        { add: { index: `dataset_operationaspect_v1_${now}`, alias: 'dataset_operationaspect_v1' } },
      ],
    });
  });

  test('of 1.2.0 to 1.5.0 ends with 400 after the alias has moved', async () => {
    const { reindex, lines } = await connected({ profile: '1.2-1.5' });
    expect(await reindex()).toMatchObject({ status: 400, value: 'Async reindex failed' });
    expect(lines().slice(2)).toEqual(swap);
  });

  test('of the newest refreshes the source, tunes the new index, and copies in slices', async () => {
    const { reindex, lines, calls } = await connected({ profile: 'newest', settings: { shards: 3 } });
    await reindex({ timeoutSeconds: 300 });
    expect(lines().slice(6)).toEqual([
      expect.stringMatching(/ \/dataset_operationaspect_v1_TIME\/_refresh$/),
      'PUT /dataset_operationaspect_v1_TIME/_settings',
      'POST /_reindex?wait_for_completion=false&timeout=300s&slices=3',
    ]);
    expect(calls.at(-2)?.body).toEqual({ index: { number_of_replicas: 0, refresh_interval: '-1' } });
  });

  test('without a batch size is refused by the client, after the alias has moved', async () => {
    const { reindex, lines } = await connected({ profile: '0.13.2-1.1' });
    expect(await reindex({ batchSize: undefined })).toMatchObject({ status: 400, value: 'Async reindex failed' });
    expect(lines().slice(2)).toEqual(swap);
  });

  test('of an index that is no alias changes nothing', async () => {
    const { reindex, lines } = await connected({ profile: '0.13.2-1.1' }, { behind: [] });
    expect(await reindex()).toMatchObject({ status: 400 });
    expect(lines().slice(2)).toEqual([swap[0]]);
  });

  test('that the search engine refuses is a 500 that says no more', async () => {
    const { reindex } = await connected({ profile: '0.13.2-1.1' }, { refuse: { '/_reindex': [429, 'rejected'] } });
    const { status, value } = await reindex();
    expect([status, value]).toEqual([500, 'com.datahub.util.exception.ESQueryException: Async reindex failed']);
  });
});

describe('answers', () => {
  test('a task’s status is the search engine’s own, as a text in a text', async () => {
    const { ask } = await connected();
    const outer = JSON.parse((await ask('getEsTaskStatus', { task: 'node:7' })).value);
    expect(outer).toMatchObject({ completed: true, taskId: 'node:7', runTimeNanos: 5 });
    expect(outer.status).toBe('{"total":3,"deleted":3,"requests_per_second":-1.0}');
  });

  test('a task that is not there and an engine that is not there are the same', async () => {
    const missing = await connected({}, { refuse: { '/_tasks': [404, 'resource_not_found_exception'] } });
    const error = '{"error":"Could not get task status for node:7"}';
    expect((await missing.ask('getEsTaskStatus', { task: 'node:7' })).value).toBe(error);
    missing.close();
    expect((await missing.ask('getEsTaskStatus', { task: 'node:7' })).value).toBe(error);
  });

  test('another refusal of a status is a 500', async () => {
    const { ask } = await connected({}, { refuse: { '/_tasks': [403, 'security_exception'] } });
    expect(await ask('getEsTaskStatus', { task: 'node:7' })).toMatchObject({ status: 500 });
  });

  test('sizes are those of primaries, in millions of bytes, by the real index', async () => {
    const { ask, lines } = await connected(
      { prefix: 'prod' },
      { behind: ['prod_chart_usageaspect_v1', 'prod_x_y_zaspect_v1'] },
    );
    expect((await ask('getIndexSizes', {})).value.indexSizes).toEqual([
      { indexName: 'prod_chart_usageaspect_v1', entityName: 'chart', aspectName: 'usage', sizeInMb: 2 },
      { indexName: 'prod_x_y_zaspect_v1', sizeInMb: 2 },
    ]);
    expect(lines()).toEqual(['GET /prod_*aspect_v1/_stats/store']);
  });

  test('an index that is not there is a 500 that names the cause', async () => {
    const { truncate } = await connected(
      {},
      { refuse: { '/dataset_operationaspect_v1/_count': [404, 'index_not_found_exception'] } },
    );
    const { status, value } = await truncate({ dryRun: true });
    expect(status).toBe(500);
    expect(value).toBe(
      '[dataset_operationaspect_v1] OpenSearchStatusException[OpenSearch exception [type=index_not_found_exception, reason=so it is]]',
    );
  });

  test('an engine out of reach is a 500 without a cause, and a task that nobody knows', async () => {
    const { truncate, ask, close } = await connected();
    close();
    expect(await truncate({ dryRun: true })).toMatchObject({
      status: 500,
      value: 'com.datahub.util.exception.ESQueryException: Count query failed:',
    });
    expect(await ask('getIndexSizes', {})).toMatchObject({
      status: 500,
      value: 'java.lang.RuntimeException: java.net.ConnectException: Connection refused',
    });
    expect((await ask('getEsTaskStatus', { task: 'node:7' })).value).toContain('Could not get task status');
  });

  test("Java's largest long as cutoff reaches the search engine as a number that a long holds", async () => {
    const { truncate, calls } = await connected();
    expect((await truncate({ dryRun: true, endTimeMillis: 2 ** 63 })).status).toBe(200);
    expect(JSON.stringify(calls[1]!.body)).toContain('{"lte":9007199254740991}');
  });

  test('nothing says that the data is a sample', async () => {
    const { truncate } = await connected();
    expect((await truncate({ dryRun: true })).headers).not.toHaveProperty('X-Sample-Data');
  });

  test('faults of the wire are the same as with simulated rows', async () => {
    const { truncate } = await connected({ faults: ['comma', 'bad-gateway=truncate'] });
    expect((await truncate({ dryRun: true })).value).toContain('(100,00%)');
    await expect(truncate()).rejects.toThrow();
  });
});
