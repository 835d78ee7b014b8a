import { functionTimeoutSeconds } from '../../../lambda/facts/limits.ts';
import { type Idle, LEDGER_VERSION } from '../../../lambda/ledger/record.ts';
import { serverAddress } from '../../../lambda/operations/http/base-url.ts';
import { type PlanEvent, plan } from '../../../lambda/run/plan/plan.ts';
import { poll } from '../../../lambda/run/poll.ts';
import { composeReport, type ReportEvent } from '../../../lambda/run/report.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { firstNight, type History } from '../histories/history.ts';
import { type PolicyOf, policyOf, written } from '../histories/policies.ts';
import type { Scenario } from '../histories/scenario.ts';
import { goneIn } from '../truth/gone.ts';
import type { StepName } from '../world/invocation.ts';
import type { InvocationInfo } from '../world/journal.ts';
import { executeWorkflow } from '../world/workflow.ts';
import { createWorld, type World } from '../world/world.ts';
import { servicesOf, type Told } from './functions.ts';
import { asked, type Controlled, type Pending } from './pending.ts';

/**
 * The small model: executions that have planned to truncate the same index, with an explorer in control of every await
 * of their functions. At an await it may choose to let it happen, or one of the faults.
 */
export interface SmallModel {
  world: World;
  pending: Map<string, Pending>;
  /** Everything that may affect what can still happen, as one text. */
  key(): string;
  /** The history so far, for the checker. */
  history(): History;
  /** Plans an execution, and gives its further awaits to the explorer. */
  begin(runId: string): Promise<void>;
  /** Plays one more execution to the end, with every await going well. */
  night(runId: string): Promise<void>;
}

export type SmallStrategy = 'delete-by-query' | 'reindex';

export interface SmallOptions {
  strategy: SmallStrategy;
  /** Looks of each execution in which everything is open; later ones wait for all others, and go well. */
  looks: number;
  /** What a client may get instead of the server's own answer. */
  told: readonly Told[];
  /** The ledger has a record of an earlier night: idle, with nothing to compare. */
  recorded: boolean;
}

const day = 86_400_000;
const maxRunHours = 12;
const gmsUrl = 'http://gms.test:8080';

