import { describe, expect, test } from 'vitest';
import type { SampleIndex } from '../../../../cli/operations-service/samples.ts';
import { biteTolerance, deadlineMarginMillis } from '../../../../lambda/facts/limits.ts';
import { plan } from '../../../../lambda/run/plan/plan.ts';
import { deployments, firstNight, only } from '../../../support/deployment.ts';
import { anIndex } from '../../../support/records.ts';

/** A large backlog: an index that is truncated in bites, night after night. */

const started = deployments();
const day = 86_400_000;
const cutoff = firstNight - 30 * day;
const fresh = (count: number) => Array.from({ length: count }, (_, at) => firstNight - ((at + 1) * 19 * day) / count);
const indexOf = (old: number[], stay = 2000): SampleIndex => ({
  entityType: 'dataset',
  aspect: 'operation',
  timestamps: [...old, ...fresh(stay)],
});
const policy = {
  entityType: 'dataset',
  aspect: 'operation',
  retentionDays: 30,
  minDeletePercent: 0,
  maxRowsPerRun: 1000,
};

const evenly = Array.from({ length: 10_000 }, (_, at) => cutoff - Math.floor(((at + 0.5) * 500 * day) / 10_000));
const atMidnight = Array.from(
  { length: 10_000 },
  (_, at) => Math.floor((cutoff - Math.floor(at / 50) * day) / day) * day,
);
const inBursts = Array.from({ length: 10_000 }, (_, at) => cutoff - ((at % 37) ** 2 * day) / 2 - (at % 3600) * 1000);

describe('ten nights of a bite each', () => {
  test.each([
    ['evenly stamped', evenly],
    ['stamped at midnight', atMidnight],
    ['in bursts', inBursts],
  ])('%s: never more than the tolerance above a bite, always the oldest first', async (kind, old) => {
    const deployment = await started({ indices: [indexOf(old)], policies: [policy] });
    const gone: number[] = [];
    for (let night = 0; night < 10; night++) {
      const asked = deployment.service.engine.asked.length;
      const entry = only(await deployment.night({}, `night-${night}`));
      expect([kind, night, entry.outcome]).toEqual([kind, night, 'truncated']);
      expect(entry.rowsDeleted).toBeLessThanOrEqual(1000 * (1 + biteTolerance));
      expect(entry.cutoffMillis).toBeLessThanOrEqual(Date.parse(entry.cutoff!) + 1);
      if (entry.policyCutoffMillis !== undefined) expect(entry.cutoffMillis).toBeLessThan(entry.policyCutoffMillis);
      gone.push(entry.rowsDeleted!);
      const dryRuns = deployment.service.engine.asked
        .slice(asked)
        .filter(({ body }) => (body as { dryRun?: boolean })?.dryRun);
      expect(dryRuns.length).toBeLessThanOrEqual(1 + 16 + 4 + 12);
      deployment.clock.time += 1000;
    }
    const sum = gone.reduce((total, rows) => total + rows, 0);
    expect(sum).toBeGreaterThanOrEqual(kind === 'in bursts' ? 5000 : 9990);
    if (kind === 'evenly stamped') {
      expect(sum).toBe(10_000);
      expect(only(await deployment.night()).outcome).toBe('nothing-to-delete');
    }
  });

  test('reports what is left, and for how many nights', async () => {
    const { night } = await started({ indices: [indexOf(evenly)], policies: [policy] });
    expect(only(await night())).toMatchObject({
      rowsToDelete: 1000,
      rowsPastRetention: 10_000,
      cause: { kind: 'verified', rest: 9000, nights: 9 },
    });
  });

  test('works with a forecast of more nights than a number can hold', async () => {
    const { night, nights } = await started({
      indices: [indexOf(evenly)],
      policies: [{ ...policy, maxRowsPerRun: 1440 }],
    });
    // One row a minute becomes due, and a night deletes that many, apart from rounding errors.
    const minutes = 2882;
    const before = (minute: number) => new Date(firstNight - (minutes + 60 - minute) * 60_000).toISOString();
    const write = (minute: number, overdue: number) =>
      nights.write({ index: anIndex, night: before(minute), rows: 12_000, overdue });
    await Promise.all([write(0, 10_000 - minutes), write(60, 10_000 - minutes), write(minutes, 10_000)]);
    const entry = only(await night());
    expect(entry).toMatchObject({ outcome: 'truncated', rowsDeleted: 1440, cause: { rest: 8560 } });
    expect(entry.cause).not.toHaveProperty('nights');
  });

  test('stops at the threshold, and the forecast counts nights until then', async () => {
    const { night, clock } = await started({
      indices: [indexOf(evenly)],
      policies: [{ ...policy, minDeletePercent: 50, maxRowsPerRun: 4500 }],
    });
    expect(only(await night())).toMatchObject({ outcome: 'truncated', cause: { rest: 5500, nights: 1 } });
    clock.time += 1000;
    expect(only(await night())).toMatchObject({ outcome: 'truncated', cause: { rest: 1000 } });
    clock.time += 1000;
    expect(only(await night())).toMatchObject({ outcome: 'below-threshold', rowsToDelete: 1000 });
  });
});

