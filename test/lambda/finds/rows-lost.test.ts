import { describe, expect, test } from 'vitest';
import { plan } from '../../../lambda/run/plan/plan.ts';
import { poll } from '../../../lambda/run/poll.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { anIndexOf, deployments, outcomesOf } from '../../support/deployment.ts';
import { answersTruncates, asReindex, day, entryOf, hour, mailOf, name, ofYesterday, operation } from './nights.ts';

/** Rows that were lost and not named. */

const started = deployments();

describe('find 1: late rows refill the window of a reindex that was cut half-way', () => {
  test.each<[string, string[], object]>([
    ['cancelled', ['cancel-at=0.5'], asReindex],
    ['its node restarted', ['restart-at=0.5'], asReindex],
    ['cancelled, on a server that reindexes whatever it is told', ['cancel-at=0.5', 'ignores-force-flags'], operation],
  ])('%s', async (_, faults, policy) => {
    const deployment = await started({ faults, policies: [policy], rowsPerSecond: 100 });
    const { engine } = deployment.service;
    engine.schedule(deployment.clock.time + 70_000, () => engine.addRows(name, ofYesterday(deployment, 200)));
    const entry = entryOf(await deployment.night());
    expect(['rows-missing', 'unknown']).toContain(entry.outcome);
    expect(entry.cause.kind).not.toBe('verified');
  });
});

