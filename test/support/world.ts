import { afterEach } from 'vitest';
import { memoryLedger } from '../../cli/ledgers/memory-ledger.ts';
import { executeWorkflow, stepOf } from '../../cli/run/state-machine.ts';
import { createOperations } from '../../lambda/gms/http/http-operations.ts';
import { createHttpTransport } from '../../lambda/gms/http/http-transport.ts';
import { fixedIdentity } from '../../lambda/gms/identity.ts';
import type { Operations } from '../../lambda/gms/operations.ts';
import { TransportError } from '../../lambda/gms/transport.ts';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import type { StoredRecord } from '../../lambda/ledger/record.ts';
import type { Report, ReportData } from '../../lambda/model/report-schema.ts';
import { functionTimeoutSeconds } from '../../lambda/run/deadlines.ts';
import { asMarkEvent } from '../../lambda/run/mark-reported.ts';
import { plan } from '../../lambda/run/plan/plan.ts';
import { ParametersError, type RunServices, type RunSettings } from '../../lambda/run/services.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { realTruncates } from '../simulated-gms/simulation/exchange.ts';
import { anIndexOf, firstRun, type StandIn, type StandInOptions, startStandIn } from './stand-in.ts';
import { takeStep } from './steps.ts';

/**
 * A stage: the four steps, the workflow file, a ledger and the stand-in behind real HTTP, all on one virtual clock.
 * A wait of the workflow, a retry's pause and a time-out move the clock on and take no time.
 */
export interface World {
  /** Epoch milliseconds; `unseen`: time that has passed although the wall clock was set back meanwhile. */
  clock: { time: number; unseen: number };
  standIn: StandIn;
  ledger: ReturnType<typeof memoryLedger>;
  settings: RunSettings;
  /** What the operator keeps outside the deployment; `undefined`: it cannot be read. */
  parameters: { policies: unknown[] | undefined; paused: boolean | undefined };
  /** Whether the server can be reached at all, whether the ledger can, and whether people can be. */
  reach: { server: boolean; ledger: LedgerMood; people: boolean };
  /** What happens outside the server, by the clock: before the first request after that moment. */
  agenda: { at: number; act(): void }[];
  /** Plays a run to its report, or to where it is stopped. */
  run(options?: RunOptions): Promise<Run>;
  /** A stopped run goes on with the state that it was stopped in. */
  redrive(run: Run, options?: Pick<RunOptions, 'onStep'>): Promise<Run>;
  /** Services for calling a single step; `others` answer in the place of some of its operations. */
  during(step: Step, others?: (real: Operations) => Partial<Operations>): RunServices;
  /** Plan by itself, as the schedule starts `run-1` now. */
  plan(input?: object, services?: RunServices): Promise<RunState>;
  realTruncates(): Record<string, unknown>[];
}

/**
 * Its next write arrives and is not answered (`unheard`), or arrives twice and the second is refused (`doubtful`); or
 * another writer is always first (`contested`).
 */
type LedgerMood = boolean | 'unheard' | 'doubtful' | 'contested';

export type Step = 'plan' | 'truncate' | 'poll' | 'report' | 'markReported';

/**
 * Where a run can be interrupted: Truncate before it counts the baseline, reads the current settings again, writes `sending`,
 * calls, records the answer; Poll before it writes a verdict; Report before it publishes; MarkReported before it marks.
 */
export type Point = 'baseline' | 'settings' | 'sending' | 'call' | 'answer' | 'verdict' | 'report' | 'mark';

/** What happens there, once: others act; the function dies; it hangs until it is thawed; the whole run is stopped. */
export interface Interruption {
  at: Point;
  does: (() => Promise<void>) | 'dies' | 'hangs' | 'stops';
  /** What others do before the run goes on without that function. */
  meanwhile?(): Promise<void>;
}

export interface RunOptions {
  name?: string;
  input?: Record<string, unknown>;
  /** A person starts it: no scheduled time. */
  byHand?: boolean;
  interruption?: Interruption;
  /** Called before a step begins and after it has ended; `failure` is the name of what it threw. */
  onStep?(step: Step, hasEnded: boolean, failure?: string): void;
}

