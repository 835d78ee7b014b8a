import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import type { Idle, LedgerRecord } from '../../../lambda/ledger/record.ts';
import { anIndexOf, type Deployment, deployments, only } from '../../support/deployment.ts';
import { anIndex } from '../../support/records.ts';

/** Whole runs against servers that do what real ones do. Facts: DataHub's OperationsResource and ESIndexBuilder. */

const started = deployments();
const hour = 3_600_000;
const asReindex = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, strategy: 'reindex' }];
const stateOf = async ({ ledger }: Deployment) => ((await ledger.read(anIndex)) as LedgerRecord | undefined)?.state;

describe('a night in which the server has one fault', () => {
  test.each<[fault: string, outcome: PolicyEntry['outcome'], state: string | undefined, sent: number]>([
    // the task and its status
    ['abort-at=0.9', 'incomplete', 'idle', 1],
    ['cancel-at=0.5', 'incomplete', 'idle', 1],
    ['fails-at-first-search', 'incomplete', 'idle', 1],
    ['restart-at=0.5', 'unknown', 'running', 1],
    ['status-lost', 'truncated', 'idle', 1],
    ['forgets-ended-tasks', 'truncated', 'idle', 1],
    ['slices=4', 'truncated', 'idle', 1],
    ['status-form=object', 'truncated', 'idle', 1],
    ['status-form=text', 'truncated', 'idle', 1],
    ['status-form=missing', 'truncated', 'idle', 1],
    ['status-unwrapped', 'truncated', 'idle', 1],
    ['denied=status', 'truncated', 'idle', 1],
    ['bad-gateway=status', 'truncated', 'idle', 1],
    ['login-page=status', 'truncated', 'idle', 1],
    // what a real truncate answers
    ['task-id=uuid', 'truncated', 'idle', 1],
    ['task-id=empty', 'truncated', 'idle', 1],
    ['task-id=sentence', 'truncated', 'idle', 1],
    ['gateway-timeout', 'truncated', 'idle', 1],
    ['bad-gateway=truncate', 'failed', 'idle', 1],
    ['reset', 'truncated', 'idle', 1],
    ['garbage=truncate', 'truncated', 'idle', 1],
    ['login-redirect', 'failed', undefined, 0],
    ['denied=truncate', 'failed', undefined, 0],
    // counts
    ['refresh-seconds=30', 'truncated', 'idle', 1],
    ['comma', 'truncated', 'idle', 1],
    ['sizes-lag', 'truncated', 'idle', 1],
    ['denied=sizes', 'truncated', 'idle', 1],
    ['conflicts=0.005', 'truncated', 'idle', 1],
    ['conflicts=0.3', 'incomplete', 'idle', 1],
  ])('%s ends as %s, its record %s, after %i real calls', async (fault, outcome, state, sent) => {
    const deployment = await started({ faults: [fault] });
    const entry = only(await deployment.night());
    expect([entry.outcome, entry.reason]).toEqual([outcome, expect.stringMatching(/\S/)]);
    expect(await stateOf(deployment)).toBe(state);
    expect(deployment.realTruncates()).toHaveLength(sent);
    expect(
      deployment.service.engine.rows('dataset.operation').filter(({ timestamp }) => timestamp > entry.cutoffMillis!),
    ).toHaveLength(400);
  });
});

describe('a night in which two things come together', () => {
  test('a reindex that is cut short and misses only the newest rows, from after the run began, is rows-missing', async () => {
    const deployment = await started({ policies: asReindex, faults: ['abort-at=0.9'] });
    const { engine } = deployment.service;
    const { operations } = deployment.services;
    let added = false;
    deployment.services = {
      ...deployment.services,
      operations: {
        ...operations,
        async indexSizes(options) {
          // Rows arrive between Plan and Truncate.
          if (deployment.states.length === 1 && !added) {
            added = true;
            deployment.clock.time += 60_000;
            engine.addRows('dataset.operation', Array(60).fill(deployment.clock.time - 1000));
          }
          return operations.indexSizes(options);
        },
      },
    };
    const entry = only(await deployment.night());
    expect(entry).toMatchObject({ outcome: 'rows-missing', rowsMissing: 46 });
  });

  test('a truncation of few rows that deleted none of them is not truncated', async () => {
    const deployment = await started({ indices: [anIndexOf(10, 20)], faults: ['bad-gateway=truncate'] });
    expect(only(await deployment.night())).toMatchObject({ outcome: 'failed', cause: { kind: 'unchanged' } });
  });

  test('a running reindex whose status is lost for a moment, or refused once, is not judged before it ends', async () => {
    const policies = [{ ...asReindex[0], batchSize: 10 }];
    const deployment = await started({ policies, rowsPerSecond: 0.03 });
    const { engine } = deployment.service;
    let looks = 0;
    engine.onRequest = ({ path }) => {
      if (!path.includes('getEsTaskStatus')) return undefined;
      looks++;
      if (looks % 12 === 5) return { kind: 'fail-before', answer: { kind: 'status', status: 401 } };
      if (looks % 12 === 9)
        return {
          kind: 'fail-before',
          answer: {
            kind: 'status',
            status: 200,
            body: '{"value":"{\\"error\\":\\"Could not get task status for a:1\\"}"}',
          },
        };
      return undefined;
    };
    expect(only(await deployment.night()).outcome).toBe('truncated');
    expect(looks).toBeGreaterThan(20);
  });

  test("a truncation of another run between this one's reading and counting is in flight, not rows missing", async () => {
    const deployment = await started();
    await deployment.night();
    deployment.clock.time += 24 * hour;
    const { ledger } = deployment;
    const before = (await ledger.read(anIndex)) as Idle;
    const window = { ...before.lastVerdict!.window!, rows: 5000 };
    const large = { ...before, lastVerdict: { ...before.lastVerdict!, window } };
    ledger.stored.set(anIndex, large);
    deployment.services.ledger = {
      ...ledger,
      async list() {
        const records = await ledger.list();
        ledger.stored.set(anIndex, { ...large, attemptId: 'another-run' });
        return records;
      },
    };
    const report = await deployment.night();
    expect(only(report).outcome).toBe('in-flight');
    expect(report.result).toBe('attention');
  });

  test('a 500 that mentions a reindex makes the strategy unknown, although the dry run announced a delete', async () => {
    const deployment = await started({ faults: ['denied=sizes'] });
    deployment.service.engine.onRequest = ({ body }) =>
      body.includes('"dryRun":false')
        ? {
            kind: 'fail-before',
            answer: { kind: 'status', status: 500, body: '{"message":"Async reindex failed","status":500}' },
          }
        : undefined;
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'failed',
      strategy: 'unknown',
      cause: { kind: 'unchanged' },
    });
  });
});
