import { describe, expect, onTestFinished, test } from 'vitest';
import { type ServiceOptions, startSimulatedGms } from './server.ts';

/**
 * How the releases of DataHub differ, on the wire and in their rows (docs/operations-service.md): what the transcripts of
 * runs do not show.
 */

const day = 86_400_000;
/** Where the virtual clock starts. */
const start = Date.UTC(2026, 0, 15, 3, 30);
const rowsOf = (old: number, young: number) => [
  ...Array<number>(old).fill(start - 50 * day),
  ...Array<number>(young).fill(start),
];

/** One index `dataset.operation` with 700 rows to delete and 300 to keep, and a clock that a test moves. */
async function serve({ timestamps = rowsOf(700, 300), ...options }: ServiceOptions & { timestamps?: number[] } = {}) {
  let now = start;
  const indices = [{ entityType: 'dataset', aspect: 'operation', timestamps }];
  const service = await startSimulatedGms({ clock: { now: () => now }, indices, ...options });
  onTestFinished(() => service.close());
  const post = async (action: string, body: unknown = {}, token = service.token) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const given = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${service.url}/operations?action=${action}`, {
      method: 'POST',
      headers,
      body: given,
    });
    return { status: response.status, json: JSON.parse(await response.text()) };
  };
  const cutoff = { entityType: 'dataset', aspect: 'operation', endTimeMillis: start - 30 * day };
  const truncate = (fields: object = {}) => post('truncateTimeseriesAspect', { ...cutoff, ...fields });
  return {
    engine: service.engine,
    post,
    truncate,
    /** What a dry run says, and the status of a refusal with its message. */
    dryRun: async (fields: object = {}): Promise<string> => {
      const { status, json } = await truncate(fields);
      return json.value ?? `${status} ${json.message}`;
    },
    remove: async (fields: object = {}): Promise<string> =>
      (await truncate({ dryRun: false, forceDeleteByQuery: true, batchSize: 100, ...fields })).json.value,
    sizes: async () => (await post('getIndexSizes')).json.value.indexSizes,
    rows: () => service.engine.indices().map(({ rows }) => rows),
    pass: (millis: number) => {
      now += millis;
    },
  };
}

describe('A dry run', () => {
  test.each([
    [50, 'Issuing a delete by query request.'],
    [51, 'Reindexing the aspect without the deleted records.'],
  ])('of %i rows of 100 has the sentence of every release: %s', async (old, way) => {
    const { dryRun } = await serve({ profile: '0.13.2-1.1', timestamps: rowsOf(old, 100 - old) });
    expect(await dryRun()).toBe(
      `Delete ${old} out of 100 rows (${old}.00%). ${way} This was a dry run. Run with dryRun = false to execute.`,
    );
  });

  test('of an empty index prints NaN, and Java’s largest long is a cutoff like any other', async () => {
    expect(await (await serve({ timestamps: [] })).dryRun()).toMatch(/^Delete 0 out of 0 rows \(NaN%\)\./);
    const { post } = await serve();
    const body = '{"entityType":"DATASET","aspect":"Operation","endTimeMillis":9223372036854775807}';
    const { json } = await post('truncateTimeseriesAspect', body);
    expect(json.value).toContain('Delete 1000 out of 1000 rows');
  });

  test.each<[what: object, options: ServiceOptions, said: RegExp]>([
    [{ endTimeMillis: undefined }, {}, /^400 Parameter 'endTimeMillis' is required$/],
    [{ entityType: 'nope' }, {}, /^400 Failed to find entity with name nope/],
    [{ aspect: 'nope' }, {}, /^500 \[dataset_nopeaspect_v1\] OpenSearchStatusException.*index_not_found_exception/],
    [{}, { faults: ['denied=truncate'] }, /^403 User is unauthorized to truncate timeseries index$/],
    [{}, { faults: ['denied=truncate'], profile: '0.10.5' }, /^401 User is unauthorized/],
    [{}, { faults: ['engine-down'] }, /^500 com\.datahub\.util\.exception\.ESQueryException: Count query failed:$/],
  ])('with %j, at a server with %j, is refused', async (fields, options, said) => {
    expect(await (await serve(options)).dryRun(fields)).toMatch(said);
  });
});

test('A request without a token that counts, without JSON or without an action is refused', async () => {
  const { post } = await serve();
  expect(await post('getIndexSizes', {}, 'wrong')).toMatchObject({
    status: 401,
    json: { message: 'Unauthorized to perform this action.' },
  });
  expect((await post('getIndexSizes', {})).status).toBe(200);
  expect((await post('truncateTimeseriesAspect', '[1]')).json.message).toBe('Cannot parse request entity');
  expect((await post('restart')).status).toBe(400);
  expect((await post('getEsTaskStatus', { task: 'n:0' })).json.message).toMatch(/^Task should be in the form nodeId:/);
});

describe('A real truncate', () => {
  test('deletes at once, and counts follow at a refresh some seconds later', async () => {
    const { remove, post, dryRun, pass } = await serve({ profile: '1.2-1.5' });
    const task = await remove();
    pass(1000);
    // JSON in a text in JSON in a text.
    const status = JSON.parse(JSON.parse((await post('getEsTaskStatus', { task })).json.value).status);
    expect(status).toMatchObject({ total: 700, deleted: 700 });
    expect(await dryRun()).toContain('700 out of 1000');
    pass(3000);
    expect(await dryRun()).toContain('0 out of 300');
  });

  test.each([
    ['0.13.2-1.1', {}],
    ['newest', {}],
    ['1.2-1.5', { batchSize: 1000 }],
    ['0.13.2-1.1', { batchSize: 0 }],
  ] as const)('that reindexes on %s with %j fails after the alias was moved', async (profile, fields) => {
    const { truncate, rows, engine } = await serve({ profile });
    const { status, json } = await truncate({ dryRun: false, ...fields });
    expect([status, json.message, rows(), engine.tasks()]).toEqual([400, 'Async reindex failed', [0, 1000], []]);
  });

  test('on Postgres returns a UUID, whose status is 400, and never reindexes', async () => {
    const { dryRun, remove, post } = await serve({ profile: 'postgres' });
    expect(await dryRun()).toContain('Issuing a delete');
    const task = await remove({ forceDeleteByQuery: undefined });
    expect(task).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect((await post('getEsTaskStatus', { task })).status).toBe(400);
  });

  test('of datahub-gc sends no batch size, so its reindex fails after the swap, and it covers that up', async () => {
    const { engine, rows, pass } = await serve({ profile: '0.13.2-1.1' });
    expect(engine.runGc()).toEqual(['dataset.operation']);
    pass(60_000);
    expect(rows()).toEqual([0, 1000]);
    expect(engine.tasks()).toMatchObject([{ kind: 'delete', total: 0, state: 'completed' }]);
  });
});

describe('Sizes', () => {
  test('name the index behind the alias, and not the old index of a reindex', async () => {
    const { truncate, sizes } = await serve();
    await truncate({ dryRun: false });
    expect(await sizes()).toMatchObject([{ indexName: `dataset_operationaspect_v1_${start}` }]);
  });

  test('of the oldest releases are sizeMb, and of Postgres one row with stars', async () => {
    const [oldest] = await (await serve({ profile: '0.10.5' })).sizes();
    expect(Object.keys(oldest)).toEqual(['aspectName', 'sizeMb', 'indexName', 'entityName']);
    expect(await (await serve({ profile: 'postgres' })).sizes()).toEqual([
      { indexName: 'public.metadata_timeseries_aspect', entityName: '*', aspectName: '*', sizeInMb: 0.420208 },
    ]);
  });
});