export interface Run {
  name: string;
  startedAt: number;
  input: unknown;
  states: RunState[];
  report?: Report;
  /** Where it was stopped; or the error that its execution failed with, so that no report was published. */
  stopped?: { state: string; input: unknown } | undefined;
  failed?: string;
  /** Lets a function that hangs, or whose execution was stopped, go on, and waits for its end. */
  thaw(): Promise<void>;
  /** A person started it, so its report is published even with `notify: problems`. */
  byHand: boolean;
}

export interface WorldOptions extends Partial<Omit<StandInOptions, 'clock'>> {
  policies?: unknown[];
  settings?: Partial<RunSettings>;
  clock?: World['clock'];
  /** Another server than the stand-in. */
  gms?: { url: string; token: string };
  /** How long a request to a server that does not answer takes in real time. */
  patienceMillis?: number;
  /** Sees every request and every write of the ledger. */
  observe?(services: Omit<RunServices, 'deadline'>): Omit<RunServices, 'deadline'>;
}

/** The address of every world's server, as its settings and its records have it. */
export const server = 'https://datahub.example.com';

class Stopped extends Error {
  override readonly name = 'Stopped';
}

export async function createWorld(options: WorldOptions = {}): Promise<World & { close(): Promise<void> }> {
  const { policies = [aPolicyFor('operation')], settings, patienceMillis = 30_000, observe = (same) => same } = options;
  const { clock = { time: firstRun, unseen: 0 } } = options;
  const standIn = await startStandIn({ indices: [anIndexOf(600, 400)], ...options, clock });
  const { gms = standIn } = options;
  const transport = createHttpTransport({
    readTimeoutMillis: patienceMillis,
    truncateTimeoutMillis: patienceMillis,
  });
  const ledger = memoryLedger();
  const quiet = () => {};
  let runs = 0;
  const happen = () => {
    for (const due of world.agenda.filter(({ at }) => at <= clock.time)) {
      world.agenda.splice(world.agenda.indexOf(due), 1);
      due.act();
    }
  };
  const reachable = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
    happen();
    if (!world.reach.ledger) throw new LedgerError('The ledger cannot be reached.');
    return ask();
  };
  const replace = async (next: Parameters<typeof ledger.replace>[0]): Promise<boolean> => {
    const { ledger: mood } = world.reach;
    if (mood === 'contested') return false;
    world.reach.ledger = true;
    const isStored = await ledger.replace(next);
    if (mood === 'unheard') throw new LedgerError('The ledger has not answered.');
    return isStored && mood !== 'doubtful';
  };
  const connected = <Value>(ask: () => Promise<Value>, waited: number): Promise<Value> => {
    happen();
    if (!world.reach.server) return Promise.reject(new TransportError('connect', false, { code: 'ECONNREFUSED' }));
    return ask().catch((error: unknown) => {
      if (error instanceof TransportError && error.stage === 'timeout') clock.time += waited;
      throw error;
    });
  };
  const identity = fixedIdentity({ token: gms.token });
  const parts: Omit<RunServices, 'deadline' | 'settings'> = {
    parameters: {
      async policies() {
        if (!world.parameters.policies) throw new ParametersError('The policies cannot be read.');
        return world.parameters.policies.map((policy, at) => ({
          name: `policy-${at + 1}`,
          text: JSON.stringify(policy),
        }));
      },
      async paused() {
        if (world.parameters.paused === undefined) throw new ParametersError('The pause switch cannot be read.');
        return world.parameters.paused;
      },
      identity,
    },
    operations: createOperations({
      baseUrl: gms.url,
      identity,
      transport: {
        post: (exchange, signal) => connected(() => transport.post(exchange, signal), 60_000),
        postAtMostOnce: (exchange, maySend) => connected(() => transport.postAtMostOnce(exchange, maySend), 120_000),
      },
      realNow: () => clock.time,
      async sleep(millis) {
        clock.time += millis;
      },
      random: () => 0,
    }),
    ledger: {
      isTransient: true,
      read: (index) => reachable(() => ledger.read(index)),
      list: () => reachable(() => ledger.list()),
      replace: (next) => reachable(() => replace(next)),
    },
    clock: {
      now: () => clock.time,
      monotonic: () => clock.time + clock.unseen,
      async sleep(millis) {
        clock.time += millis;
      },
    },
    log: { info: quiet, warn: quiet, error: quiet },
  };
  // Settings may change between two runs.
  const services = () => observe({ ...parts, settings: world.settings });
  const during = (step: Step, pause: (point: Point) => Promise<void> = async () => {}): RunServices => {
    const deadline = clock.time + functionTimeoutSeconds[step === 'markReported' ? 'poll' : step] * 1000;
    return { ...interruptible(services(), step, pause), deadline: () => deadline };
  };

  async function execute(run: Run, from: { state?: string; input: unknown }, options: RunOptions): Promise<Run> {
    const { interruption, onStep = quiet } = options;
    const host = hostOf(run, interruption);
    let isStopped = false;
    let entered: { state: string; input: unknown } | undefined;
    const context = {
      Execution: { Name: run.name, StartTime: new Date(run.startedAt).toISOString(), Input: run.input },
    };
    const publisher = {
      async publish(made: Report) {
        if (!world.reach.people) throw Object.assign(new Error('no topic'), { name: 'PublishError' });
        run.report = made;
        return true;
      },
    };
    const invoke = async (step: Step, pause: (point: Point) => Promise<void>, input: unknown) => {
      const given = { ...during(step, pause), publisher, addSentences: withoutSentences };
      if (step === 'report') await pause('report');
      return takeStep(step === 'markReported' ? 'poll' : step, input, given);
    };
    const call = async (resource: string, input: unknown): Promise<unknown> => {
      const called = stepOf(resource);
      const step: Step = called === 'poll' && asMarkEvent(input) ? 'markReported' : called;
      onStep(step, false);
      try {
        const returned = await host.call((pause) => invoke(step, pause, input));
        const state = returned && 'entries' in returned ? returned : undefined;
        if (state) run.states.push(state);
        onStep(step, true);
        return returned;
      } catch (error) {
        isStopped = error instanceof Stopped;
        onStep(step, true, (error as Error).name);
        throw error;
      }
    };
    try {
      await executeWorkflow(context, from, {
        random: () => 0.5,
        async sleep(millis) {
          if (isStopped) throw new Stopped();
          clock.time += millis;
        },
        call,
        entered(state, input) {
          if (isStopped) throw new Stopped();
          entered = { state, input };
        },
      });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (isStopped) run.stopped = entered;
      else run.failed = error.name;
    }
    return run;
  }

  /** Calls functions, and interrupts one of them once. */
  function hostOf(run: Run, interruption: Interruption | undefined) {
    let isOver = false;
    return {
      async call<Value>(invoke: (pause: (point: Point) => Promise<void>) => Promise<Value>): Promise<Value> {
        const interrupted = deferred<never>();
        const pause = async (point: Point): Promise<void> => {
          if (isOver || interruption?.at !== point) return;
          isOver = true;
          const { does, meanwhile } = interruption;
          if (typeof does === 'function') return does();
          const thawed = deferred<void>();
          if (does === 'hangs') clock.time += (functionTimeoutSeconds.truncate + 60) * 1000;
          // Stopping an execution does not end its function.
          if (does !== 'dies') {
            run.thaw = async () => {
              thawed.resolve();
              await working.catch(quiet);
            };
          }
          await meanwhile?.();
          const errors = { dies: 'Runtime.ExitError', hangs: 'Sandbox.Timedout' } as const;
          interrupted.reject(does === 'stops' ? new Stopped() : Object.assign(new Error(does), { name: errors[does] }));
          await thawed.promise;
        };
        const working = invoke(pause);
        return Promise.race([working, interrupted.promise]);
      },
    };
  }

  const world: World & { close(): Promise<void> } = {
    clock,
    standIn,
    ledger,
    parameters: { policies, paused: false },
    reach: { server: true, ledger: true, people: true },
    agenda: [],
    settings: {
      stage: 'prod',
      gmsUrl: server,
      mode: 'enforce',
      minRetentionDays: 7,
      maxRunHours: 12,
      ...settings,
    },
    during(step, others) {
      const services = during(step);
      const { operations } = services;
      return others ? { ...services, operations: { ...operations, ...others(operations) } } : services;
    },
    plan(input, given = during('plan')) {
      const startTime = new Date(clock.time).toISOString();
      return plan({ input: { scheduledTime: startTime, ...input }, execution: { name: 'run-1', startTime } }, given);
    },
    async run(options = {}) {
      const { name = `run-${++runs}`, input: given = {}, byHand = false } = options;
      const scheduledTime = new Date(clock.time).toISOString();
      const input = byHand ? given : { scheduledTime, ...given };
      const run: Run = { name, startedAt: clock.time, input, byHand, states: [], thaw: async () => {} };
      return execute(run, { input }, options);
    },
    redrive(run, options = {}) {
      const { stopped, report: _, ...same } = run;
      return execute(same, stopped ?? { input: run.input }, options);
    },
    realTruncates: () => realTruncates(standIn.asked()).map(({ body }) => body as Record<string, unknown>),
    async close() {
      await transport.close();
      await standIn.close();
    },
  };
  return world;
}

