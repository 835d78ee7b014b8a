import { describe, expect, test } from 'vitest';
import { plan } from '../../../../lambda/run/plan/plan.ts';
import { anIndexOf, deployments } from '../../../support/deployment.ts';
import { bytesOf, maxStateBytes } from '../../../support/states.ts';
import { asReindex, day, entryOf, hour, name, operation } from './nights.ts';

/** What prevents a truncate from being sent, and what must not. */

const started = deployments();

describe('a run that starts in the future', () => {
  test('sends nothing, because its cutoff would take rows younger than the retention', async () => {
    const deployment = await started();
    const startTime = new Date(deployment.clock.time + 25 * day).toISOString();
    const state = await plan({ input: {}, execution: { name: 'run-1', startTime } }, deployment.during('plan'));
    expect(state.entries).toMatchObject([{ entry: { outcome: 'failed', cause: { which: 'start-in-future' } } }]);
    expect(state.next).toBe('report');
  });

  test('sends nothing below the floor, even if its start is only 30 s in the future', async () => {
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