describe('a policy with a bite', () => {
  test('has threshold and ceiling compared with all old rows, not only its own', async () => {
    const { night } = await started({
      indices: [indexOf(evenly)],
      policies: [{ ...policy, minDeletePercent: 50, maxDeletePercent: 60 }],
    });
    expect(only(await night())).toMatchObject({
      outcome: 'above-ceiling',
      rowsToDelete: 10_000,
      cause: { approveRows: 10_500 },
    });
  });

  test('whose oldest hour alone has more rows is blocked until that number is approved', async () => {
    const old = [...Array(3000).fill(cutoff - 300.4 * day), ...evenly.filter((at) => at > cutoff - 200 * day)];
    const { night, realTruncates } = await started({ indices: [indexOf(old)], policies: [policy] });
    const blocked = only(await night());
    expect(blocked).toMatchObject({
      outcome: 'above-ceiling',
      rowsToDelete: 3000,
      rowsPastRetention: old.length,
      cutoffMillis: expect.any(Number),
      policyCutoffMillis: cutoff,
      cause: { kind: 'above-ceiling', bite: 1000, approveRows: 3150 },
    });
    expect(blocked.reason).toMatch(/^the oldest hour alone holds 3,000 rows older than 30 days, more than the 1,000/);
    const { approveRows } = blocked.cause as { approveRows: number };
    expect(realTruncates()).toEqual([]);
    const approved = only(await night({ only: ['dataset.operation'], approveRows }));
    expect(approved.outcome).toBe('truncated');
    expect(approved.rowsDeleted).toBeGreaterThanOrEqual(3000);
    expect(approved.rowsDeleted).toBeLessThanOrEqual(approveRows);
  });

  test.each([
    [1, 'enforce'],
    [2, 'enforce'],
    [3, 'enforce'],
    [3, 'preview'],
  ])(
    'without time after %i dry runs is not reported as too large, and asks for no approval (%s)',
    async (dryRuns, mode) => {
      const { night, services, clock, realTruncates } = await started({
        indices: [indexOf(evenly)],
        policies: [policy],
      });
      const { operations } = services;
      let asked = 0;
      services.operations = {
        ...operations,
        async dryRun(...call) {
          if (++asked === dryRuns) clock.time += 872_000;
          return operations.dryRun(...call);
        },
      };
      const entry = only(await night({ mode }));
      expect(entry).toMatchObject({ outcome: 'not-started', cause: { kind: 'stopped', by: 'plan-time' } });
      expect(entry.reason).toMatch(/Plan ran out of time while sizing the bite/);
      expect(entry.reason).not.toContain('approve');
      expect(realTruncates()).toEqual([]);
    },
  );

  test('takes the best so far where Plan’s time ends in the middle of a dry run', async () => {
    const deployment = await started({ indices: [indexOf(evenly)], policies: [policy] });
    const { operations } = deployment.services;
    let best = 0;
    deployment.services.operations = {
      ...operations,
      async dryRun(fields, options) {
        if (best > 0) await new Promise((resolve) => options?.signal?.addEventListener('abort', resolve));
        const dryRun = await operations.dryRun(fields, options);
        if (dryRun.rowsToDelete > 0 && dryRun.rowsToDelete <= 1000) best = dryRun.rowsToDelete;
        return dryRun;
      },
    };
    const deadline = firstNight + deadlineMarginMillis + 300;
    const execution = { name: 'run-1', startTime: new Date(firstNight).toISOString() };
    const { entries } = await plan(
      { input: {}, execution },
      { ...deployment.during('plan'), deadline: () => deadline },
    );
    expect(best).toBeGreaterThan(0);
    expect(entries).toMatchObject([{ phase: 'approved', plan: { bite: { rows: best } } }]);
  });

  test('in a preview reports how many rows one run would delete, and how many nights all of them take', async () => {
    const { night } = await started({ indices: [indexOf(evenly)], policies: [policy] });
    expect(only(await night({ mode: 'preview' }))).toMatchObject({
      outcome: 'would-truncate',
      rowsToDelete: 1000,
      rowsPastRetention: 10_000,
      cause: { kind: 'due', bite: 1000, nights: 10 },
    });
  });

  test('uses the stage’s bite if it has none', async () => {
    const { maxRowsPerRun: _, ...without } = policy;
    const { night } = await started({
      indices: [indexOf(evenly)],
      policies: [without],
      settings: { maxRowsPerRun: 2000 },
    });
    expect(only(await night())).toMatchObject({ outcome: 'truncated', rowsDeleted: 2000 });
  });

  test('is refused if the server would reindex even a bite', async () => {
    const { night, realTruncates } = await started({
      indices: [indexOf(evenly)],
      policies: [policy],
      faults: ['ignores-force-flags'],
    });
    expect(only(await night())).toMatchObject({ outcome: 'failed', cause: { kind: 'guard', which: 'bite-reindex' } });
    expect(realTruncates()).toEqual([]);
  });

  test('is followed on a server that deletes in place as long as less than half would go', async () => {
    const deployment = await started({ indices: [indexOf(evenly)], policies: [policy], profile: '0.13.2-1.1' });
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'truncated',
      strategy: 'delete-by-query',
      rowsDeleted: 1000,
    });
  });

  test('does not start if more than the tolerance above the bite has aged past the cutoff since Plan', async () => {
    const deployment = await started({ indices: [indexOf(evenly)], policies: [policy] });
    const { operations } = deployment.services;
    deployment.services.operations = {
      ...operations,
      async indexSizes(options) {
        if (deployment.states.length === 1)
          deployment.service.engine.addRows('dataset.operation', Array(1000 * biteTolerance + 10).fill(1_000_000));
        return operations.indexSizes(options);
      },
    };
    expect(only(await deployment.night())).toMatchObject({
      outcome: 'not-started',
      cause: { kind: 'changed', what: 'rows' },
    });
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('loses no young row unseen, although the backlog is large', async () => {
    const deployment = await started({ indices: [indexOf(evenly)], policies: [policy], rowsPerSecond: 20 });
    const { engine } = deployment.service;
    engine.schedule(deployment.clock.time + 15_000, () => {
      let left = 100;
      engine.removeRows('dataset.operation', ({ timestamp }) => timestamp > cutoff && left-- > 0);
    });
    expect(only(await deployment.night())).toMatchObject({ outcome: 'rows-missing', rowsMissing: 100 });
  });

  test('is settled in the same night after a 400: every look counts backlog and young rows as kept', async () => {
    const deployment = await started({ indices: [indexOf(evenly)], policies: [policy] });
    const { engine } = deployment.service;
    const answer = { kind: 'status', status: 400, body: '{"message":"Async reindex failed","status":400}' } as const;
    engine.onRequest = ({ body }) => (body.includes('"dryRun":false') ? { kind: 'fail-before', answer } : undefined);
    expect(only(await deployment.night())).toMatchObject({ outcome: 'failed', cause: { kind: 'unchanged' } });
    engine.onRequest = undefined;
    deployment.clock.time += 1000;
    expect(only(await deployment.night())).toMatchObject({ outcome: 'truncated', rowsDeleted: 1000 });
  });
});
