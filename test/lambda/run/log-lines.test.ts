import { expect, test } from 'vitest';
import { LEDGER_VERSION } from '../../../lambda/ledger/record.ts';
import { MemoryError } from '../../../lambda/memory/night.ts';
import { indexHistoryQuery } from '../../../lambda/telemetry/queries.ts';
import { type Deployment, deployments } from '../../support/deployment.ts';
import { anIndex, aQuarantined } from '../../support/records.ts';

/** The lines that the saved query finds: each decision about an index has one, with the index's name. */

const started = deployments();
const linesOf = ({ log }: Deployment) =>
  log.map((line) => {
    const at = line.indexOf(' {');
    return [line.slice(0, at), JSON.parse(line.slice(at + 1))] as [string, Record<string, unknown>];
  });
const line = (deployment: Deployment, message: string) => linesOf(deployment).find(([name]) => name === message)?.[1];

test('a night logs its plan, calls and verdicts, each found by the saved query', async () => {
  const deployment = await started();
  await deployment.night();
  const asked = /filter index = '(.*)'/.exec(indexHistoryQuery.text)?.[1];
  expect(linesOf(deployment).map(([message, { index }]) => [message, index])).toEqual([
    ['planned', asked],
    ['task id', asked],
    ['truncate', asked],
    ['verdict', asked],
    ['report', undefined],
  ]);
  expect(line(deployment, 'planned')).toMatchObject({ outcome: 'approved', rowsTotal: 1000, rowsToDelete: 600 });
  expect(line(deployment, 'truncate')).toEqual({ index: asked, outcome: 'started', taskId: expect.any(String) });
  expect(line(deployment, 'verdict')).toMatchObject({ outcome: 'truncated', cause: { kind: 'verified' } });
  expect(line(deployment, 'report')).toEqual({ result: 'ok', policies: 1 });
});

test('a truncation that was not started is logged with its reason', async () => {
  const deployment = await started();
  const { operations } = deployment.services;
  let asked = 0;
  deployment.services.operations = {
    ...operations,
    async indexSizes(options) {
      if (++asked === 2) deployment.service.engine.set({ knowsForceFlags: false });
      return operations.indexSizes(options);
    },
  };
  await deployment.night();
  expect(line(deployment, 'truncate')).toEqual({
    index: anIndex,
    outcome: 'not-started',
    cause: { kind: 'changed', what: 'server-strategy', was: 'delete-by-query', now: 'reindex' },
  });
});

test('a policy with bites is logged as planned after all are counted', async () => {
  const policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, maxRowsPerRun: 100 }];
  const deployment = await started({ policies });
  await deployment.night({ mode: 'preview' });
  expect(line(deployment, 'planned')).toMatchObject({ index: anIndex, outcome: 'searched' });
});

test('a call without a task id is logged with its answer', async () => {
  const deployment = await started({ faults: ['gateway-timeout'] });
  await deployment.night();
  expect(line(deployment, 'no task id')).toMatchObject({ index: anIndex, error: { operation: 'truncate' } });
});

test('a failure to remember the night is logged', async () => {
  const deployment = await started();
  const fails = async () => {
    throw new MemoryError('no table');
  };
  deployment.services.nights = { read: async () => [], write: fails };
  await deployment.night();
  expect(line(deployment, 'the memory of nights cannot be used')).toEqual({
    index: anIndex,
    problem: { kind: 'memory-unavailable', problem: 'no table' },
  });
});

test('a run that cannot do its work logs and reports why', async () => {
  const deployment = await started({ policies: [] });
  await deployment.night();
  expect(line(deployment, 'the run could not do its work')).toEqual({ cause: { kind: 'no-policy' } });
  expect(line(deployment, 'report')).toEqual({ result: 'failed', policies: 0, cause: { kind: 'no-policy' } });
});

test('a cleared index is logged under its own name', async () => {
  const deployment = await started();
  await deployment.night({ mode: 'preview' });
  const { server } = deployment.states[0]!;
  const window = { from: deployment.clock.time - 20 * 86_400_000, to: deployment.clock.time, rows: 0 };
  deployment.ledger.stored.set(anIndex, aQuarantined({ server, windows: [window] }));
  await deployment.night({ clear: ['dataset.operation'] });
  expect(line(deployment, 'cleared by a person')).toEqual({
    index: anIndex,
    rowsMissing: 0,
    version: LEDGER_VERSION,
  });
});
