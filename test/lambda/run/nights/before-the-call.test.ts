import { describe, expect, test } from 'vitest';
import { plan } from '../../../../lambda/run/plan/plan.ts';
import { truncate } from '../../../../lambda/run/truncate.ts';
import { anIndexOf, deployments } from '../../../support/deployment.ts';
import { anIndex } from '../../../support/records.ts';
import { bytesOf, maxStateBytes } from '../../../support/states.ts';
import { asReindex, day, entryOf, hour, name, operation } from './nights.ts';

/** What keeps a truncate from being sent, and what must not. */

const started = deployments();

describe('a run that starts in the future', () => {
  test('sends nothing, because its cutoff would take rows younger than the retention', async () => {
    const deployment = await started();
    const startTime = new Date(deployment.clock.time + 25 * day).toISOString();
    const state = await plan({ input: {}, execution: { name: 'run-1', startTime } }, deployment.during('plan'));
    expect(state.entries).toMatchObject([{ entry: { outcome: 'failed', cause: { which: 'start-in-future' } } }]);
    expect(state.next).toBe('report');
  });

  test('sends nothing below the floor, however little its start lies ahead', async () => {
    const deployment = await started({ policies: [{ ...operation, retentionDays: 7 }] });
    const startTime = new Date(deployment.clock.time + 30_000).toISOString();
    const state = await plan({ input: {}, execution: { name: 'run-1', startTime } }, deployment.during('plan'));
    expect(state.entries).toMatchObject([{ entry: { outcome: 'failed', cause: { which: 'floor' } } }]);
  });
});

test.each(['__proto__', 'constructor', ''])(
  'a scheduled time of %j fails the run in one sentence',
  async (scheduledTime) => {
    const deployment = await started();
    const report = await deployment.night({ scheduledTime });
    expect(report).toMatchObject({
      result: 'failed',
      cause: { kind: 'input', problem: expect.stringContaining('scheduledTime') },
    });
    expect(deployment.realTruncates()).toEqual([]);
  },
);

describe('a policy that changes after Plan is not carried out', () => {
  test.each<[string, (policies: object[]) => object[], string]>([
    ['disabled', ([first, second]) => [first!, { ...second, enabled: false }], 'enabled'],
    [
      'its retention raised to a year',
      ([first, second]) => [first!, { ...second, retentionDays: 365 }],
      'retentionDays',
    ],
    ['removed', ([first]) => [first!], 'policy-removed'],
  ])('%s', async (_, changed, what) => {
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

describe('the answer to the last dry run', () => {
  test.each([
    [59_000, 'watched', 1],
    [60_000, 'not-started', 0],
    [420_000, 'not-started', 0],
  ])('%i ms old when the record says sending: %s', async (age, outcome, sent) => {
    const deployment = await started();
    const execution = { name: 'run-1', startTime: new Date(deployment.clock.time).toISOString() };
    const state = await plan({ input: {}, execution }, deployment.during('plan'));
    const services = deployment.during('truncate');
    let dryRuns = 0;
    const operations = {
      ...services.operations,
      async dryRun(...question: Parameters<typeof services.operations.dryRun>) {
        const answer = await services.operations.dryRun(...question);
        // Cutoff, window, cutoff: the last one justifies the call.
        if (++dryRuns === 3) deployment.clock.time += age;
        return answer;
      },
    };
    const [entry] = (await truncate(state, { ...services, operations })).entries;
    expect(entry?.phase === 'done' ? entry.entry.outcome : entry?.phase).toBe(outcome);
    expect(deployment.realTruncates()).toHaveLength(sent);
  });

  test.each([
    ['the wall clock', { wall: 60_000, steady: 0 }],
    ['a steady clock, while the wall clock was set back', { wall: -5, steady: 60_000 }],
  ])('is too old for the call by %s', async (_, passes) => {
    const deployment = await started();
    const execution = { name: 'run-1', startTime: new Date(deployment.clock.time).toISOString() };
    const state = await plan({ input: {}, execution }, deployment.during('plan'));
    const services = deployment.during('truncate');
    let steady = 0;
    const begun = deployment.clock.time;
    const clock = {
      now: () => deployment.clock.time,
      realNow: () => deployment.clock.time,
      monotonic: () => deployment.clock.time - begun + steady,
    };
    const operations = {
      ...services.operations,
      async truncate(...call: Parameters<typeof services.operations.truncate>) {
        deployment.clock.time += passes.wall;
        steady += passes.steady - passes.wall;
        return services.operations.truncate(...call);
      },
    };
    const [entry] = (await truncate(state, { ...services, clock, operations })).entries;
    expect(entry?.entry).toMatchObject({ outcome: 'failed', cause: { kind: 'stopped', by: 'send-time' } });
    expect(deployment.realTruncates()).toHaveLength(0);
    expect(await deployment.ledger.read(anIndex)).toMatchObject({ state: 'idle' });
  });
});

test('late rows between Plan and Truncate do not keep a reindex from starting', async () => {
  const deployment = await started({ policies: [asReindex] });
  const { operations } = deployment.services;
  deployment.services = {
    ...deployment.services,
    operations: {
      ...operations,
      async indexSizes(options) {
        if (deployment.states.length === 1) {
          deployment.service.engine.addRows(name, Array(200).fill(deployment.clock.time - day));
        }
        return operations.indexSizes(options);
      },
    },
  };
  expect(entryOf(await deployment.night()).outcome).toBe('truncated');
});

test('an execution name that is reused after 100 days is another run', async () => {
  const deployment = await started();
  expect(entryOf(await deployment.night({}, 'nightly')).outcome).toBe('truncated');
  deployment.clock.time += 100 * day;
  deployment.service.engine.addRows(name, Array(400).fill(deployment.clock.time - day));
  expect(entryOf(await deployment.night({}, 'nightly'))).toMatchObject({ outcome: 'truncated', rowsDeleted: 400 });
  expect(deployment.realTruncates()).toHaveLength(2);
});

test('one malformed parameter with thousands of entries ends in a report', async () => {
  const deployment = await started({ policies: [operation] });
  const text = `[${Array(2041).fill('1').join(',')}]`;
  deployment.services.parameters.policies = async () => [{ name: '/x/policies/list', text }];
  const report = await deployment.night();
  expect(report.result).toBe('failed');
  expect(report).toMatchObject({
    cause: { kind: 'parameters', problem: expect.stringMatching(/^there are 2041 policies/) },
  });
  expect(Math.max(...deployment.states.map(bytesOf))).toBeLessThan(maxStateBytes);
});
