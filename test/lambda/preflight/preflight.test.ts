import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Check } from '../../../lambda/facts/check.ts';
import { preflightMillis } from '../../../lambda/facts/limits.ts';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import type { ServerError } from '../../../lambda/facts/server-error.ts';
import { OperationsError } from '../../../lambda/operations/operations.ts';
import { plan } from '../../../lambda/run/plan/plan.ts';
import { ParametersError, type RunServices, type Surroundings } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import type { ServiceOptions } from '../../operations-service/server.ts';
import { anIndexOf, type Deployment, deployments } from '../../support/deployment.ts';

/** The preflight of a preview, run by the real Plan over real HTTP to the embedded service. */

const started = deployments();
const allNames = ['Address', 'DNS', 'Connection', 'Token', 'Sizes', 'Truncation', 'Task status', 'Clock'];

const preview = (options: ServiceOptions & { policies?: unknown[] } = {}) =>
  started({ ...options, settings: { mode: 'preview' } } as Parameters<typeof started>[0]);

const planned = ({ clock, during }: Deployment, changes: Partial<RunServices> = {}, input: unknown = {}) =>
  plan(
    { input, execution: { name: 'run-1', startTime: new Date(clock.time).toISOString() } },
    { ...during('plan'), ...changes },
  );

const checksOf = ({ preflight }: Pick<RunState | Report, 'preflight'>) =>
  Object.fromEntries((preflight ?? []).map((check) => [check.name, check])) as Record<Check['name'], Check>;
const notOk = ({ preflight }: Pick<RunState, 'preflight'>) =>
  (preflight ?? []).filter(({ state }) => state !== 'ok').map(({ name, state }) => [name, state]);

/** What the embedded service was asked, sorted by name. */
const asked = ({ service }: Deployment) => service.engine.asked.map(({ action }) => action).sort();

const failing =
  (kind: ServerError['kind'], operation: ServerError['operation'] = 'dry-run') =>
  async () => {
    throw new OperationsError({ kind, operation });
  };

const token = (expiresAt: number) =>
  `e30.${Buffer.from(JSON.stringify({ exp: Math.floor(expiresAt / 1000) })).toString('base64url')}.x`;
const days = (count: number) => count * 86_400_000;

