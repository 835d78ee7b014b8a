import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import type { Idle, LedgerRecord } from '../../../lambda/ledger/record.ts';
import { reserve } from '../../../lambda/ledger/transitions.ts';
import { anIndexOf, type Deployment, deployments, only, outcomesOf } from '../../support/deployment.ts';
import { anAttempt, anIndex } from '../../support/records.ts';

/** Whole runs against servers that do what real ones do. Facts: DataHub's OperationsResource and ESIndexBuilder. */

const started = deployments();
const hour = 3_600_000;
const asReindex = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, strategy: 'reindex' }];
const stateOf = async ({ ledger }: Deployment) => ((await ledger.read(anIndex)) as LedgerRecord | undefined)?.state;

describe('one fault, one night', () => {
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
  ])('%s: %s', async (fault, outcome, state, sent) => {
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

describe('a reindex that goes wrong', () => {
  test.each([
    ['that fails with 400 after it moved the alias', 'reindex-fails=400'],
    ['that fails with 500 after it moved the alias', 'reindex-fails=500'],
    ['whose copy is aborted', 'abort-at=0.5'],
    ['whose task is lost with its node', 'restart-at=0.5'],
    ['that ends at its first search', 'fails-at-first-search'],
  ])('%s is rows-missing, shows how to restore them, and closes the index', async (_, fault) => {
    const deployment = await started({ faults: [fault], policies: asReindex });
    const before = deployment.service.engine.indices()[0]!;
    const entry = only(await deployment.night());
    expect(entry.outcome).toBe('rows-missing');
    expect(entry.reason).toContain(`POST /_aliases`);
    expect(entry.reason).toContain(before.name);
    expect(await stateOf(deployment)).toBe('quarantined');
    const next = only(await deployment.night());
    expect(next).toMatchObject({
      outcome: 'quarantined',
      cause: { kind: 'quarantined', outcome: 'rows-missing', rowsIn: before.name },
      reason: expect.stringContaining('POST /_aliases'),
    });
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('without a refresh is not-refreshed, with only that remedy, and closes the index', async () => {
    const deployment = await started({ faults: ['refresh-off-after-reindex'], policies: asReindex });
    const entry = only(await deployment.night());
    const name = deployment.service.engine.indices().find(({ index }) => index !== undefined)!.name;
    expect(entry).toMatchObject({ outcome: 'rows-missing', cause: { kind: 'not-refreshed', indexNow: name } });
    expect(entry.reason).toContain(`PUT /${name}/_settings`);
    expect(entry.reason).not.toContain('_aliases');
    expect(await stateOf(deployment)).toBe('quarantined');
  });

  test('on an index that is no alias is refused before anything is sent', async () => {
    const deployment = await started({ faults: ['not-an-alias'], policies: asReindex });
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'failed',
      cause: { kind: 'guard', which: 'index-concrete' },
    });
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('on an index that is no alias is refused even on a server that ignores the flags', async () => {
    const deployment = await started({ faults: ['not-an-alias', 'ignores-force-flags'] });
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'failed',
      cause: { kind: 'guard', which: 'index-concrete' },
    });
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('opens the circuit breaker: nothing more is started in this run', async () => {
    const deployment = await started({
      faults: ['reindex-fails=400'],
      indices: [anIndexOf(300, 400), anIndexOf(900, 400, 'datasetProfile')],
      policies: [...asReindex, { entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 30 }],
    });
    const report = await deployment.night();
    expect(outcomesOf(report)).toEqual({
      'dataset.operation': 'rows-missing',
      'dataset.datasetProfile': 'not-started',
    });
    expect(report.policies.map(({ cause }) => cause)).toContainEqual({
      kind: 'stopped',
      by: 'breaker',
      index: 'dataset.operation',
      outcome: 'rows-missing',
    });
    expect(report.result).toBe('failed');
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('is truncated by the next run after its rows are back and a person has cleared it', async () => {
    const deployment = await started({ faults: ['reindex-fails=400'], policies: asReindex });
    const { cause } = only(await deployment.night());
    const { engine } = deployment.service;
    if (cause.kind !== 'missing') throw new Error(cause.kind);
    engine.pointAlias('dataset.operation', cause.rowsIn!);
    engine.set({ reindexFailsAfterSwap: undefined });
    const report = await deployment.night({ clear: ['dataset.operation'] });
    expect(report).toMatchObject({
      result: 'ok',
      policies: [],
      noteFacts: [{ kind: 'released', index: 'dataset.operation', rowsMissing: 0 }],
    });
    expect(deployment.realTruncates()).toHaveLength(1);
    expect(only(await deployment.night()).outcome).toBe('truncated');
  });
});

describe('rows that go missing', () => {
  /** Removes rows that should stay while the truncation runs. */
  async function losing(rows: number) {
    const deployment = await started({ faults: ['rows-per-second=20'] });
    const { engine } = deployment.service;
    const cutoff = deployment.clock.time - 30 * 24 * hour;
    engine.schedule(deployment.clock.time + 15_000, () => {
      let left = rows;
      engine.removeRows('dataset.operation', ({ timestamp }) => timestamp > cutoff && left-- > 0);
    });
    return deployment;
  }

  test('beyond 2 % and 10 rows are rows-missing', async () => {
    const deployment = await losing(11);
    expect(only(await deployment.night())).toMatchObject({ outcome: 'rows-missing', rowsMissing: 11 });
    expect(await stateOf(deployment)).toBe('quarantined');
  });

  test('in small numbers are noted with the number', async () => {
    const deployment = await losing(8);
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'truncated',
      rowsMissing: 8,
      reason: expect.stringContaining('8 rows newer than the cutoff are gone as well'),
    });
    expect(await stateOf(deployment)).toBe('idle');
  });

  test('between two nights are found before anything is started', async () => {
    const deployment = await started();
    await deployment.night();
    deployment.service.engine.removeRows('dataset.operation', ({ id }) => id % 3 !== 0);
    deployment.clock.time += 24 * hour;
    const entry = only(await deployment.night());
    expect(entry).toMatchObject({
      outcome: 'rows-missing',
      cause: { kind: 'missing', expected: 400, found: 133 },
    });
    expect(await stateOf(deployment)).toBe('quarantined');
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('are not hidden by new rows', async () => {
    const deployment = await losing(50);
    const { engine } = deployment.service;
    engine.schedule(deployment.clock.time + 16_000, () => {
      engine.addRows('dataset.operation', Array(500).fill(deployment.clock.time + 20_000));
    });
    expect(only(await deployment.night())).toMatchObject({ outcome: 'rows-missing', rowsMissing: 50 });
  });
});

describe('a truncation that nobody sees end', () => {
  const slow = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, batchSize: 10 }];

  test('stays unresolved, is watched by the next nights, and is closed after 20 h', async () => {
    const deployment = await started({ faults: ['gateway-timeout', 'abort-at=0.5'] });
    expect(only(await deployment.night())).toMatchObject({ outcome: 'unknown', cause: { kind: 'unsettled' } });
    expect(await stateOf(deployment)).toBe('sending');
    deployment.service.engine.set({ interceptions: [], abortAtShare: undefined });
    deployment.clock.time += 24 * hour;
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'unknown',
      adopted: true,
      cause: { kind: 'unsettled', closed: 'idle' },
    });
    expect(await stateOf(deployment)).toBe('idle');
    deployment.clock.time += 24 * hour;
    expect(only(await deployment.night()).outcome).toBe('truncated');
    expect(deployment.realTruncates()).toHaveLength(2);
  });

  test.each([
    ['a delete does not open the breaker', undefined, ['gateway-timeout', 'abort-at=0.5'], 'unknown', 'idle'],
    ['a copy opens the breaker', 'reindex', ['gateway-timeout', 'status-lost'], 'not-started', 'quarantined'],
  ])('when sent as %s, and its closing never does', async (_, sentAs, faults, other, closed) => {
    const names = ['operation', 'datasetProfile'];
    const policy = (aspect: string, strategy?: string) => ({
      entityType: 'dataset',
      aspect,
      retentionDays: 30,
      ...(strategy && { strategy }),
    });
    const deployment = await started({
      faults,
      indices: [anIndexOf(300, 400), anIndexOf(900, 400, 'datasetProfile')],
      policies: names.map((aspect) => policy(aspect, sentAs)),
    });
    expect(outcomesOf(await deployment.night())).toEqual({
      'dataset.operation': 'unknown',
      'dataset.datasetProfile': other,
    });
    deployment.service.engine.set({ interceptions: [], abortAtShare: undefined });
    deployment.policies = names.map((aspect) => policy(aspect));
    deployment.clock.time += 24 * hour;
    const report = await deployment.night();
    expect(report.policies.map(({ cause }) => cause.kind)).not.toContain('stopped');
    expect(await stateOf(deployment)).toBe(closed);
  });

  test('is quarantined if it was a reindex', async () => {
    const deployment = await started({ faults: ['gateway-timeout', 'status-lost'], policies: asReindex });
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'unknown',
      cause: { kind: 'unsettled', why: 'status', copied: true },
    });
    deployment.clock.time += 24 * hour;
    expect(only(await deployment.night())).toMatchObject({ outcome: 'unknown', cause: { closed: 'quarantined' } });
    expect(await stateOf(deployment)).toBe('quarantined');
  });

  test('is in-flight in a preview', async () => {
    const deployment = await started({ rowsPerSecond: 0.05, policies: slow });
    deployment.settings.maxRunHours = 1;
    expect(only(await deployment.night()).outcome).toBe('still-running');
    expect(only(await deployment.night({ mode: 'preview' })).outcome).toBe('in-flight');
    expect(await stateOf(deployment)).toBe('running');
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('is watched while the job is paused, and without its policy', async () => {
    const deployment = await started({ rowsPerSecond: 0.05, policies: slow });
    deployment.settings.maxRunHours = 1;
    await deployment.night();
    deployment.settings.maxRunHours = 12;
    deployment.policies = [{ entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 30, enabled: false }];
    deployment.services.parameters.paused = async () => true;
    const report = await deployment.night();
    const adopted = report.policies.find(({ aspect }) => aspect === 'operation');
    expect(adopted).toMatchObject({ outcome: 'truncated', adopted: true, rowsDeleted: 600 });
  });

  test('holds the others back while it moves', async () => {
    const deployment = await started({
      rowsPerSecond: 0.05,
      indices: [anIndexOf(600, 400), anIndexOf(20, 30, 'datasetProfile')],
      policies: slow,
    });
    deployment.settings.maxRunHours = 3;
    await deployment.night();
    deployment.policies.push({ entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 30 });
    deployment.settings.maxRunHours = 12;
    const report = await deployment.night();
    expect(outcomesOf(report)).toEqual({ 'dataset.operation': 'truncated', 'dataset.datasetProfile': 'truncated' });
    expect(report.noteFacts ?? []).toEqual([]);
  });

  test('does not hold the others up forever: they start alongside one that hangs, which is reported', async () => {
    const deployment = await started({
      rowsPerSecond: 0.01,
      indices: [anIndexOf(600, 400), anIndexOf(20, 30, 'datasetProfile')],
    });
    deployment.settings.maxRunHours = 1;
    // Its one batch takes 17 hours, in which nothing moves.
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'unknown',
      cause: { kind: 'unsettled', why: 'hung' },
    });
    deployment.policies.push({ entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 30 });
    deployment.settings.maxRunHours = 12;
    const report = await deployment.night();
    expect(report.policies.find(({ aspect }) => aspect === 'operation')).toMatchObject({
      outcome: 'unknown',
      cause: { kind: 'unsettled', why: 'hung' },
    });
    expect(deployment.realTruncates()).toHaveLength(2);
    expect(report.noteFacts).toContainEqual({ kind: 'started-beside', index: 'dataset.operation' });
  });
});

