import { loadDefinition, runStateMachine } from '../../cli/state-machine.ts';
import { maxHistoryEvents } from '../../lambda/facts/limits.ts';
import type { Report } from '../../lambda/facts/report-schema.ts';
import { historyUsed } from '../../lambda/run/history.ts';
import { reportMetrics } from '../../lambda/telemetry/metrics.ts';
import { createEngine } from '../../test/operations-service/engine.ts';
import { type NightPrice, priceOf } from '../prices.ts';
import { type Scenario, scenarios } from '../scenarios.ts';
import { noUsage } from '../simulation/functions.ts';
import { inProcess } from '../simulation/in-process.ts';
import { answerMillis } from '../simulation/latencies.ts';
import { deployVirtually } from '../simulation/steps.ts';
import { VirtualTime } from '../simulation/virtual-time.ts';

/** What whole nights cost: ours executes the workflow file; the two other ways are computed from what they do per task. */

export interface NightRow {
  night: string;
  what: string;
  way: 'ours' | 'fixed 30 s' | 'peer';
  outcomes: Record<string, number>;
  hours: number;
  transitions: number;
  historyEvents: number;
  invocations: number;
  requests: number;
  countQueries: number;
  price: NightPrice | undefined;
  /** From the end of the last task to the message; undefined if there is no message or the execution failed. */
  notifiedAfterSeconds: number | undefined;
  remark?: string;
  largestStateBytes?: number;
}

const start = Date.UTC(2026, 2, 1, 3, 30);

export async function benchNights(): Promise<NightRow[]> {
  const rows: NightRow[] = [];
  for (const make of scenarios) {
    const scenario = make(start);
    rows.push(await ours(scenario), fixedLoop(scenario), peer(scenario));
  }
  return rows;
}

/** Two counts for each sentence "Delete … out of … rows"; a real truncate makes them as well before it submits. */
const countQueriesOf = (requests: { dryRun: number; truncate: number }) => 2 * (requests.dryRun + requests.truncate);

async function ours(scenario: Scenario): Promise<NightRow> {
  const time = new VirtualTime(start);
  const engine = createEngine({ profile: 'newest', clock: time, indices: scenario.indices });
  engine.set({ rowsPerSecond: scenario.rowsPerSecond, batchOverheadMillis: 0 });
  const { operations, requests } = inProcess(engine, time);
  const { policies, maxRunHours } = scenario;
  const deployment = deployVirtually(time, { operations, policies, maxRunHours });
  await runStateMachine({
    handlers: deployment.handlers,
    input: {},
    execution: { name: 'night', startTime: new Date(start).toISOString() },
    now: time.now,
    fast: { maxWaitMillis: 0, skipped: (millis) => time.advance(millis) },
  });
  const { report, at } = deployment.published()!;
  const running = report.policies.some(({ outcome }) => outcome === 'still-running');
  const ends = engine
    .tasks()
    .flatMap(({ completedAt }) => (completedAt === undefined || completedAt > at ? [] : [completedAt]));
  const { transitions, historyEvents } = workflowFigures(deployment.entered);
  const turns = {
    truncate: deployment.entered.filter((state) => state === 'Truncate').length,
    poll: deployment.entered.filter((state) => state === 'Poll').length,
  };
  if (historyEvents > historyUsed({ turns })) throw new Error('the run has made more events than its budget counts');
  return {
    night: scenario.name,
    what: scenario.what,
    way: 'ours',
    outcomes: countOutcomes(report),
    hours: (at - start) / 3_600_000,
    transitions,
    historyEvents,
    invocations: deployment.usage.invocations,
    requests: Object.values(requests).reduce((sum, count) => sum + count, 0),
    countQueries: countQueriesOf(requests),
    price: priceOf(deployment.usage, { transitions, historyEvents, metrics: metricsOf(report) }),
    // A running task has no end to count from.
    notifiedAfterSeconds: running ? undefined : (at - Math.max(...ends)) / 1000,
    largestStateBytes: deployment.largestStateBytes(),
  };
}