describe('a preview', () => {
  test('reports a preflight in which all is well, with two requests more than its policies need', async () => {
    const deployment = await preview();
    const report = await deployment.night();
    expect(report.preflight?.map(({ name, state }) => [name, state])).toEqual(allNames.map((name) => [name, 'ok']));
    // Whether task statuses and dry runs are allowed; the sizes are those of the run.
    expect(asked(deployment)).toEqual([
      'getEsTaskStatus',
      'getIndexSizes',
      'truncateTimeseriesAspect',
      'truncateTimeseriesAspect',
    ]);
  });

  test('that enforces has no preflight and sends no request for it', async () => {
    const deployment = await started({
      policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 3000 }],
    });
    const report = await deployment.night();
    expect(report).not.toHaveProperty('preflight');
    expect(asked(deployment)).toEqual(['getIndexSizes', 'truncateTimeseriesAspect']);
  });

  test('started by hand in a stage that enforces has a preflight', async () => {
    const deployment = await started();
    expect(checksOf(await deployment.night({ mode: 'preview' }))).toHaveProperty('Clock');
  });

  test.each<[string, ServiceOptions, [string, string][], object]>([
    ['refused sizes', { faults: ['denied=sizes'] }, [['Sizes', 'failed']], refusedWith('privilege')],
    ['a refused truncation', { faults: ['denied=truncate'] }, [['Truncation', 'failed']], refusedWith('privilege')],
    ['a refused status', { faults: ['denied=status'] }, [['Task status', 'failed']], refusedWith('privilege')],
    [
      'a clock that is ahead',
      { faults: ['clock-skew=3600'] },
      [['Clock', 'failed']],
      { kind: 'clock', skewMillis: 3_600_000 },
    ],
    [
      'an address without its prefix',
      { faults: ['frontend'] },
      [['Address', 'failed']],
      { kind: 'elsewhere', error: { kind: 'not-found' } },
    ],
    [
      'a login page',
      { faults: ['login-page'] },
      [['Address', 'failed']],
      { kind: 'elsewhere', error: { kind: 'not-json' } },
    ],
    [
      'a refused token',
      { faults: ['unauthorized-empty'] },
      [['Token', 'failed']],
      { kind: 'token-refused', error: { kind: 'unauthorized', status: 401 } },
    ],
  ])('finds %s', async (_, options, expected, cause) => {
    const state = await planned(await preview(options));
    expect(notOk(state)).toEqual(expected);
    expect(state.preflight?.find(({ state: one }) => one !== 'ok')?.cause).toMatchObject(cause);
  });

  test('notes an index that an upgrade or a reindex made lately, for as long as a copy into it may go on', async () => {
    const aspects = ['operation', 'datasetProfile'];
    const deployment = await preview({ indices: aspects.map((aspect) => anIndexOf(600, 400, aspect)) });
    const { clock, service } = deployment;
    const copies = async () =>
      ((await planned(deployment)).preflight ?? []).flatMap(({ name, ...check }) => (name === 'Copies' ? [check] : []));
    const madeAt = clock.time;
    service.engine.beginUpgrade('dataset.operation').swap();
    service.engine.upgradeIndex('dataset.datasetProfile');
    const found = (index: string, upgraded: boolean, after: number) => ({
      state: 'note',
      cause: { kind: 'copied-lately', indices: [index], upgraded, until: madeAt + after },
    });
    const upgraded = found('dataset.operation', true, days(14));
    expect(await copies()).toEqual([upgraded, found('dataset.datasetProfile', false, days(1.5))]);
    clock.time = madeAt + days(2);
    expect(await copies()).toEqual([upgraded]);
    clock.time = madeAt + days(14);
    expect(await copies()).toEqual([]);
  });

  test('lists five indices that an upgrade made, and counts the others', async () => {
    const aspects = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const deployment = await preview({ indices: aspects.map((aspect) => anIndexOf(5, 5, aspect)) });
    for (const aspect of aspects) deployment.service.engine.beginUpgrade(`dataset.${aspect}`).swap();
    const { cause } = checksOf(await planned(deployment)).Copies;
    expect(cause).toMatchObject({ indices: aspects.slice(0, 5).map((aspect) => `dataset.${aspect}`), more: 2 });
  });

  test('knows when a refused token expired', async () => {
    const deployment = await preview({ token: 'another' });
    const expiresAt = deployment.clock.time - days(3);
    deployment.services.parameters.token.get = async () => token(expiresAt);
    const operations = { ...deployment.services.operations, indexSizes: failing('unauthorized', 'index-sizes') };
    const state = await planned(deployment, { operations });
    expect(notOk(state)).toEqual([['Token', 'failed']]);
    expect(checksOf(state).Token.cause).toMatchObject({ kind: 'token-refused', expiresAt });
  });

  test('of a server that cannot be reached reports the connection as the error of the run, and sends nothing more', async () => {
    const deployment = await preview();
    await deployment.service.close();
    const state = await planned(deployment);
    expect(state.preflight?.map(({ name }) => name)).toEqual(['Address', 'DNS', 'Connection', 'Token']);
    expect(notOk(state)).toEqual([['Connection', 'failed']]);
    const { cause } = checksOf(state).Connection;
    expect(state.error).toMatchObject({ kind: 'server', error: 'error' in cause ? cause.error : undefined });
    expect(asked(deployment)).toEqual([]);
  });

  test.each<[string, ServerError['kind'], string]>([
    ['its token is revoked', 'unauthorized', 'Token'],
    ['its name is gone', 'dns', 'DNS'],
    ['it goes away', 'connect', 'Connection'],
  ])('of a server that answered at first is not called well if %s in the middle', async (_, kind, name) => {
    const deployment = await preview({
      indices: [anIndexOf(600, 400), anIndexOf(700, 400, 'datasetProfile')],
      policies: ['operation', 'datasetProfile'].map((aspect) => ({ entityType: 'dataset', aspect, retentionDays: 30 })),
    });
    const { operations } = deployment.services;
    const state = await planned(deployment, {
      operations: {
        ...operations,
        dryRun: (fields, options) =>
          fields.aspect === 'operation' ? operations.dryRun(fields, options) : failing(kind)(),
      },
    });
    expect(state.error).toMatchObject({ kind: 'server', error: { kind } });
    expect(notOk(state)).toEqual([[name, 'failed']]);
    expect(checksOf(state)[name as Check['name']].cause).toMatchObject({ error: { kind } });
  });

  test('lists three addresses of a host, each cut to the limit of the run state', async () => {
    const deployment = await preview();
    const lookup = async () => ['a'.repeat(5000), 'b', 'c', 'd'];
    const state = await planned(deployment, {
      settings: { ...deployment.settings, gmsUrl: 'http://gms.internal:8080' },
      surroundings: { onLambda: true, lookup },
    });
    expect(checksOf(state).DNS.cause).toMatchObject({ kind: 'dns', addresses: [`${'a'.repeat(237)}…`, 'b', 'c'] });
  });

  test('of a name that does not resolve reports DNS', async () => {
    const deployment = await preview();
    const state = await planned(deployment, {
      settings: { ...deployment.settings, gmsUrl: 'http://gms.internal:8080' },
      operations: { ...deployment.services.operations, indexSizes: failing('dns', 'index-sizes') },
      surroundings: { onLambda: true, lookup: () => Promise.reject(new Error('ENOTFOUND')) },
    });
    expect(notOk(state)).toEqual([['DNS', 'failed']]);
    expect(checksOf(state).DNS.cause).toMatchObject({
      kind: 'dns-failed',
      host: 'gms.internal',
      error: { kind: 'dns' },
    });
  });

  test('that cannot read its token still reports address and DNS', async () => {
    const deployment = await preview();
    deployment.services.parameters.token.get = async () => {
      throw new ParametersError('the parameter /x/token is missing: store it');
    };
    const state = await planned(deployment);
    expect(state.error).toMatchObject({ kind: 'parameters', problem: expect.stringContaining('/x/token') });
    expect(state.preflight?.map(({ name }) => name)).toEqual(['Address', 'DNS']);
    expect(asked(deployment)).toEqual([]);
  });

  test('without any policy makes a dry run of its own, of an index that exists', async () => {
    const deployment = await preview({ indices: [anIndexOf(5, 5, 'profile', 'chart')], policies: [] });
    deployment.policies = [];
    const state = await planned(deployment);
    expect(state.error).toEqual({ kind: 'no-policy' });
    expect(notOk(state)).toEqual([]);
    const [dryRun] = deployment.service.engine.asked.filter(({ action }) => action === 'truncateTimeseriesAspect');
    expect(dryRun?.body).toMatchObject({ entityType: 'chart', aspect: 'profile', endTimeMillis: 0, dryRun: true });
  });

  test('whose policies are all invalid has a preflight, too', async () => {
    const deployment = await preview();
    deployment.policies = [{ entityType: 'dataset', aspect: 'operation', retentionDay: 30 }];
    const state = await planned(deployment);
    expect(state.entries).toMatchObject([{ entry: { outcome: 'failed' } }]);
    expect(notOk(state)).toEqual([]);
    expect(state.preflight).toHaveLength(8);
  });

  test('whose indices do not exist does not report that as a refusal', async () => {
    const deployment = await preview({
      policies: [{ entityType: 'dataset', aspect: 'operatoin', retentionDays: 30 }],
    });
    const state = await planned(deployment);
    expect(state.entries).toMatchObject([{ entry: { outcome: 'failed' } }]);
    expect(notOk(state)).toEqual([]);
  });

  test('decides the same with a failed preflight as without one', async () => {
    const deployment = await preview();
    const broken: Surroundings = {
      onLambda: true,
      lookup: async () => ['127.0.0.1'],
      onPreflight: () => {
        throw new Error('boom');
      },
    };
    const whole = await planned(deployment);
    const { preflight: _, ...expected } = whole;
    expect(whole.preflight).toBeDefined();
    expect(await planned(deployment, { surroundings: broken })).toEqual(expected);
    expect(deployment.log.join('\n')).toContain('the preflight could not be made');
  });

  test('shows the token in no check', async () => {
    const deployment = await preview({ faults: ['denied=truncate', 'denied=sizes'] });
    const state = await planned(deployment);
    expect(JSON.stringify([state, deployment.log])).not.toContain(deployment.service.token);
  });
});

