import { describe, expect, test } from 'vitest';
import { specified } from '../../operations-service/simulation/behaviour.ts';
import { sampleIndices, timestampsOf } from '../../../cli/operations-service/samples.ts';
import samplePolicies from '../../../cli/sample-policies.json' with { type: 'json' };
import type { Strategy } from '../../../lambda/facts/strategy.ts';
import { decide } from '../../../lambda/policy/decision.ts';
import { policySchema } from '../../../lambda/policy/schema.ts';
import { createEngine } from '../../operations-service/engine.ts';
import { type Fault, faults, faultUsage, parseFault } from '../../operations-service/faults.ts';
import { profileNamed, profileNames, profiles } from '../../operations-service/profiles.ts';
import { day, serve, start } from './service.ts';

/** A value that a fault takes. */
const example = ({ value }: Fault): string => {
  if (value === undefined || value.startsWith('[')) return '';
  return `=${{ SHARE: '0.25', SECONDS: '90', MILLIS: '5', N: '12' }[value] ?? value.split('|').at(-1)}`;
};

describe('faults', () => {
  test.each(faults.map((fault) => [faultUsage(fault), fault] as const))('%s changes the behaviour', (_, fault) => {
    const before = { ...specified, mergeSeconds: 600, statusForm: 'object' as const, deniedStatus: 401 as const };
    expect({ ...before, ...parseFault(`${fault.name}${example(fault)}`, before) }).not.toEqual(before);
  });

  test.each([
    ['abortat=0.5', 'There is no fault abortat: did you mean abort-at?'],
    ['abort-at', 'Fault abort-at takes a number from 0 to 1, as abort-at=SHARE (got nothing)'],
    ['abort-at=2', 'Fault abort-at takes a number from 0 to 1, as abort-at=SHARE (got 2)'],
    ['delay=-1', 'Fault delay takes a number of at least 0, as delay=MILLIS (got -1)'],
    ['delay=', 'Fault delay takes a number of at least 0, as delay=MILLIS (got )'],
    ['comma=1', 'Fault comma takes no value (got 1)'],
    ['reindex-fails=404', 'Fault reindex-fails takes one of 400, 500 (got 404)'],
    ['reset=some', 'Fault reset takes one of all, truncate, dry-run, status, sizes (got some)'],
    ['denied=all', 'Fault denied takes one of truncate, status, sizes (got all)'],
    ['throttled=soon', 'Fault throttled takes a number of at least 0, as throttled=SECONDS (got soon)'],
  ])('%s is refused: %s', (text, message) => {
    expect(() => parseFault(text, specified)).toThrow(expect.objectContaining({ name: 'FaultError', message }));
  });

  test.each([
    ['truncate', [200, 502, 200, 200]],
    ['dry-run', [502, 200, 200, 200]],
    ['status', [200, 200, 502, 200]],
    ['sizes', [200, 200, 200, 502]],
    ['all', [502, 502, 502, 502]],
  ])('bad-gateway=%s concerns these requests only', async (scope, expected) => {
    const service = await serve({ faults: [`bad-gateway=${scope}`] });
    const statuses = [
      await service.truncate(),
      await service.truncate({ dryRun: false, forceDeleteByQuery: true }),
      await service.post('getEsTaskStatus', { task: 'n:1' }),
      await service.post('getIndexSizes', ''),
    ].map(({ status }) => status);
    expect(statuses).toEqual(expected);
  });

  test('a fault can be switched on and off while the service runs', async () => {
    const service = await serve();
    service.engine.fault('sentence=reworded');
    expect((await service.truncate()).json.value).toBe(
      'Would remove 700 of 1000 documents [70.00 percent]. Nothing was changed.',
    );
    service.engine.set({ sentence: 'usual' });
    expect((await service.truncate()).json.value).toContain('Delete 700 out of 1000 rows');
  });

  test('old texts: a percentage without its factor, two counts that race, a sentence for a task id', async () => {
    const service = await serve({ faults: ['sentence=unscaled-percent'] });
    expect((await service.truncate()).json.value).toContain('(0.70%)');
    service.engine.fault('sentence=racing-counts');
    expect((await service.truncate()).json.value).toContain('Delete 700 out of 0 rows (Infinity%)');
    service.engine.fault('task-id=sentence');
    expect((await service.truncate({ dryRun: false })).json.value).toBe('Reindex dataset operation index');
  });

  test('answers can be slow, statuses unwrapped, records forgotten', async () => {
    const service = await serve({ faults: ['delay=20', 'status-unwrapped'] });
    const before = performance.now();
    const task = await service.startDelete();
    expect(performance.now() - before).toBeGreaterThan(15);
    expect((await service.post('getEsTaskStatus', { task })).json.taskId).toBe(task);
    service.engine.fault('forgets-ended-tasks');
    service.pass(60_000);
    expect((await service.post('getEsTaskStatus', { task })).json).toEqual({
      error: `Could not get task status for ${task}`,
    });
  });

  test('cancel-at and fails-at-first-search end tasks, completed', async () => {
    const service = await serve({ faults: ['cancel-at=0.5'] });
    const cancelled = await service.startDelete();
    service.pass(60_000);
    expect(await service.status(cancelled)).toMatchObject({
      completed: true,
      status: { deleted: 350, canceled: 'by user request' },
    });
    service.engine.fault('fails-at-first-search');
    const failed = await service.startDelete();
    expect(await service.status(failed)).toMatchObject({ completed: true, status: { total: 0, batches: 0 } });
  });
});