interface Deferred<Value> {
  promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: Error): void;
}

function deferred<Value>(): Deferred<Value> {
  const made: Partial<Deferred<Value>> = {};
  const promise = new Promise<Value>((resolve, reject) => Object.assign(made, { resolve, reject }));
  return Object.assign(made, { promise }) as Deferred<Value>;
}

/** Every place where a function can be interrupted calls `pause` first. */
function interruptible(
  services: Omit<RunServices, 'deadline'>,
  step: Step,
  pause: (point: Point) => Promise<void>,
): Omit<RunServices, 'deadline'> {
  const { operations, ledger, parameters } = services;
  return {
    ...services,
    parameters: {
      ...parameters,
      async policies() {
        if (step === 'truncate') await pause('settings');
        return parameters.policies();
      },
    },
    operations: {
      ...operations,
      async dryRun(fields, options) {
        if (step === 'truncate') await pause('baseline');
        return operations.dryRun(fields, options);
      },
      async truncate(fields, maySend) {
        await pause('call');
        const sent = await operations.truncate(fields, maySend);
        await pause('answer');
        return sent;
      },
    },
    ledger: {
      ...ledger,
      async replace(next) {
        if (step === 'truncate' && next.state === 'sending' && !next.attempt.callError) await pause('sending');
        if (step === 'poll' && isVerdict(next)) await pause('verdict');
        if (step === 'markReported') await pause('mark');
        return ledger.replace(next);
      },
    },
  };
}

/** A verdict, unlike what a poll learns beside it, is unreported. */
const isVerdict = (next: StoredRecord): boolean => next.state !== 'unreadable' && next.unreported;

/** The report without English, which these tests do not read. */
const withoutSentences = (facts: ReportData): Report => ({
  ...facts,
  notes: facts.notes.map((note) => ({ ...note, text: '' })),
  policies: facts.policies.map((entry) => ({ ...entry, reason: '' })),
});

export const aPolicyFor = (aspect: string, more: object = {}, entityType = 'dataset') => ({
  entityType,
  aspect,
  retentionDays: 30,
  ...more,
});

/** `createWorld` for tests: closes what a test opened when the test ends. */
export function worlds(): (options?: WorldOptions) => Promise<World> {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const world of open.splice(0)) await world.close();
  });
  return async (options) => {
    const world = await createWorld(options);
    open.push(world);
    return world;
  };
}
