import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Started, start } from '../processes.ts';

/**
 * The specification, section by section, against what `npm run operations-service` starts: with fetch alone, so that
 * nothing of this project reads the answers.
 */

let service: Started;
let base = '';
let token = '';

beforeAll(async () => {
  service = start(['tsx', 'cli/embedded-service/main.ts', '--port', '0'], {}, 'pipe', '--import');
  [, base = ''] = await service.printed(/at (http:\/\/127\.0\.0\.1:\d+)\n/);
  const [, path = ''] = await service.printed(/token file +(\S+)/);
  token = readFileSync(path, 'utf8').trim();
});

afterAll(async () => {
  service.process.kill('SIGTERM');
  await service.ended;
});

async function post(action: string, body?: unknown, path = '/gms/operations', bearer = token) {
  const response = await fetch(`${base}${path}?action=${action}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { value, message } = JSON.parse(await response.text());
  return { status: response.status, value, message };
}

const index = { entityType: 'dataset', aspect: 'operation' };
const endTimeMillis = Date.now() - 90 * 86_400_000;
const truncate = (fields: object = {}, path?: string) =>
  post('truncateTimeseriesAspect', { ...index, endTimeMillis, ...fields }, path);

const taskId = /^[A-Za-z0-9_-]+:\d+$/;

describe('4.1 truncateTimeseriesAspect', () => {
  const sentence =
    /^\w+ \d+ out of \d+ rows \(\d+\.\d\d%\)\. Reindexing the aspect without the deleted records\. .*dry run/;

  test.each([{}, { dryRun: true }, { dryRun: true, batchSize: 500, timeoutSeconds: 60 }])(
    'is a dry run by default: %j',
    async (fields) => {
      const { status, value } = await truncate(fields);
      expect([status, value]).toEqual([200, expect.stringMatching(sentence)]);
    },
  );

  test.each(['/operations', '/gms/operations'])('is at %s', async (path) => {
    expect(await truncate({}, path)).toMatchObject({ status: 200, value: expect.stringMatching(sentence) });
  });

  test('states two decimals of no row, too', async () => {
    const { value } = await truncate({ aspect: 'datahubIngestionRunSummary', entityType: 'dataJob' });
    expect(value).toMatch(/ 0 out of 0 rows \(0\.00%\)/);
  });

  test('returns the id of a task if dryRun is false, with every default and with every field', async () => {
    const fields = [{}, { batchSize: 10_000 }, { batchSize: 100, timeoutSeconds: 60 }];
    for (const more of fields) {
      const { status, value } = await truncate({ dryRun: false, ...more });
      expect([status, value]).toEqual([200, expect.stringMatching(taskId)]);
    }
  });

  test('has 10,000 rows in a batch by default', async () => {
    const of = async (more: object) => {
      const sample = { entityType: 'dataset', aspect: 'datasetUsageStatistics', endTimeMillis: Date.now() };
      const { value } = await post('truncateTimeseriesAspect', { ...sample, dryRun: false, ...more });
      for (;;) {
        const { completed, status } = JSON.parse((await post('getEsTaskStatus', { task: value })).value);
        if (completed) return status;
        await setTimeout(100);
      }
    };
    const { batches, total, deleted } = await of({});
    expect([batches, deleted]).toEqual([Math.ceil(total / 10_000), total]);
  });

  test.each(['entityType', 'aspect', 'endTimeMillis'])('refuses a request without %s', async (field) => {
    const expected = { status: 400, message: `Parameter '${field}' is required` };
    expect(await truncate({ [field]: undefined })).toMatchObject(expected);
    expect(await truncate({ [field]: [] })).toMatchObject(expected);
  });

  test.each<[field: string, value: unknown]>([
    ['endTimeMillis', 2 ** 64],
    ['endTimeMillis', '2026-01-01'],
    ['dryRun', 'false'],
    ['batchSize', 0],
    ['timeoutSeconds', 1.5],
  ])('refuses %s %j, and removes nothing', async (field, value) => {
    expect((await truncate({ dryRun: false, [field]: value })).status).toBe(400);
  });

  test('refuses an aspect that it does not have', async () => {
    expect(await truncate({ aspect: 'nothing' })).toMatchObject({
      status: 500,
      message: expect.stringContaining('no such index'),
    });
  });
});

describe('4.2 getEsTaskStatus', () => {
  const forms: [form: string, of: (id: string) => object][] = [
    ['combined', (task) => ({ task })],
    ['apart', (id) => ({ nodeId: id.split(':')[0], taskId: Number(id.split(':')[1]) })],
  ];

  test.each(forms)('takes a task in the form %s, at both paths', async (_, of) => {
    const { value: id } = await truncate({ dryRun: false });
    for (const path of ['/operations', '/gms/operations']) {
      const { status, value } = await post('getEsTaskStatus', of(id), path);
      expect(status).toBe(200);
      expect(JSON.parse(value)).toEqual({
        completed: expect.any(Boolean),
        taskId: id,
        runTimeNanos: expect.any(Number),
        status: {
          ...Object.fromEntries(counters.map((name) => [name, expect.any(Number)])),
          retries: { bulk: expect.any(Number), search: expect.any(Number) },
        },
      });
    }
  });

  const counters =
    'total updated created deleted batches version_conflicts noops throttled_millis requests_per_second throttled_until_millis'.split(
      ' ',
    );

  test.each(forms)('says of an unknown task that its status could not be obtained: %s', async (_, of) => {
    const { status, value } = await post('getEsTaskStatus', of('nobody:1'));
    expect(status).toBe(200);
    expect(JSON.parse(value)).toEqual({ error: expect.stringContaining('nobody:1') });
  });

  test.each([{}, { nodeId: 'a' }, { taskId: 1 }, { nodeId: 'a', taskId: 'b' }, { task: 5 }])(
    'refuses %j, which names no task',
    async (body) => {
      expect(await post('getEsTaskStatus', body)).toMatchObject({
        status: 400,
        message: "Parameter 'task' is required",
      });
    },
  );
});

test.each([undefined, {}])('4.3 getIndexSizes names entity type, aspect and size of each index: %j', async (body) => {
  const { status, value } = await post('getIndexSizes', body);
  expect(status).toBe(200);
  expect(value.indexSizes).toContainEqual(
    expect.objectContaining({ entityName: 'dataset', aspectName: 'operation', sizeInMb: expect.any(Number) }),
  );
});

describe('5 and 7', () => {
  test('a request without the token is refused', async () => {
    for (const action of ['truncateTimeseriesAspect', 'getEsTaskStatus', 'getIndexSizes']) {
      expect((await post(action, {}, '/operations', 'another')).status).toBe(401);
    }
  });

  test('another path, action, method or body is refused', async () => {
    expect((await truncate({}, '/elsewhere')).status).toBe(404);
    expect((await post('restart', {})).status).toBe(400);
    expect((await post('getEsTaskStatus', [1])).status).toBe(400);
    expect((await fetch(`${base}/operations?action=getIndexSizes`)).status).toBe(405);
  });
});
