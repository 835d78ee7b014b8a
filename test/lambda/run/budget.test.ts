import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import workflow from '../../../infra/retention-workflow.asl.json' with { type: 'json' };
import { maxHistoryEvents, maxStateBytes } from '../../../lambda/facts/limits.ts';
import { type Outcome, outcomes } from '../../../lambda/facts/outcome.ts';
import { checkNames, type Report } from '../../../lambda/facts/report-schema.ts';
import {
  bytesOf,
  historyBudget,
  historyIsSpent,
  historyUsed,
  shortenToFit,
  type WorkflowDefinition,
} from '../../../lambda/run/budget.ts';
import type { Entry, RunState } from '../../../lambda/run/state.ts';
import { executeWorkflow } from '../../../local/workflow.ts';
import { anIndexOf, type Deployment, deploy, outcomesOf } from '../../support/deployment.ts';
import { aPolicy } from '../../support/policies.ts';

/** The deployed definition, changed. */
function definition(change: (states: Record<string, Record<string, unknown>>) => void): WorkflowDefinition {
  const copy = structuredClone(workflow) as unknown as WorkflowDefinition;
  change(copy.States as unknown as Record<string, Record<string, unknown>>);
  return copy;
}

describe('the history budget', () => {
  it('is counted from the workflow file', () => {
    const { truncateTurn, pollTurn } = historyBudget();
    // A Task makes five events (entered, scheduled, started, succeeded, exited), Wait and Choice make two each.
    expect({ truncateTurn, pollTurn }).toEqual({ truncateTurn: 5 + 2, pollTurn: 2 + 5 + 2 });
  });

  it('grows with a state that comes into the loop', () => {
    const longer = definition((states) => {
      states['Wait']!['Next'] = 'Breathe';
      states['Breathe'] = { Type: 'Pass', Next: 'Poll' };
    });
    expect(historyBudget(longer).pollTurn).toBe(historyBudget().pollTurn + 2);
    expect(historyBudget(longer).truncateTurn).toBe(historyBudget().truncateTurn);
  });

  it('follows states that are renamed', () => {
    const renamed = JSON.parse(
      JSON.stringify(workflow).replaceAll('"NextStep"', '"Decide"').replaceAll('"Poll"', '"Look"'),
    ) as WorkflowDefinition;
    expect(historyBudget(renamed)).toEqual(historyBudget());
  });

  it('takes the costlier of two ways', () => {
    const longer = definition((states) => {
      states['TruncateFailed']!['Next'] = 'Think';
      states['Think'] = { Type: 'Task', Next: 'Wait' };
    });
    expect(historyBudget(longer).truncateTurn).toBe(5 + 2 + 5);
  });

  it('keeps room for more retries where Poll is retried more often', () => {
    const patient = definition((states) => {
      states['Poll']!['Retry'] = [{ ErrorEquals: ['States.ALL'], MaxAttempts: 20 }];
    });
    expect(historyBudget(patient).reserve).toBeGreaterThan(historyBudget().reserve);
    const unretried = definition((states) => delete states['Poll']!['Retry']);
    expect(historyBudget(unretried).reserve).toBe(0);
  });

  it('counts three retries where the file does not say how many', () => {
    const unsaid = definition((states) => {
      states['Report']!['Retry'] = [{ ErrorEquals: ['States.ALL'] }];
    });
    const said = definition((states) => {
      states['Report']!['Retry'] = [{ ErrorEquals: ['States.ALL'], MaxAttempts: 3 }];
    });
    expect(historyBudget(unsaid)).toEqual(historyBudget(said));
  });

  it('refuses a workflow whose events it cannot count', () => {
    const mapped = definition((states) => {
      states['Wait']!['Type'] = 'Map';
    });
    expect(() => historyBudget(mapped)).toThrow('a Map state');
    const loopless = definition((states) => {
      states['NextStep']!['Choices'] = [];
    });
    expect(() => historyBudget(loopless)).toThrow('no Choice that truncates or waits');
  });

  it('is spent earlier when a turn costs more', () => {
    const state = { turns: { truncate: 50, poll: 2200 } };
    const longer = definition((states) => {
      states['Wait']!['Next'] = 'Breathe';
      states['Breathe'] = { Type: 'Pass', Next: 'Poll' };
    });
    expect(historyIsSpent(state)).toBe(false);
    expect(historyIsSpent(state, historyBudget(longer))).toBe(true);
  });

  it('never lets a run start a turn that could go beyond the limit', () => {
    const { truncateTurn, pollTurn, reserve } = historyBudget();
    fc.assert(
      fc.property(fc.nat(400), fc.nat(4000), (truncate, poll) => {
        fc.pre(!historyIsSpent({ turns: { truncate, poll } }));
        const next = historyUsed({ turns: { truncate: truncate + 1, poll: poll + 1 } });
        expect(next + pollTurn + reserve).toBeLessThanOrEqual(maxHistoryEvents);
        expect(next).toBe(historyUsed({ turns: { truncate, poll } }) + truncateTurn + pollTurn);
      }),
    );
  });
});

