import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { executeWorkflow } from '../../../cli/workflow.ts';
import workflow from '../../../infra/retention-workflow.asl.json' with { type: 'json' };
import { maxHistoryEvents } from '../../../lambda/facts/limits.ts';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import { historyBudget as constants, historyIsSpent, historyUsed } from '../../../lambda/run/history.ts';
import { anIndexOf, type Deployment, deploy, outcomesOf } from '../../support/deployment.ts';
import { historyBudget, type WorkflowDefinition } from './history-budget.ts';

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

  it('is spent when another turn of each kind and a second Poll would exceed the limit', () => {
    // 95 + 7 x 7 + 2459 x 9, a turn of each kind, a Poll and the reserve are exactly 25,000.
    expect(historyIsSpent({ turns: { truncate: 7, poll: 2459 } })).toBe(false);
    expect(historyIsSpent({ turns: { truncate: 7, poll: 2460 } })).toBe(true);
    expect(historyIsSpent({ turns: { truncate: 8, poll: 2459 } })).toBe(true);
  });

  it('grows with a state added to the loop', () => {
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

  it('takes the costlier of two paths', () => {
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

  it('counts three retries if the file does not say how many', () => {
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

  it('equals the constants that the functions use', () => {
    expect(constants).toEqual(historyBudget());
  });

  it('never lets a run start a turn that could exceed the limit', () => {
    const { truncateTurn, pollTurn, reserve } = constants;
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

describe('a run that reaches the end of its history', () => {
  let deployed: Deployment | undefined;
  afterEach(async () => {
    await deployed?.close();
    deployed = undefined;
  });

  const aspects = ['operation', 'datasetProfile'] as const;
  const { fixed, pollTurn, reserve } = constants;
  const turnsBefore = Math.floor((maxHistoryEvents - reserve - fixed) / pollTurn) - 2;

  it('ends in a report: a running truncation is still-running, a waiting one not-started', async () => {
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
        // As if there had been many turns before: what a step returns is passed on.
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
    expect(report!.policies.map(({ cause }) => cause)).toContainEqual(
      expect.objectContaining({ kind: 'watching', why: 'history' }),
    );
    expect(deployed.realTruncates()).toHaveLength(1);
  });

  it('counts a failed Truncate, which returned no state', async () => {
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
