import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleInto, functionNames } from '../../infra/functions/bundles.ts';
import type { FunctionName } from '../../lambda/aws/environment.ts';
import { functionTimeoutSeconds } from '../../lambda/run/deadlines.ts';
import { type SimulatedGms, startSimulatedGms } from '../simulated-gms/server.ts';
import { realTruncates } from '../simulated-gms/simulation/exchange.ts';
import { authority } from '../support/certificates.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { startGateway } from '../support/gateway.ts';
import { type Listening, listening } from '../support/loopback.ts';
import { type RunningFunction, startFunction } from './function.ts';
import { type Services, startServices, type Table } from './services.ts';
import { obtainTools } from './tools.ts';

/** The bundles as Lambda runs them: its own emulator of the runtime API, its own runtime client, Node 24. */

const tools = await obtainTools();

const execution = { name: 'run-1', startTime: new Date().toISOString() };
const policy = JSON.stringify({ entityType: 'dataset', aspect: 'operation', retentionDays: 90, maxDeletePercent: 100 });

describe.skipIf(tools === undefined)("In Lambda's runtime", () => {
  const bundles = mkdtempSync(join(tmpdir(), 'datahub-retention-bundles-'));
  const closing: (() => Promise<unknown>)[] = [];
  let gms: SimulatedGms;
  let silent: Listening;
  let parameters: Record<string, string>;
  const logs: string[] = [];

  beforeAll(async () => {
    bundleInto(bundles);
    gms = await startSimulatedGms({
      indices: [{ entityType: 'dataset', aspect: 'operation', rows: 4000, days: 200 }],
    });
    silent = await listening(createServer(() => {}));
    parameters = { '/token': `${gms.token}\n`, '/paused': 'false', '/policies/dataset.operation': policy };
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
    table: Table = new Map(),
  ): Promise<RunningFunction & { services: Services }> {
    const services = await startServices(parameters, how, table);
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

  describe('a run', () => {
    const made = authority();
    const [own, renewed] = [made.issue(10), made.issue()];
    const [secret, renewedSecret] = ['gateway-value-0123456789', 'renewed-value-9876543210'];
    const variables = {
      CA_CERTIFICATE_PARAMETER: '/ca',
      HEADERS_PARAMETER: '/headers',
      CLIENT_CERTIFICATE_PARAMETER: '/crt',
      CLIENT_KEY_PARAMETER: '/key',
    };
    afterAll(made.remove);

    /** What a gateway lets through first, as it is stored. */
    const store = (header = secret, { cert, key } = own) =>
      Object.assign(parameters, { '/headers': `X-Gateway-Key: ${header}`, '/crt': cert, '/key': key, '/ca': made.ca });

    test('goes on with a header and a certificate that are renewed in the middle of it', async () => {
      store();
      gms.engine.fault('rows-per-second=500');
      const gateway = await startGateway(gms.url, { header: secret, certificate: own }, made);
      closing.push(gateway.close);
      const table: Table = new Map();
      const started: Partial<Record<FunctionName, Awaited<ReturnType<typeof start>>>> = {};
      const step = async (name: FunctionName, event: unknown) => {
        started[name] ??= await start(name, {}, { GMS_URL: gateway.url, ...variables }, table);
        return (await started[name].invoke(event)).answer;
      };
      let state = await step('truncate', await step('plan', { input: { mode: 'enforce' }, execution }));
      for (let polls = 0; polls < 30 && state['next'] === 'wait'; polls++) {
        state = await step('poll', state);
        store(renewedSecret, renewed);
        gateway.wants = { header: renewedSecret, certificate: renewed };
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
      await step('report', reportOf(state));
      const message = String(started.report!.services.published.at(-1)?.get('Message'));
      expect([message, realTruncates(gms.engine.asked).length]).toEqual([
        expect.stringContaining('dataset.operation: truncated'),
        1,
      ]);
      const last = gateway.got.at(-1)!;
      expect([last.headers['x-gateway-key'], last.shown?.trim()]).toEqual([renewedSecret, renewed.cert.trim()]);
      expect(gateway.got.some(({ headers }) => headers['x-gateway-key'] === secret)).toBe(true);
    });
  });

  test('no log shows the token, or what a gateway wants', async () => {
    while (closing.length > 0) await closing.pop()!();
    expect(logs.length).toBeGreaterThan(8);
    for (const log of logs)
      expect([log.includes(gms.token), /(?:gateway|renewed)-value/.test(log)]).toEqual([false, false]);
    expect(logs.some((log) => log.includes('"function_request_id"') && log.includes('"cold_start":true'))).toBe(true);
  });
});