describe('a run that comes to the end of its history', () => {
  let deployed: Deployment | undefined;
  afterEach(async () => {
    await deployed?.close();
    deployed = undefined;
  });

  const aspects = ['operation', 'datasetProfile'] as const;
  const { fixed, pollTurn, reserve } = historyBudget();
  const turnsBefore = Math.floor((maxHistoryEvents - reserve - fixed) / pollTurn) - 2;

  it('ends in a report: what runs is still-running, what waits is not started', async () => {
    deployed = await deploy({
      indices: aspects.map((aspect, at) => anIndexOf(600 + at, 400, aspect)),
      policies: aspects.map((aspect) => ({ entityType: 'dataset', aspect, retentionDays: 30, batchSize: 10 })),
    });
    deployed.service.engine.set({ rowsPerSecond: 0.1 });
    const { clock, services } = deployed;
    const published: Report[] = [];
    const steps: string[] = [];
    await executeWorkflow({
      services,
      publisher: {
        async publish(report) {
          published.push(report);
        },
      },
      input: {},
      execution: { name: 'long', startTime: new Date(clock.time).toISOString() },
      onState(step, state) {
        steps.push(step);
        // As if it had turned many times before: what a step returns travels on.
        if (step === 'truncate') state.turns.poll = turnsBefore;
      },
      fast: {
        maxWaitMillis: 0,
        skipped: (millis) => {
          clock.time += millis;
        },
      },
    });
    expect(steps).toEqual(['plan', 'truncate', 'poll']);
    const [report] = published;
    expect(report).toMatchObject({ result: 'attention' });
    expect(outcomesOf(report!)).toEqual({
      'dataset.operation': 'still-running',
      'dataset.datasetProfile': 'not-started',
    });
    expect(report!.policies.map(({ reason }) => reason).join()).toContain('history budget was spent');
    expect(deployed.realTruncates()).toHaveLength(1);
  });

  it('has counted the Truncate that failed, although that returned no state', async () => {
    deployed = await deploy();
    const { newId } = deployed.services;
    let calls = 0;
    deployed.services.newId = () => {
      if (++calls === 1) throw new Error('no more ids');
      return newId();
    };
    await deployed.night();
    expect(deployed.states.at(-1)!.turns).toEqual({ truncate: 1, poll: 1 });
  });

  it('leaves the truncation in the ledger, so that the next run sees its end', async () => {
    deployed = await deploy({ policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30 }] });
    deployed.service.engine.set({ rowsPerSecond: 0.1 });
    const { clock, services } = deployed;
    await executeWorkflow({
      services,
      publisher: { publish: async () => {} },
      input: {},
      execution: { name: 'long', startTime: new Date(clock.time).toISOString() },
      onState: (step, state) => {
        if (step === 'truncate') state.turns.poll = turnsBefore;
      },
      fast: {
        maxWaitMillis: 0,
        skipped: (millis) => {
          clock.time += millis;
        },
      },
    });
    clock.time += 24 * 3_600_000;
    expect((await deployed.night()).policies).toMatchObject([{ outcome: 'truncated', adopted: true }]);
  });
});