const { States: states } = loadDefinition();

/** Transitions as they are billed (the start counts as one), and events as they fill the history. */
function workflowFigures(entered: string[]): { transitions: number; historyEvents: number } {
  const events = entered.map((name) => {
    const state = states[name];
    if (!state) throw new Error(`the workflow has no state ${name}`);
    return state.Type === 'Task' ? 5 : 2;
  });
  return { transitions: entered.length + 1, historyEvents: 2 + events.reduce((sum, count) => sum + count, 0) };
}

function countOutcomes({ policies }: Report): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of policies) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** The number of metrics in the embedded format, plus one for the count of subscriptions. */
const metricsOf = (report: Report): number =>
  1 +
  reportMetrics(report)
    .map((line) => JSON.parse(line) as { _aws: { CloudWatchMetrics: { Metrics: unknown[] }[] } })
    .reduce((sum, { _aws }) => sum + _aws.CloudWatchMetrics.reduce((all, { Metrics }) => all + Metrics.length, 0), 0);

/**
 * The job poller of many sample workflows, as a Map over all policies at once: dry run, choice, submit, then Wait 30 s,
 * status and choice until the task says that it has ended. No verification and no ledger; a message at the end.
 */
function fixedLoop(scenario: Scenario): NightRow {
  const turnSeconds = 30 + (answerMillis.read + 200) / 1000;
  const durations = Object.values(scenario.truncated);
  const turns = durations.map((seconds) => Math.ceil(seconds / turnSeconds));
  const polls = turns.reduce((sum, count) => sum + count, 0);
  const policies = scenario.policies.length;
  // An iteration starts and ends (2); dry run (Task 5) and choice (2); submit (Task 5); each turn Wait, Task and Choice (9).
  const historyEvents = 2 + 7 + policies * 9 + durations.length * 5 + polls * 9 + 5;
  const transitions = 3 + policies * 2 + durations.length + polls * 3;
  const usage = noUsage();
  usage.invocations = policies + durations.length + polls + 1;
  usage.billedMillis =
    policies * (answerMillis.dryRun + 20) +
    durations.length * (answerMillis.truncate + 20) +
    polls * (answerMillis.read + 20);
  const dead = historyEvents > maxHistoryEvents;
  const longest = Math.max(...durations);
  const seconds = Math.max(...turns) * turnSeconds;
  return {
    night: scenario.name,
    what: scenario.what,
    way: 'fixed 30 s',
    outcomes: {},
    hours: seconds / 3600,
    transitions,
    historyEvents,
    invocations: usage.invocations,
    requests: policies + durations.length + polls,
    countQueries: countQueriesOf({ dryRun: policies, truncate: durations.length }),
    price: priceOf(usage, { transitions, historyEvents, metrics: 0 }),
    notifiedAfterSeconds: dead ? undefined : seconds - longest,
    ...(dead && { remark: `dies at ${maxHistoryEvents} history events, without a message` }),
  };
}

/** datahub-gc: every index in turn, whatever its share; a dry run every 30 s until few rows are left or none were deleted. */
function peer(scenario: Scenario): NightRow {
  let requests = 0;
  let dryRuns = 0;
  let seconds = 0;
  for (const duration of [...Object.values(scenario.truncated), ...Object.values(scenario.belowThreshold)]) {
    const looks = Math.max(1, Math.ceil(duration / 30));
    dryRuns += looks;
    requests += 1 + looks;
    seconds += looks * 30;
  }
  return {
    night: scenario.name,
    what: scenario.what,
    way: 'peer',
    outcomes: {},
    hours: seconds / 3600,
    transitions: 0,
    historyEvents: 0,
    invocations: 0,
    requests,
    countQueries: countQueriesOf({ dryRun: dryRuns, truncate: requests - dryRuns }),
    price: undefined,
    notifiedAfterSeconds: undefined,
    remark: "runs in DataHub's actions container; tells nobody",
  };
}