describe('find 2: one server, two ledgers', () => {
  test.each([
    ['localhost', (url: string) => url.replace('127.0.0.1', 'localhost')],
    ['[::1]', (url: string) => url.replace('127.0.0.1', '[::1]')],
    ['a trailing dot', (url: string) => url.replace('127.0.0.1', 'localhost.')],
    ['doubled slashes', (url: string) => `${url}//`],
    ['capitals', (url: string) => url.replace('http://127.0.0.1', 'HTTP://LOCALHOST')],
  ])('spelled with %s is one, and its truncation is picked up', async (_, spelled) => {
    const deployment = await started({ rowsPerSecond: 0.05, policies: [{ ...operation, batchSize: 10 }] });
    deployment.settings.maxRunHours = 1;
    await deployment.night();
    deployment.settings.gmsUrl = spelled(deployment.service.url);
    deployment.settings.maxRunHours = 12;
    expect(entryOf(await deployment.night())).toMatchObject({ outcome: 'truncated', adopted: true });
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test.each([
    ['another port', (url: string) => url.replace(/:\d+$/, ':9999')],
    ['/api/gms', (url: string) => `${url}/api/gms`],
    ['another name', () => 'https://datahub.example.com/gms'],
  ])('at %s holds its index, is neither watched nor judged there, and both addresses are told', async (_, other) => {
    const deployment = await started({ rowsPerSecond: 0.05, policies: [{ ...operation, batchSize: 10 }] });
    deployment.settings.maxRunHours = 1;
    await deployment.night();
    deployment.settings.gmsUrl = other(deployment.service.url);
    const report = await deployment.night();
    expect(entryOf(report)).toMatchObject({ outcome: 'in-flight', cause: { kind: 'foreign', why: 'address' } });
    expect(mailOf(report)).toContain(deployment.service.url.replace('127.0.0.1', 'localhost'));
    expect(mailOf(report)).toContain(deployment.settings.gmsUrl.replace('127.0.0.1', 'localhost'));
    expect(deployment.realTruncates()).toHaveLength(1);
  });
});

describe('find 3: a 400 that comes back before the server acts', () => {
  test('is not judged before the record may be, and nothing is sent meanwhile', async () => {
    const deployment = await started();
    answersTruncates(deployment, 400, 240_000);
    const state = await plan(
      { input: {}, execution: { name: 'run-1', startTime: new Date(deployment.clock.time).toISOString() } },
      deployment.during('plan'),
    );
    let next = await truncate(state, deployment.during('truncate'));
    deployment.clock.time += 90_000;
    expect(outcomesOf(await deployment.night({}, 'run-2'))).toEqual({ [name]: 'in-flight' });
    while (next.next === 'wait') {
      deployment.clock.time += next.waitSeconds * 1000;
      next = await poll(next, deployment.during('poll'));
    }
    expect(next.entries[0]?.entry).toMatchObject({ outcome: 'truncated' });
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('where the server never acts frees the index, and says only what can be seen', async () => {
    const deployment = await started();
    answersTruncates(deployment, 400);
    expect(entryOf(await deployment.night())).toMatchObject({
      outcome: 'failed',
      cause: { kind: 'unchanged', error: { status: 400 } },
    });
  });
});

describe('find 4: a refusal by a proxy that has passed the request on', () => {
  test.each([400, 401, 403, 404, 429, 500, 502, 503, 504])('%i', async (status) => {
    const deployment = await started();
    answersTruncates(deployment, status, 0);
    expect(entryOf(await deployment.night()).outcome).toBe('truncated');
    deployment.service.engine.onRequest = undefined;
    deployment.clock.time += day;
    expect(entryOf(await deployment.night()).outcome).toBe('nothing-to-delete');
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test.each([401, 403])('%i that never acted: nothing more is started in that run', async (status) => {
    const deployment = await started({
      indices: [anIndexOf(300, 400), anIndexOf(600, 400, 'datasetProfile')],
      policies: [operation, { ...operation, aspect: 'datasetProfile' }],
    });
    answersTruncates(deployment, status);
    const report = await deployment.night();
    expect(outcomesOf(report)).toEqual({ [name]: 'failed', 'dataset.datasetProfile': 'not-started' });
    expect(entryOf(report, 'datasetProfile').cause).toEqual({ kind: 'no-task-ids', status });
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('two calls without a task id are enough for a run', async () => {
    const aspects = ['a', 'b', 'c'];
    const deployment = await started({
      indices: aspects.map((aspect, at) => anIndexOf(300 + at, 400, aspect)),
      policies: aspects.map((aspect) => ({ ...operation, aspect })),
    });
    answersTruncates(deployment, 504, 0);
    expect(outcomesOf(await deployment.night())).toEqual({
      'dataset.a': 'truncated',
      'dataset.b': 'truncated',
      'dataset.c': 'not-started',
    });
    expect(deployment.realTruncates()).toHaveLength(2);
  });
});

describe('find 5: a run whose start lies ahead', () => {
  test('takes nothing, because its cutoff would take rows that are younger than the retention', async () => {
    const deployment = await started();
    const startTime = new Date(deployment.clock.time + 25 * day).toISOString();
    const state = await plan({ input: {}, execution: { name: 'run-1', startTime } }, deployment.during('plan'));
    expect(state.entries).toMatchObject([{ entry: { outcome: 'failed', cause: { which: 'start-in-future' } } }]);
    expect(state.next).toBe('report');
  });

  test('or whose own clock, or the server’s, lags behind the start takes nothing below the floor', async () => {
    const deployment = await started({ policies: [{ ...operation, retentionDays: 7 }] });
    const startTime = new Date(deployment.clock.time + 30_000).toISOString();
    const state = await plan({ input: {}, execution: { name: 'run-1', startTime } }, deployment.during('plan'));
    expect(state.entries).toMatchObject([{ entry: { outcome: 'failed', cause: { which: 'floor' } } }]);
  });
});

describe('find 6: orders that came after Plan', () => {
  test.each<[string, (policies: object[]) => object[], string]>([
    ['the policy was switched off', ([first, second]) => [first!, { ...second, enabled: false }], 'enabled'],
    [
      'its retention was raised to a year',
      ([first, second]) => [first!, { ...second, retentionDays: 365 }],
      'retentionDays',
    ],
    ['it was removed', ([first]) => [first!], 'policy-removed'],
  ])('%s ten hours later: not started', async (_, changed, what) => {
    const policies = [
      { ...operation, batchSize: 10 },
      { ...operation, aspect: 'datasetProfile' },
    ];
    const deployment = await started({
      indices: [anIndexOf(300, 400), anIndexOf(600, 400, 'datasetProfile')],
      policies,
      rowsPerSecond: 0.01,
    });
    deployment.service.engine.schedule(deployment.clock.time + 5 * hour, () => {
      deployment.policies = changed(policies);
    });
    const report = await deployment.night();
    expect(entryOf(report, 'datasetProfile')).toMatchObject({
      outcome: 'not-started',
      cause: { kind: 'changed', what },
    });
    expect(deployment.realTruncates()).toHaveLength(1);
  });
});

describe('find 7: rows that no count can see, because they were not searchable when the copy began', () => {
  test('are told as not known, with the request that brings them over without harm, before anything about the old index', async () => {
    const deployment = await started({ policies: [asReindex] });
    const [before] = deployment.service.engine.indices();
    const report = await deployment.night();
    const entry = entryOf(report);
    expect(entry).toMatchObject({ outcome: 'truncated', cause: { kind: 'verified', stragglersIn: before?.name } });
    const body = JSON.parse(/POST \/_reindex (\{.*\})/.exec(entry.reason)![1]!);
    expect(body).toEqual({
      conflicts: 'proceed',
      source: { index: before?.name, query: { range: { timestampMillis: { gt: entry.cutoffMillis } } } },
      dest: { index: entry.indexName, op_type: 'create' },
    });
    expect(mailOf(report)).toMatch(/no count can see them\. Before you remove that index/);
  });
});
