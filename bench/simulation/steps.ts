import type { Step, StepHandlers } from '../../cli/state-machine.ts';
import { functionTimeoutSeconds } from '../../lambda/facts/limits.ts';
import type { Report } from '../../lambda/facts/report-schema.ts';
import type { Ledger } from '../../lambda/ledger/ledger.ts';
import { memoryLedger } from '../../lambda/ledger/memory.ts';
import { type Nights, nightsInMemory } from '../../lambda/memory/night.ts';
import type { Operations } from '../../lambda/operations/operations.ts';
import { type PlanEvent, plan } from '../../lambda/run/plan/plan.ts';
import { poll } from '../../lambda/run/poll.ts';
import { type ReportEvent, report } from '../../lambda/run/report.ts';
import type { RunServices } from '../../lambda/run/services.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { truncate } from '../../lambda/run/truncate.ts';
import { simulateFunctions, type Usage } from './functions.ts';
import { awsCallMillis, transitionMillis } from './latencies.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The states that the workflow enters for each step until the next decision: those before the step, and from it on. */
const statesOf: Record<Step, { before: string[]; after: string[] }> = {
  plan: { before: ['Plan'], after: ['NextStep'] },
  truncate: { before: ['Truncate'], after: ['NextStep'] },
  poll: { before: ['Wait', 'Poll'], after: ['NextStep'] },
  report: { before: ['Report'], after: ['Succeeded'] },
};

export interface VirtualDeployment {
  handlers: StepHandlers;
  usage: Usage;
  /** States entered, in order. */
  entered: string[];
  /** Largest run state, bytes of its JSON. */
  largestStateBytes(): number;
  published(): { report: Report; at: number } | undefined;
}

export interface DeploymentOptions {
  operations: Operations;
  policies: unknown[];
  maxRunHours?: number;
  /** What outlives a run, for consecutive nights. */
  ledger?: Ledger;
  nights?: Nights;
}

/** Ids are never reused, however many nights follow each other. */
let ids = 0;

/**
 * The real four steps as invocations in virtual time. The first state of each step includes the transitions that lead to
 * it; the Wait itself is the caller's.
 */
export function deployVirtually(
  time: VirtualTime,
  { operations, policies, maxRunHours = 12, ledger = memoryLedger(), nights = nightsInMemory() }: DeploymentOptions,
): VirtualDeployment {
  const functions = simulateFunctions(time);
  const entered: string[] = [];
  let largest = 0;
  let published: { report: Report; at: number } | undefined;
  const settings = {
    stage: 'bench',
    gmsUrl: 'http://gms.example.com',
    mode: 'enforce' as const,
    minRetentionDays: 7,
    maxRunHours,
  };
  const token = { get: async () => 'token', reread: async () => 'token' };
  const services: Omit<RunServices, 'deadline'> = {
    settings,
    parameters: {
      policies: async () => [{ name: 'policies', text: JSON.stringify(policies) }],
      paused: async () => false,
      token,
    },
    operations,
    ledger,
    nights,
    surroundings: { onLambda: true, lookup: async () => ['192.0.2.1'] },
    clock: time,
    log: { info() {}, warn() {}, error() {} },
    newId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
  };

  const run = async <Result>(step: Step, call: (given: RunServices) => Promise<Result>): Promise<Result> => {
    const { before, after } = statesOf[step];
    entered.push(...before);
    await time.sleep(before.length * transitionMillis);
    const result = await functions.invoke(step, async () => {
      const deadline = time.now() + functionTimeoutSeconds[step] * 1000;
      const given = { ...functions.during(step, services), deadline: () => deadline };
      // Every function that talks to the server needs the token first.
      if (step !== 'report' && step !== 'plan') await given.parameters.token.get();
      return call(given);
    });
    largest = Math.max(largest, Buffer.byteLength(JSON.stringify(result)));
    entered.push(...after);
    await time.sleep(after.length * transitionMillis);
    return result;
  };

  return {
    handlers: {
      plan: (event) => run('plan', (given) => plan(event as PlanEvent, given)),
      truncate: (state) => run('truncate', (given) => truncate(state as RunState, given)),
      poll: (state) => run('poll', (given) => poll(state as RunState, given)),
      report: (event) =>
        run('report', (given) =>
          report(event as ReportEvent, {
            ...given,
            publisher: {
              async publish(made) {
                // The topic's subscriptions are counted, then the report is published.
                await time.sleep(2 * awsCallMillis);
                published = { report: made, at: time.now() };
              },
            },
          }),
        ),
    },
    usage: functions.usage,
    entered,
    largestStateBytes: () => largest,
    published: () => published,
  };
}
