import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleInto, functionNames } from '../../infra/functions/bundles.ts';
import type { FunctionName } from '../../lambda/aws/environment.ts';
import { functionTimeoutSeconds } from '../../lambda/run/deadlines.ts';
import { type OperationsService, startOperationsService } from '../operations-service/server.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type Listening, listening } from '../support/loopback.ts';
import { type RunningFunction, startFunction } from './function.ts';
import { type Services, startServices } from './services.ts';
import { obtainTools } from './tools.ts';

/** The bundles as Lambda runs them: its own emulator of the runtime API, its own runtime client, Node 24. */

const tools = await obtainTools();

const execution = { name: 'run-1', startTime: new Date().toISOString() };
const policy = JSON.stringify({ entityType: 'dataset', aspect: 'operation', retentionDays: 90 });

describe.skipIf(tools === undefined)("In Lambda's runtime", () => {
  const bundles = mkdtempSync(join(tmpdir(), 'datahub-retention-bundles-'));
  const closing: (() => Promise<unknown>)[] = [];
  let gms: OperationsService;
  let silent: Listening;
  let parameters: Record<string, string>;
  const logs: string[] = [];

  beforeAll(async () => {
    bundleInto(bundles);
    gms = await startOperationsService({
      indices: [{ entityType: 'dataset', aspect: 'operation', rows: 4000, days: 200 }],
    });
    silent = await listening(createServer(() => {}));
    parameters = { '/token': `${gms.token}\n`, '/policies/dataset.operation': policy };
  });
  afterAll(async () => {
    for (const close of closing) await close();
    await gms?.close();
    await silent?.close();
    await tools?.remove();
    rmSync(bundles, { recursive: true, force: true });
  });

  async function start(
    name: FunctionName,
    how: Parameters<typeof startServices>[1] = {},
    environment: Record<string, string> = {},
  ): Promise<RunningFunction & { services: Services }> {
    const services = await startServices(parameters, how);
    const credentials = { AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' };
    const own = { ...functionEnvironment, ...credentials, GMS_URL: gms.url, AWS_ENDPOINT_URL: services.url };
    const started = await startFunction(tools!, bundles, name, { ...own, ...environment });
    closing.push(async () => {
      logs.push(started.log());
      await started.stop();
      await services.close();
    });
    return { ...started, services };
  }

  const planned = async () => {
    const { answer } = await (await start('plan')).invoke({ input: { mode: 'preview' }, execution });
    return answer;
  };
  const reportOf = (input: unknown, count = 0) => ({ input, execution, retry: { count, last: 5 } });

  test('each handler resolves and answers; how long it takes to start, and its memory', async () => {
    const state = await planned();
    expect(state).toMatchObject({
      next: 'report',
      entries: [{ plan: { counts: { rowsToDelete: expect.any(Number) } } }],
    });
    const figures: string[] = [];
    for (const name of functionNames) {
      const started = await start(name);
      const event = { plan: { input: { mode: 'preview' }, execution }, report: reportOf(state) };
      const { answer } = await started.invoke(event[name as 'plan'] ?? state);
      expect([name, answer['errorMessage'], answer['next'] ?? answer['result']]).toEqual([
        name,
        undefined,
        name === 'report' ? 'end' : 'report',
      ]);
      figures.push(`${name} ${started.startMillis().toFixed(0)} ms, ${started.memory().toFixed(0)} MB`);
    }
    console.log(`Start and memory: ${figures.join('; ')}`);
  });

  test.each(functionNames)('%s says which variable of its environment is wrong', async (name) => {
    const { invoke } = await start(name, {}, { MIN_RETENTION_DAYS: 'seven' });
    const { answer } = await invoke({});
    expect(answer['errorMessage']).toBe(
      `The environment of the function ${name} lacks or misspells MIN_RETENTION_DAYS: deploy the stack again.`,
    );
    expect(String(answer['trace'])).toContain('at readEnvironment');
  });

  test('six tries of Report against a topic that refuses: each says why, and the last one alone counts', async () => {
    const state = await planned();
    const report = await start('report', { sns: 'refuses' });
    const metrics: number[] = [];
    for (let count = 0; count < 6; count++) {
      const { answer } = await report.invoke(reportOf(state, count));
      expect(answer).toMatchObject({
        errorType: 'PublishError',
        errorMessage: expect.stringMatching(/AuthorizationError.*not authorized/),
      });
      metrics.push(report.log().split('"RunOk"').length - 1);
    }
    console.log(`Metrics of a run in the log after each try: ${metrics.map((names) => Number(names > 0)).join(' ')}`);
    expect(metrics.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
    expect(metrics[5]).toBeGreaterThan(0);
  });

  describe.concurrent('what hangs ends before the time of the function, with a reason', () => {
    test.each<[string, FunctionName, Parameters<typeof startServices>[1], RegExp]>([
      ['Parameter Store', 'plan', { ssm: 'hangs' }, /Parameter Store did not answer/],
      ['DynamoDB', 'plan', { dynamodb: 'hangs' }, /ledger table table: TimeoutError/],
      ['DataHub', 'plan', {}, /"kind":"timeout","operation":"dry-run"/],
      ['SNS', 'report', { sns: 'hangs' }, /could not be published to .*TimeoutError/],
    ])('%s', async (what, name, how, reason) => {
      const event = name === 'report' ? reportOf(await planned()) : { input: { mode: 'preview' }, execution };
      const started = await start(name, how, what === 'DataHub' ? { GMS_URL: silent.url } : {});
      const { answer, seconds } = await started.invoke(event);
      console.log(`${what} hangs: ${name} ended after ${seconds.toFixed(0)} s of ${functionTimeoutSeconds[name]} s`);
      expect(seconds).toBeLessThan(functionTimeoutSeconds[name] - 5);
      expect(JSON.stringify(answer)).toMatch(reason);
    });
  });

  test('no log shows the token', async () => {
    while (closing.length > 0) await closing.pop()!();
    expect(logs.length).toBeGreaterThan(8);
    for (const log of logs) expect(log.includes(gms.token)).toBe(false);
    expect(logs.some((log) => log.includes('"function_request_id"') && log.includes('"cold_start":true'))).toBe(true);
  });
});