describe('the address of a preview', () => {
  const addressed = async (gmsUrl: string, onLambda: boolean, addresses: string[]) => {
    const deployment = await preview();
    const settings = { ...deployment.settings, gmsUrl };
    const surroundings = { onLambda, lookup: async () => addresses };
    return checksOf(await planned(deployment, { settings, surroundings })).Address.state;
  };

  test.each([
    ['https', 'https://gms.example.com', true, ['192.0.2.7'], 'ok'],
    ['plain http inside a private network', 'http://gms.example.com:8080', true, ['10.0.3.7', '10.0.4.7'], 'ok'],
    ['plain http in public', 'http://gms.example.com:8080', true, ['10.0.3.7', '192.0.2.7'], 'note'],
    ['plain http from a machine outside', 'http://gms.example.com:8080', false, ['10.0.3.7'], 'note'],
  ] as const)('%s: %s, on Lambda %s, at %s is %s', async (_, url, onLambda, addresses, state) => {
    expect(await addressed(url, onLambda, [...addresses])).toBe(state);
  });
});

describe('before the dry runs of the policies', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('the preflight stops waiting for missing answers when its time is over, and the run goes on', async () => {
    const deployment = await preview();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { operations } = deployment.services;
    const hanging = (_: unknown, { signal }: { signal?: AbortSignal } = {}) =>
      new Promise<never>((_resolve, reject) => {
        signal?.addEventListener('abort', () =>
          reject(new OperationsError({ kind: 'aborted', operation: 'task-status' })),
        );
        void vi.advanceTimersByTimeAsync(preflightMillis);
      });
    const state = await planned(deployment, { operations: { ...operations, taskStatus: hanging } });
    expect(notOk(state)).toContainEqual(['Task status', 'note']);
    expect(state.entries).toMatchObject([{ entry: { outcome: 'would-truncate' } }]);
  });

  test('the preflight is reported check by check, so that a waiting person can read it', async () => {
    const deployment = await preview();
    const { operations } = deployment.services;
    const order: string[] = [];
    await planned(deployment, {
      operations: {
        ...operations,
        dryRun(fields, options) {
          order.push(fields.endTimeMillis === 0 ? 'tries a dry run' : 'counts');
          return operations.dryRun(fields, options);
        },
      },
      surroundings: {
        onLambda: false,
        lookup: async () => ['127.0.0.1'],
        onPreflight: (_, isComplete) => order.push(isComplete ? 'is complete' : 'is told'),
      },
    });
    expect(order).toEqual(['is told', 'is told', 'tries a dry run', 'is complete', 'counts']);
  });
});

function refusedWith(kind: ServerError['kind']) {
  return { kind: 'refused', error: { kind, status: 403 } };
}