describe('a run state', () => {
  const long = fc.string({ minLength: 0, maxLength: 3000, unit: fc.constantFrom('a', ' ', 'ä', '😀', '"', '數') });
  const name = fc.constantFrom('operation', 'datasetUsageStatistics', 'aLongCustomAspectNameOfSomebodysOwnModel');
  const reported = fc.record({
    entityType: fc.constantFrom('dataset', 'dataProcessInstance'),
    aspect: name,
    retentionDays: fc.constant(365),
    cutoff: fc.constant('2026-02-20T03:30:00.000Z'),
    cutoffMillis: fc.constant(1_771_558_200_000),
    outcome: fc.constantFrom(...(outcomes as Outcome[])),
    reason: long,
    strategy: fc.constant('delete-by-query'),
    rowsTotal: fc.constant(276_893_693),
    rowsToDelete: fc.constant(276_893_692),
    percent: fc.constant(99.99),
    taskId: fc.constant('qhxGdzytQS-pQek8CwBCZg:533446'),
    rowsDeleted: fc.constant(276_893_692),
    rowsRemaining: fc.constant(0),
    durationSeconds: fc.constant(86_400),
    sizeBeforeMb: fc.constant(8078.39),
    sizeAfterMb: fc.constant(8078.39),
    indexName: fc.constant('dataprocessinstance_dataprocessinstanceruneventaspect_v1_1693050512123'),
  });
  const anyEntry = fc.oneof(
    { weight: 6, arbitrary: reported.map((entry) => ({ phase: 'done' as const, entry })) },
    {
      weight: 1,
      arbitrary: reported.map(({ outcome: _, reason: __, ...entry }) => ({
        phase: 'approved' as const,
        entry,
        policy: aPolicy({ aspect: entry.aspect }),
        plan: { rowsToDelete: 1, rowsTotal: 2, strategy: 'delete-by-query' as const },
      })),
    },
    {
      weight: 1,
      arbitrary: reported.map(({ outcome: _, reason, ...entry }) => ({
        phase: 'watched' as const,
        entry,
        watch: { attemptId: 'a', startedAt: 0, lastLookAt: 0, nextLookAt: 0, looks: 0, lastFailure: reason },
      })),
    },
  );
  const aState = (entries: Entry[], more: Partial<RunState> = {}): RunState => ({
    version: 1,
    runId: 'run-1',
    stage: 'prod',
    mode: 'enforce',
    startedAt: '2026-03-01T03:30:00.000Z',
    next: 'wait',
    waitSeconds: 10,
    entries,
    notes: [],
    unmanagedIndices: [],
    turns: { truncate: 0, poll: 0 },
    ...more,
  });
  const indexed = (entries: object[]) =>
    entries.map((entry, at) => ({ index: `dataset.aspect${at}`, ...entry }) as Entry);
  const manyIndices = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ indexName: `dataset_anotheraspect${at}aspect_v1_1693050512123` }));

  it('of 200 policies with long reasons fits, and keeps every entry in its phase', () => {
    fc.assert(
      fc.property(
        fc.array(anyEntry, { minLength: 200, maxLength: 200 }),
        fc.array(long, { maxLength: 50 }),
        fc.nat(2000),
        (entries, notes, unmanaged) => {
          const state = aState(indexed(entries), { notes, unmanagedIndices: manyIndices(unmanaged) });
          const fitted = shortenToFit(state);
          expect(bytesOf(fitted)).toBeLessThan(maxStateBytes);
          expect(fitted.entries.map(({ index, phase }) => `${index} ${phase}`)).toEqual(
            state.entries.map(({ index, phase }) => `${index} ${phase}`),
          );
          // Only texts are shortened: counts, cutoffs, names and outcomes stay.
          const bare = (entry: Entry) => JSON.stringify({ ...entry.entry, reason: '' });
          expect(fitted.entries.map(bare)).toEqual(state.entries.map(bare));
          expect(JSON.stringify(fitted)).not.toMatch(/\\ud[89a-f]/);
        },
      ),
      { numRuns: 20 },
    );
  });

  const reason = (text: string, outcome: Outcome): Entry => ({
    index: `dataset.${outcome}`,
    phase: 'done',
    entry: { entityType: 'dataset', aspect: outcome, outcome, reason: text },
  });

  it('that is small enough stays as it is', () => {
    const state = aState([reason('x'.repeat(5000), 'truncated')]);
    expect(shortenToFit(state)).toBe(state);
  });

  it('shortens what went well first, and what says how to get rows back last', () => {
    const well = Array.from({ length: 100 }, () => reason('w'.repeat(1500), 'truncated'));
    const state = aState([
      ...well,
      reason('f'.repeat(30_000), 'failed'),
      reason('m'.repeat(30_000), 'rows-missing'),
      reason('a'.repeat(500), 'above-ceiling'),
    ]);
    const lengths = (shortened: RunState) =>
      Object.fromEntries(
        shortened.entries.map(({ entry }) => [entry.aspect, (entry as { reason: string }).reason.length]),
      );
    expect(lengths(shortenToFit(state))).toEqual({
      truncated: 120,
      'above-ceiling': 500,
      failed: 30_000,
      'rows-missing': 30_000,
    });
    const worse = { ...state, entries: [...state.entries, reason('u'.repeat(150_000), 'unknown')] };
    expect(lengths(shortenToFit(worse))).toMatchObject({ failed: 600, unknown: 600, 'rows-missing': 30_000 });
  });

  it('shortens the preflight with what is harmless, and leaves it out before it would not fit', () => {
    const preflight = checkNames.map((name) => ({
      name,
      state: 'failed' as const,
      text: '數'.repeat(1000),
      remedy: 'r',
    }));
    const fitted = shortenToFit(aState([reason('w'.repeat(200_000), 'truncated')], { preflight }));
    expect(fitted.preflight?.map(({ text }) => text.length)).toEqual(checkNames.map(() => 300));
    expect(fitted.preflight?.[0]).toMatchObject({ name: 'Address', state: 'failed', remedy: 'r' });
    const named = indexed(
      Array.from({ length: 500 }, () => ({
        phase: 'done',
        entry: { entityType: 'dataset', aspect: 'x', outcome: 'disabled', reason: '', indexName: 'i'.repeat(60) },
      })),
    );
    const room = maxStateBytes - bytesOf(aState(named));
    expect(room).toBeGreaterThan(0);
    const padded = aState(named, { preflight, stage: 's'.repeat(room - 100) });
    expect(bytesOf(shortenToFit(padded))).toBeLessThan(maxStateBytes);
    expect(shortenToFit(padded)).not.toHaveProperty('preflight');
  });

  it('gives up indices without a policy before it gives up notes', () => {
    const state = aState([], { notes: ['a note'], unmanagedIndices: manyIndices(5000) });
    const fitted = shortenToFit(state);
    expect(bytesOf(fitted)).toBeLessThan(maxStateBytes);
    expect(fitted.notes).toEqual(['a note']);
    expect(fitted.unmanagedIndices.length).toBeGreaterThan(1000);
  });
});