describe('profiles', () => {
  test('each has a name, a sentence and a behaviour of its own', () => {
    expect(profiles.map(({ name }) => name)).toEqual([...profileNames]);
    expect(new Set(profiles.map(({ summary }) => summary)).size).toBe(profiles.length);
    expect(new Set(profiles.map(({ behaviour }) => JSON.stringify(behaviour))).size).toBe(profiles.length);
  });

  test('an unknown one is refused by name', () => {
    expect(() => profileNamed('1.5')).toThrow(/^unknown profile 1\.5; known are specification, /);
  });

  test.each(profileNames)('under %s a forced delete with a batch size removes what it should', async (profile) => {
    const service = await serve({ profile });
    await service.startDelete();
    service.pass(day);
    service.engine.refresh();
    const rows = service.engine.rows('dataset.operation');
    expect(rows).toHaveLength(300);
    expect(rows.every(({ timestamp }) => timestamp > start - 30 * day)).toBe(true);
  });

  test('0.10.5 does not know the force flags, not even as a conflict', async () => {
    const service = await serve({ profile: '0.10.5' });
    const { json } = await service.truncate({ forceDeleteByQuery: true, forceReindex: true });
    expect(json.value).toContain('Reindexing the aspect');
  });
});

describe('samples', () => {
  test('together they hold some hundred thousand rows, in the proportions asked for', () => {
    const rows = (largest?: number) =>
      sampleIndices(largest).reduce((sum, sample) => sum + ('rows' in sample ? sample.rows : 0), 0);
    expect(rows()).toBe(457_800);
    expect(rows(22_000)).toBe(45_780);
  });

  test.each(sampleIndices())('$aspect: all of it goes with batch size 1000 within 20 seconds', (sample) => {
    let now = start;
    const engine = createEngine({ clock: { now: () => now }, indices: [sample] });
    engine.truncateByOthers(`${sample.entityType}.${sample.aspect}`, {
      endTimeMillis: start,
      batchSize: 1000,
      forceDeleteByQuery: true,
    });
    now += 20_000;
    expect(engine.tasks()).toMatchObject([{ state: 'completed' }]);
    expect(engine.indices()).toMatchObject([{ rows: 0 }]);
  });

  test('the timestamps are spread from the oldest age to now', () => {
    const timestamps = [...timestampsOf({ entityType: 'dataset', aspect: 'operation', rows: 100, days: 50 }, 1, start)];
    expect(timestamps).toHaveLength(100);
    expect(timestamps.every((timestamp, row) => row === 0 || timestamp >= timestamps[row - 1]!)).toBe(true);
    expect((start - timestamps[0]!) / day).toBeGreaterThan(49);
    expect(timestamps.at(-1)).toBeLessThanOrEqual(start);
  });

  test('the sample policies are valid, name sample indices and differ in what they lead to', () => {
    const engine = createEngine({ clock: { now: () => start } });
    const decisions = samplePolicies.map((given) => {
      const policy = policySchema(7).parse(given);
      if (!policy.enabled) return 'disabled';
      const rows = engine.rows(`${policy.entityType}.${policy.aspect}`);
      const cutoffMillis = start - policy.retentionDays * day;
      const rowsToDelete = rows.filter(({ timestamp }) => timestamp <= cutoffMillis).length;
      const dryRun = { rowsToDelete, rowsTotal: rows.length, strategy: policy.strategy as Strategy };
      const times = { cutoffMillis, startMillis: start, now: start, minRetentionDays: 7 };
      const decision = decide(policy, { dryRun, ...times });
      return decision.kind === 'approve' ? decision.strategy : decision.outcome;
    });
    expect(decisions).toEqual([
      'delete-by-query',
      'delete-by-query',
      'below-threshold',
      'delete-by-query',
      'delete-by-query',
      'nothing-to-delete',
      'nothing-to-delete',
      'disabled',
    ]);
  });

  test('the largest truncation of the sample policies takes long enough to be watched', () => {
    let now = start;
    const engine = createEngine({ clock: { now: () => now } });
    engine.truncateByOthers('dataset.datasetUsageStatistics', {
      endTimeMillis: start - 90 * day,
      batchSize: samplePolicies[0]?.batchSize,
      forceDeleteByQuery: true,
    });
    now += 6000;
    expect(engine.tasks()).toMatchObject([{ state: 'running' }]);
    now += 4000;
    expect(engine.tasks()).toMatchObject([{ state: 'completed' }]);
  });
});
