import { afterEach, describe, expect, test, vi } from 'vitest';
import { preflightMillis } from '../../../lambda/facts/limits.ts';
import type { Check, Report } from '../../../lambda/facts/report-schema.ts';
import { OperationsError } from '../../../lambda/operations/operations.ts';
import { preflightBeside, watchDryRuns } from '../../../lambda/preflight/plan-preflight.ts';
import { plan } from '../../../lambda/run/plan/plan.ts';
import type { RunServices, Surroundings } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import type { ServiceOptions } from '../../../local/operations-service/server.ts';
import { anIndexOf, type Deployment, deployments } from '../../support/deployment.ts';

/** The preflight of a preview: by the real Plan, over real HTTP to the embedded service. */

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

/** What the embedded service was asked, in the order of names. */
const asked = ({ service }: Deployment) => service.engine.asked.map(({ action }) => action).sort();

const token = (expiresAt: number) =>
  `e30.${Buffer.from(JSON.stringify({ exp: Math.floor(expiresAt / 1000) })).toString('base64url')}.x`;
const days = (count: number) => count * 86_400_000;

describe('a preview', () => {
  test('carries the preflight to its report, all well, and asks one thing more than its policies need', async () => {
    const deployment = await preview();
    const report = await deployment.night();
    expect(report.preflight?.map(({ name, state }) => [name, state])).toEqual(allNames.map((name) => [name, 'ok']));
    expect(asked(deployment)).toEqual(['getEsTaskStatus', 'getIndexSizes', 'truncateTimeseriesAspect']);
  });

  test('that enforces has none and asks nothing for it', async () => {
    const deployment = await started({
      policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 3000 }],
    });
    const report = await deployment.night();
    expect(report).not.toHaveProperty('preflight');
    expect(asked(deployment)).toEqual(['getIndexSizes', 'truncateTimeseriesAspect']);
  });

  test('by hand of a stage that enforces has it', async () => {
    const deployment = await started();
    expect(checksOf(await deployment.night({ mode: 'preview' }))).toHaveProperty('Clock');
  });

  test.each<[string, ServiceOptions, [string, string][], RegExp]>([
    ['refused sizes', { faults: ['denied=sizes'] }, [['Sizes', 'failed']], /Get Timeseries index sizes API/],
    ['a refused truncation', { faults: ['denied=truncate'] }, [['Truncation', 'failed']], /Truncate timeseries aspect/],
    ['a refused status', { faults: ['denied=status'] }, [['Task status', 'failed']], /Get ES task status API/],
    ['a clock that is ahead', { faults: ['clock-skew=3600'] }, [['Clock', 'failed']], /60 min ahead of ours/],
    ['an address without its prefix', { faults: ['frontend'] }, [['Address', 'failed']], /https:\/\/host\/api\/gms/],
    ['a login page', { faults: ['login-page'] }, [['Address', 'failed']], /https:\/\/host\/api\/gms/],
    ['a refused token', { faults: ['unauthorized-empty'] }, [['Token', 'failed']], /401/],
  ])('says %s with what to do', async (_, options, expected, text) => {
    const state = await planned(await preview(options));
    expect(notOk(state)).toEqual(expected);
    const check = state.preflight?.find(({ state }) => state !== 'ok');
    expect(check?.text).toMatch(text);
    expect(check?.remedy).toMatch(/\w/);
  });

  test('says an expired token by its date, with where the new one belongs', async () => {
    const deployment = await preview({ token: 'another' });
    const expired = token(deployment.clock.time - days(3));
    deployment.services.parameters.token.get = async () => expired;
    const refused = async () => {
      throw new OperationsError('unauthorized', 'Index sizes: the server answered 401.', 401);
    };
    const state = await planned(deployment, { operations: { ...deployment.services.operations, indexSizes: refused } });
    expect(notOk(state)).toEqual([['Token', 'failed']]);
    expect(checksOf(state).Token).toMatchObject({
      text: expect.stringMatching(/^expired 3 days ago/),
      remedy: expect.stringContaining('store it in the parameter of the old one'),
    });
  });

  test('of a server that is not there tells of the connection, in the words of the error, and asks nothing more', async () => {
    const deployment = await preview();
    await deployment.service.close();
    const state = await planned(deployment);
    expect(state.preflight?.map(({ name }) => name)).toEqual(['Address', 'DNS', 'Connection', 'Token']);
    expect(notOk(state)).toEqual([['Connection', 'failed']]);
    expect(state.error).toBe(`Index sizes: ${checksOf(state).Connection.text}`);
    expect(asked(deployment)).toEqual([]);
  });

  test.each<[string, OperationsError['kind'], string]>([
    ['its token is revoked', 'unauthorized', 'Token'],
    ['its name is gone', 'dns', 'DNS'],
    ['it goes away', 'connect', 'Connection'],
  ])('of a server that answered at first is not called well when %s in the middle', async (_, kind, name) => {
    const deployment = await preview({
      indices: [anIndexOf(600, 400), anIndexOf(700, 400, 'datasetProfile')],
      policies: ['operation', 'datasetProfile'].map((aspect) => ({ entityType: 'dataset', aspect, retentionDays: 30 })),
    });
    const { operations } = deployment.services;
    let tell = () => {};
    const told = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const state = await planned(deployment, {
      surroundings: { ...deployment.services.surroundings, onPreflight: tell },
      operations: {
        ...operations,
        async dryRun(fields, options) {
          if (fields.aspect === 'operation') return operations.dryRun(fields, options);
          await told;
          throw new OperationsError(kind, 'Dry run of dataset.datasetProfile: no more.');
        },
      },
    });
    expect(state.error).toContain('no more');
    expect(notOk(state)).toEqual([[name, 'failed']]);
    expect(checksOf(state)[name as Check['name']].text).toContain('no more');
  });

  test('of a name that does not resolve tells of DNS, with a remedy for the network of the functions', async () => {
    const deployment = await preview();
    const unresolved = async () => {
      throw new OperationsError('dns', 'Index sizes: the host name of gms.internal cannot be resolved (ENOTFOUND).');
    };
    const state = await planned(deployment, {
      settings: { ...deployment.settings, gmsUrl: 'http://gms.internal:8080' },
      operations: { ...deployment.services.operations, indexSizes: unresolved },
      surroundings: { place: 'lambda', lookup: () => Promise.reject(new Error('ENOTFOUND')) },
    });
    expect(notOk(state)).toEqual([['DNS', 'failed']]);
    expect(state.error).toBe(`Index sizes: ${checksOf(state).DNS.text}`);
    expect(checksOf(state).DNS.remedy).toContain('subnetIds');
  });

  test('that cannot read its token still tells of address and DNS', async () => {
    const deployment = await preview();
    deployment.services.parameters.token.get = async () => {
      throw Object.assign(new Error('the parameter /x/token is missing: store it'), { name: 'ParametersError' });
    };
    const state = await planned(deployment);
    expect(state.error).toContain('/x/token');
    expect(state.preflight?.map(({ name }) => name)).toEqual(['Address', 'DNS']);
    expect(asked(deployment)).toEqual([]);
  });

  test('without any policy makes a dry run of its own, of an index that there is', async () => {
    const deployment = await preview({ indices: [anIndexOf(5, 5, 'profile', 'chart')], policies: [] });
    deployment.policies = [];
    const state = await planned(deployment);
    expect(state.error).toContain('no policy');
    expect(notOk(state)).toEqual([]);
    const [dryRun] = deployment.service.engine.asked.filter(({ action }) => action === 'truncateTimeseriesAspect');
    expect(dryRun?.body).toMatchObject({ entityType: 'chart', aspect: 'profile', endTimeMillis: 0, dryRun: true });
  });

  test('whose policies are all wrong has its preflight as well', async () => {
    const deployment = await preview();
    deployment.policies = [{ entityType: 'dataset', aspect: 'operation', retentionDay: 30 }];
    const state = await planned(deployment);
    expect(state.entries).toMatchObject([{ entry: { outcome: 'failed' } }]);
    expect(notOk(state)).toEqual([]);
    expect(state.preflight).toHaveLength(8);
  });

  test('whose policies are for indices that do not exist does not take that for a refusal', async () => {
    const deployment = await preview({
      policies: [{ entityType: 'dataset', aspect: 'operatoin', retentionDays: 30 }],
    });
    const state = await planned(deployment);
    expect(state.entries).toMatchObject([{ entry: { outcome: 'failed' } }]);
    expect(notOk(state)).toEqual([]);
  });

  test('decides the same with a preflight that fails as without one', async () => {
    const deployment = await preview();
    const broken: Surroundings = {
      place: 'lambda',
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
  const addressed = async (gmsUrl: string, place: Surroundings['place'], addresses: string[]) => {
    const deployment = await preview();
    const settings = { ...deployment.settings, gmsUrl };
    const surroundings = { place, lookup: async () => addresses };
    return checksOf(await planned(deployment, { settings, surroundings })).Address.state;
  };

  test.each([
    ['https', 'https://gms.example.com', 'lambda', ['192.0.2.7'], 'ok'],
    ['plain http inside a private network', 'http://gms.example.com:8080', 'lambda', ['10.0.3.7', '10.0.4.7'], 'ok'],
    ['plain http in public', 'http://gms.example.com:8080', 'lambda', ['10.0.3.7', '192.0.2.7'], 'note'],
    ['plain http from a machine outside', 'http://gms.example.com:8080', 'machine', ['10.0.3.7'], 'note'],
  ] as const)('%s: %s from %s at %s is %s', async (_, url, place, addresses, state) => {
    expect(await addressed(url, place, [...addresses])).toBe(state);
  });
});

describe('a preflight beside dry runs', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('does not wait longer than its time for answers that do not come, and says which', async () => {
    const deployment = await preview();
    const hanging = (_: unknown, { signal }: { signal?: AbortSignal } = {}) =>
      new Promise<never>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new OperationsError('aborted', 'given up')));
      });
    const services: RunServices = {
      ...deployment.during('plan'),
      operations: { ...deployment.services.operations, taskStatus: hanging },
      surroundings: { place: 'lambda', lookup: () => new Promise(() => {}) },
      settings: { ...deployment.settings, gmsUrl: 'https://gms.example.com' },
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const dryRuns = watchDryRuns({
      ...services.operations,
      dryRun: async () => ({ rowsToDelete: 0, rowsTotal: 1, clockSkewMillis: 0 }),
    });
    await dryRuns.operations.dryRun({ entityType: 'a', aspect: 'b', endTimeMillis: 0 });
    const checks = preflightBeside(
      {
        sizes: { kind: 'done', value: [] },
        dryRuns,
        ended: new Promise(() => {}),
        signal: new AbortController().signal,
      },
      services,
    );
    await vi.advanceTimersByTimeAsync(preflightMillis);
    expect(notOk({ preflight: await checks })).toEqual([
      ['DNS', 'note'],
      ['Task status', 'note'],
    ]);
  });

  test('is told as soon as one dry run has an answer, while others go on', async () => {
    const deployment = await preview({ indices: [anIndexOf(5, 5, 'quick'), anIndexOf(5, 5, 'slow')] });
    deployment.policies = ['quick', 'slow'].map((aspect) => ({ entityType: 'dataset', aspect, retentionDays: 30 }));
    let letGo = () => {};
    const told = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { operations } = deployment.services;
    const state = await planned(deployment, {
      operations: {
        ...operations,
        async dryRun(fields, options) {
          // Ends only when the preflight is there already.
          if (fields.aspect === 'slow') await told;
          return operations.dryRun(fields, options);
        },
      },
      surroundings: { place: 'machine', lookup: async () => ['127.0.0.1'], onPreflight: () => letGo() },
    });
    expect(state.preflight).toHaveLength(8);
    expect(state.entries).toHaveLength(2);
  });
});
