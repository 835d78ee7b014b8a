import { describe, expect, test } from 'vitest';
import { reportSchema } from '../../../lambda/facts/report-schema.ts';
import type { LedgerRecord } from '../../../lambda/ledger/record.ts';
import { anIndexOf, deployments, only, outcomesOf } from '../../support/deployment.ts';
import { anIndex } from '../../support/records.ts';

/** Whole runs: the workflow file, the steps, real HTTP to the embedded service, virtual time. */

const deployed = deployments();
const started: typeof deployed = (options) => deployed({ overHttp: true, ...options });
const hour = 3_600_000;

describe('a night without faults', () => {
  test('truncates, verifies by counting and reports the figures', async () => {
    const { night, service, realTruncates, ledger } = await started();
    const report = await night();
    expect(reportSchema.parse(report)).toEqual(report);
    expect(report.result).toBe('ok');
    expect(only(report)).toMatchObject({
      outcome: 'truncated',
      strategy: 'delete-by-query',
      rowsTotal: 1000,
      rowsToDelete: 600,
      percent: 60,
      rowsDeleted: 600,
      rowsRemaining: 0,
      retentionDays: 30,
    });
    expect(only(report).cutoffMillis).toBe(Date.parse(report.startedAt) - 30 * 24 * hour);
    expect(realTruncates()).toHaveLength(1);
    expect(service.engine.rows('dataset.operation').length).toBe(400);
    expect(await ledger.read(anIndex)).toMatchObject({ state: 'idle', lastVerdict: { window: { rows: 400 } } });
  });

  test('sends fifteen requests in all', async () => {
    const { night, service, clock } = await started();
    await night();
    clock.time += 24 * hour;
    service.engine.addRows('dataset.operation', Array(400).fill(clock.time - 40 * 24 * hour));
    const before = service.engine.asked.length;
    expect(only(await night())).toMatchObject({ outcome: 'truncated', rowsDeleted: 400 });
    // Plan: sizes, its dry run, the last verdict's window (2). Truncate: sizes, cutoff, start, cutoff, the call. Poll: the
    // status, cutoff, start, cutoff, sizes, and the window for the next nights. A later end takes a status for each look.
    expect(service.engine.asked.slice(before)).toHaveLength(15);
  });

  test('sends the fields of the dry run, and that dry run just before', async () => {
    const { night, service } = await started();
    await night();
    const bodies = service.engine.asked
      .filter(({ action }) => action === 'truncateTimeseriesAspect')
      .map(({ body }) => body as Record<string, unknown>);
    const at = bodies.findIndex(({ dryRun }) => dryRun === false);
    expect({ ...bodies[at], dryRun: true }).toEqual(bodies[at - 1]);
    expect(bodies[at]).toMatchObject({ forceDeleteByQuery: true, batchSize: 10_000 });
    expect(bodies[at]).not.toHaveProperty('timeoutSeconds');
    expect(bodies[at]).not.toHaveProperty('forceReindex');
  });

  test('a reindex sends forceReindex and a time-out, and is verified by its kept rows', async () => {
    const policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, strategy: 'reindex' }];
    const { night, realTruncates } = await started({ policies });
    const report = await night();
    expect(only(report)).toMatchObject({ outcome: 'truncated', strategy: 'reindex', rowsDeleted: 600 });
    const [{ body }] = realTruncates() as [{ body: Record<string, unknown> }];
    expect(body).toMatchObject({ forceReindex: true, timeoutSeconds: 300 });
    expect(body).not.toHaveProperty('forceDeleteByQuery');
  });

  test('a server that reindexes anyway is given a time-out', async () => {
    const { night, realTruncates } = await started({ faults: ['ignores-force-flags'] });
    expect(only(await night())).toMatchObject({ outcome: 'truncated', strategy: 'reindex' });
    expect((realTruncates() as [{ body: unknown }])[0].body).toMatchObject({
      timeoutSeconds: 300,
      forceDeleteByQuery: true,
    });
  });
});