export function createSmallModel({ strategy, looks, told, recorded }: SmallOptions): SmallModel {
  const aged = (count: number, days: number) =>
    Array.from({ length: count }, (_, row) => firstNight - days * day - row);
  const policy = policyOf(['dataset', 'operation'], { retentionDays: 30, batchSize: 10, strategy });
  const world = createWorld({
    seed: 1,
    start: firstNight,
    profile: 'specification',
    indices: [{ entityType: 'dataset', aspect: 'operation', timestamps: [...aged(20, 60), ...aged(20, 5)] }],
    policies: [written(policy)],
    settings: { stage: 'small', gmsUrl, mode: 'enforce', minRetentionDays: 7, maxRunHours },
  });
  const { engine } = world.front;
  // Two batches of ten rows: a task takes 12 s, so looks happen while it runs.
  engine.set({ batchOverheadMillis: 6000, rowsPerSecond: 1e9 });
  const controlled: Controlled = { pending: new Map(), seen: new Map(), automatic: false, looks };
  const ledger = world.ledger.open();
  if (recorded) world.ledger.put(policy.index, recordOfYesterday(policy));

  const begin = async (runId: string) => {
    const runStartMillis = world.time.now();
    const run = { runId, runStartMillis };
    const gone = goneIn(world, runStartMillis, world.settings);
    world.journal.push({ at: runStartMillis, kind: 'execution', ...run, input: {}, mode: 'enforce', gone });
    const event: PlanEvent = {
      input: {},
      execution: { name: runId, startTime: new Date(runStartMillis).toISOString() },
    };
    const invocation = begun(world, 'plan', run);
    const services = servicesOf({
      world,
      ledger,
      invocation,
      who: `${runId} plan`,
      controlled: { ...controlled, automatic: true },
      told,
    });
    const state = await drained(world, plan(event, services));
    world.journal.push({ at: world.time.now(), kind: 'state', invocation, state });
    return execute(run, state);
  };

  function execute(run: Run, state: RunState): { ended: boolean } {
    const done = { ended: false };
    const startTime = new Date(run.runStartMillis).toISOString();
    let calls = 0;
    const late = () => calls > 1 + looks;
    const call = (step: 'truncate' | 'poll', input: RunState): Promise<RunState> =>
      new Promise((resolve, reject) => {
        const invocation = begun(world, step, run);
        const who = `${run.runId} ${step} ${++calls}`;
        const services = servicesOf({ world, ledger, invocation, who, controlled, told, late: late(), fail: reject });
        (step === 'truncate' ? truncate : poll)(input, services).then((output) => {
          controlled.seen.delete(who);
          // An execution carries over only the run state.
          controlled.seen.set(run.runId, JSON.stringify(output));
          world.journal.push({ at: world.time.now(), kind: 'state', invocation, state: output });
          resolve(output);
        }, reject);
      });
    executeWorkflow(
      { Execution: { Name: run.runId, StartTime: startTime, Input: {} } },
      { state: 'NextStep', input: state },
      {
        now: world.time.now,
        random: () => 1,
        entered(name, given) {
          if (name !== 'NextStep') return;
          world.journal.push({ at: world.time.now(), kind: 'taken', ...run, state: given as RunState });
        },
        async sleep(millis) {
          const until = world.time.now() + millis;
          if (controlled.automatic) return world.time.sleep(millis);
          const wait = { who: `${run.runId} workflow`, what: `wait ${millis}`, choices: ['go'], late: late() };
          await asked(controlled, wait, () => world.time.runUntil(Math.max(until, world.time.now())));
        },
        async call(resource, input) {
          const step = resource.slice(2, -'FunctionArn}'.length).toLowerCase() as StepName;
          if (step === 'truncate' || step === 'poll') return call(step, input as RunState);
          const settings = world.settings;
          const { now } = world.time;
          const clock = { now, realNow: now, monotonic: now };
          const made = composeReport(input as ReportEvent, { settings, clock });
          world.publish(begun(world, step, run), made);
          return made;
        },
      },
    ).then(({ status, events }) => {
      done.ended = true;
      world.journal.push({ at: world.time.now(), kind: 'ended', runId: run.runId, how: status, events });
    });
    return done;
  }

  return {
    world,
    pending: controlled.pending,
    key: () =>
      JSON.stringify([
        world.time.now() - firstNight,
        [...world.ledger.records.values()],
        engine.indices().map(({ name, rows }) => [name, rows]),
        engine.tasks().map(({ id, state, created, deleted }) => [id, state, created, deleted]),
        [...controlled.seen].sort(),
        [...controlled.pending.values()].map(({ who, what }) => [who.replace(/server \d+/, 'server'), what]).sort(),
      ]),
    history: () => ({
      world,
      scenario: { maxRunHours, nights: [], profile: 'specification' } as unknown as Scenario,
      policies: [policy],
      last: { calm: '', cleared: '' },
    }),
    async begin(runId) {
      await begin(runId);
    },
    async night(runId) {
      controlled.automatic = true;
      const done = await begin(runId);
      await world.time.run(() => done.ended);
    },
  };
}

interface Run {
  runId: string;
  runStartMillis: number;
}

function recordOfYesterday({ index, entityType, aspect }: PolicyOf): Idle {
  const at = firstNight - day;
  return {
    version: LEDGER_VERSION,
    index,
    entityType,
    aspect,
    server: serverAddress(gmsUrl),
    state: 'idle',
    attemptId: 'yesterday',
    sentBy: [{ runId: 'yesterday', runStartMillis: at, at }],
  };
}

/** Plan alone, before the choices begin. */
async function drained<T>(world: World, result: Promise<T>): Promise<T> {
  let done = false;
  const settled = result.finally(() => {
    done = true;
  });
  await world.time.run(() => done);
  return settled;
}

function begun(world: World, step: StepName, run: Run): InvocationInfo {
  const startedAt = world.time.now();
  const endsAt = startedAt + functionTimeoutSeconds[step] * 1000;
  const { mode, minRetentionDays, gmsUrl } = world.settings;
  const settings = { mode, minRetentionDays, maxRunHours, gmsUrl };
  const invocation = { id: world.nextInvocation(), step, ...run, startedAt, endsAt, settings };
  world.journal.push({ at: startedAt, kind: 'invocation', invocation });
  return invocation;
}