describe('rare combinations', () => {
  const day = 24 * hour;
  const started10 = (more: object = {}) => started({ faults: ['rows-per-second=20'], ...more });

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
          // Between Plan and Truncate rows come in.
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

  test('a policy that reindexes truncates every night, however young the index of its own last reindex is', async () => {
    const deployment = await started({ policies: asReindex });
    const { engine } = deployment.service;
    for (let night = 0; night < 3; night++) {
      expect(only(await deployment.night()).outcome).toBe('truncated');
      deployment.clock.time += day;
      engine.addRows('dataset.operation', Array(300).fill(deployment.clock.time - 40 * day));
    }
    expect(deployment.realTruncates()).toHaveLength(3);
    // Somebody else's copy is another matter, for 36 hours.
    engine.truncateByOthers('dataset.operation', {
      endTimeMillis: 0,
      forceReindex: true,
      batchSize: 10,
      timeoutSeconds: 300,
    });
    deployment.clock.time += day;
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'not-started',
      cause: { kind: 'guard', which: 'index-young' },
    });
    deployment.clock.time += day;
    expect(only(await deployment.night()).outcome).toBe('truncated');
  });

  test('a truncation of few rows that deleted none of them is not truncated', async () => {
    const deployment = await started({ indices: [anIndexOf(10, 20)], faults: ['bad-gateway=truncate'] });
    expect(only(await deployment.night())).toMatchObject({ outcome: 'failed', cause: { kind: 'unchanged' } });
  });

  test('rows that a refused truncate did not delete may be deleted by others without an alarm', async () => {
    const deployment = await started({ indices: [anIndexOf(900, 300)] });
    deployment.service.engine.onRequest = ({ body }) =>
      body.includes('"dryRun":false') ? { kind: 'fail-before', answer: { kind: 'status', status: 429 } } : undefined;
    expect(only(await deployment.night()).outcome).toBe('failed');
    deployment.service.engine.onRequest = undefined;
    deployment.service.engine.runGc(30);
    deployment.clock.time += day;
    expect(only(await deployment.night()).outcome).toBe('nothing-to-delete');
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

  test('an index that is gone under its truncation is reported as gone, and a person can clear it', async () => {
    const deployment = await started({ rowsPerSecond: 0.001 });
    deployment.settings.maxRunHours = 4;
    await deployment.night();
    deployment.service.engine.deleteIndex(deployment.service.engine.indices()[0]!.name);
    deployment.service.engine.restartNode();
    deployment.clock.time += 20 * hour;
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'rows-missing',
      rowsMissing: 400,
      cause: { kind: 'missing', indexGone: true },
    });
    expect(await stateOf(deployment)).toBe('quarantined');
    const refused = await deployment.night({ clear: ['dataset.operation'] });
    expect(refused).toMatchObject({
      result: 'attention',
      noteFacts: [{ kind: 'not-released', why: 'rows-missing', rowsMissing: 400 }],
    });
    expect(await stateOf(deployment)).toBe('quarantined');
    const released = await deployment.night({ clear: ['dataset.operation'], acceptMissing: 400 });
    expect(released).toMatchObject({ result: 'attention', noteFacts: [{ kind: 'released', rowsMissing: 400 }] });
    expect(await stateOf(deployment)).toBe('idle');
  });

  test('a killed run’s reservation does not prevent closing an index with missing rows', async () => {
    const deployment = await started10();
    await deployment.night();
    const record = (await deployment.ledger.read(anIndex)) as Idle;
    const attempt = anAttempt({ runId: 'killed', sendBy: deployment.clock.time });
    const left = reserve(record, record, 'left', attempt);
    await deployment.ledger.replace(record, left);
    deployment.service.engine.removeRows('dataset.operation', ({ id }) => id % 3 !== 0);
    deployment.clock.time += day;
    expect(only(await deployment.night()).outcome).toBe('rows-missing');
    expect(await stateOf(deployment)).toBe('quarantined');
  });

  test("a truncation of another run between this one's reading and counting is in flight, not rows missing", async () => {
    const deployment = await started();
    await deployment.night();
    deployment.clock.time += day;
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

  test('a preview that finds rows missing closes nothing', async () => {
    const deployment = await started();
    await deployment.night();
    deployment.service.engine.removeRows('dataset.operation', ({ id }) => id % 3 !== 0);
    deployment.clock.time += day;
    expect(only(await deployment.night({ mode: 'preview' })).outcome).toBe('rows-missing');
    expect(await stateOf(deployment)).toBe('idle');
    const { noteFacts } = await deployment.night({ clear: ['dataset.operation'], acceptMissing: 400 });
    expect(noteFacts).toMatchObject([{ kind: 'released', rowsMissing: 267 }]);
    expect(only(await deployment.night()).outcome).toBe('nothing-to-delete');
  });

  test('a token in the place of a policy is not printed', async () => {
    const deployment = await started();
    deployment.services.parameters.policies = async () => [
      { name: '/x/policies/dataset.operation', text: 'tok_8f3a9c2e7b1d4f60' },
    ];
    const report = await deployment.night();
    expect(report.policies[0]?.outcome).toBe('failed');
    expect(JSON.stringify([report, deployment.log, deployment.states])).not.toContain('tok_');
  });

  test('a 500 that mentions a reindex, after a dry run of a delete by query, is judged as a reindex', async () => {
    const deployment = await started({ faults: ['ignores-force-flags', 'reindex-fails=500'] });
    expect(only(await deployment.night()).outcome).toBe('rows-missing');
    const other = await started({ faults: ['denied=sizes'] });
    other.service.engine.onRequest = ({ body }) =>
      body.includes('"dryRun":false')
        ? {
            kind: 'fail-before',
            answer: { kind: 'status', status: 500, body: '{"message":"Async reindex failed","status":500}' },
          }
        : undefined;
    expect(only(await other.night())).toMatchObject({
      outcome: 'failed',
      strategy: 'unknown',
      cause: { kind: 'unchanged' },
    });
  });
});