describe('a preview', () => {
  test('sends only dry runs, and does not change the ledger', async () => {
    const { night, realTruncates, ledger } = await started({ settings: { mode: 'preview' } });
    const report = await night();
    expect(report.mode).toBe('preview');
    expect(only(report)).toMatchObject({ outcome: 'would-truncate', rowsToDelete: 600 });
    expect(realTruncates()).toEqual([]);
    expect(ledger.stored.size).toBe(0);
  });

  test('started by hand is a preview even in a stage that enforces', async () => {
    const { night, realTruncates } = await started();
    expect(only(await night({ mode: 'preview' })).outcome).toBe('would-truncate');
    expect(realTruncates()).toEqual([]);
  });
});

describe('a manual execution', () => {
  const two = [
    { entityType: 'dataset', aspect: 'operation', retentionDays: 30 },
    { entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 30 },
  ];
  const indices = () => [anIndexOf(600, 400), anIndexOf(700, 0, 'datasetProfile')];

  test('"only" leaves the other policies out, in any case', async () => {
    const { night } = await started({ policies: two, indices: indices() });
    expect(outcomesOf(await night({ only: ['DATASET.Operation'] }))).toEqual({ 'dataset.operation': 'truncated' });
  });

  test('"approveRows" lets one policy pass its ceiling, the default one too', async () => {
    const { night } = await started({ policies: two, indices: indices() });
    const blocked = (await night()).policies.find(({ aspect }) => aspect === 'datasetProfile')!;
    expect(blocked.outcome).toBe('above-ceiling');
    const pasted = JSON.parse(/\{.*\}/.exec(blocked.reason)![0]);
    expect(outcomesOf(await night(pasted))).toEqual({ 'dataset.datasetProfile': 'truncated' });
  });

  test('"approveRows" is checked again by Truncate', async () => {
    const deployment = await started({ policies: two, indices: indices() });
    const { service, clock } = deployment;
    const { operations } = deployment.services;
    deployment.services = {
      ...deployment.services,
      operations: {
        ...operations,
        async indexSizes(options) {
          // Between Plan and Truncate, more rows become due than were approved.
          if (deployment.states.length === 1)
            service.engine.addRows('dataset.datasetProfile', Array(5).fill(clock.time - 80 * 24 * hour));
          return operations.indexSizes(options);
        },
      },
    };
    const report = await deployment.night({ only: ['dataset.datasetProfile'], approveRows: 700 });
    expect(only(report).outcome).toBe('above-ceiling');
    expect(deployment.realTruncates()).toEqual([]);
  });
});

describe('before anything is started', () => {
  test('a pause that cannot be read counts as one', async () => {
    const deployment = await started();
    deployment.services.parameters.paused = async () => {
      throw new Error('SSM cannot be reached');
    };
    expect(only(await deployment.night()).outcome).toBe('not-started');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('a pause between Plan and Truncate stops Truncate', async () => {
    const deployment = await started();
    let asked = 0;
    deployment.services.parameters.paused = async () => ++asked > 1;
    expect(only(await deployment.night()).outcome).toBe('not-started');
    expect(deployment.realTruncates()).toEqual([]);
    expect(await deployment.ledger.read(anIndex)).toMatchObject({ state: 'idle' });
  });

  test('a policy that cannot be read does not affect the others', async () => {
    const { night } = await started({
      policies: [
        { entityType: 'dataset', aspect: 'operation', retentionDays: 30 },
        { entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 3 },
      ],
    });
    const report = await night();
    expect(outcomesOf(report)).toEqual({ 'dataset.operation': 'truncated', 'dataset.datasetProfile': 'failed' });
    expect(report.result).toBe('failed');
  });

  test('an unreadable ledger record blocks its index', async () => {
    const deployment = await started();
    deployment.ledger.stored.set(anIndex, 'damaged');
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'in-flight',
      cause: { kind: 'foreign', why: 'version' },
    });
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('a watched record that another version takes over is left to that version', async () => {
    const deployment = await started({ rowsPerSecond: 1 });
    const { ledger, clock } = deployment;
    const takesOver = async () => {
      const record = (await ledger.read(anIndex)) as LedgerRecord;
      ledger.stored.set(anIndex, { ...record, version: 9 });
    };
    deployment.service.engine.schedule(clock.time + 60_000, () => void takesOver());
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'in-flight',
      cause: { kind: 'foreign', why: 'version', version: 9 },
    });
    expect(deployment.realTruncates()).toHaveLength(1);
  });
});
