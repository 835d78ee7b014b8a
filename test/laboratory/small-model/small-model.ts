import { createHash } from 'node:crypto';
import { functionTimeoutSeconds } from '../../lambda/facts/limits.ts';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import type { LedgerRecord } from '../../lambda/ledger/record.ts';
import { createOperations } from '../../lambda/operations/http/http-operations.ts';
import { type Answer, type Exchange, type Transport, TransportError } from '../../lambda/operations/http/transport.ts';
import { type PlanEvent, plan } from '../../lambda/run/plan/plan.ts';
import { poll } from '../../lambda/run/poll.ts';
import { composeReport, type ReportEvent } from '../../lambda/run/report.ts';
import type { RunServices } from '../../lambda/run/services.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { truncate } from '../../lambda/run/truncate.ts';
import type { Reply } from '../../local/operations-service/exchange.ts';
import { firstNight, type History } from './history.ts';
import { named, type StepName } from './invocation.ts';
import type { InvocationInfo } from './journal.ts';
import { executeWorkflow } from './workflow.ts';
import { createWorld, type World } from './world.ts';

/**
 * The small model: executions that have planned to truncate the same index, with every await of their functions in the
 * hands of an explorer. What it may choose at an await: let it happen, or one of the faults.
 */

/** An await that waits to be decided. */
export interface Pending {
  /** Function or execution, such as `X truncate`. */
  who: string;
  what: string;
  /** The first is that all goes well; the others are faults. */
  choices: readonly string[];
  decide(choice: string): void | Promise<void>;
  /** Its execution has looked so often that it goes on only when nobody else has anything to do, and without faults. */
  late: boolean;
}

export interface SmallModel {
  world: World;
  pending: Map<string, Pending>;
  /** All that may matter for what can still happen, as one text. */
  key(): string;
  /** The history so far, for the checker. */
  history(): History;
  /** Plans an execution, and hands its further awaits to the explorer. */
  begin(runId: string): Promise<void>;
  /** One more execution, whose awaits all go well, to its end. */
  night(runId: string): Promise<void>;
}

export type SmallStrategy = 'delete-by-query' | 'reindex';

const day = 86_400_000;
const index = 'dataset.operation';
const maxRunHours = 12;

/** @param looks looks of each execution in which everything is open; later ones wait for everybody else, and go well */
export function createSmallModel(strategy: SmallStrategy, looks: number): SmallModel {
  const aged = (count: number, days: number) =>
    Array.from({ length: count }, (_, row) => firstNight - days * day - row);
  const policy = {
    entityType: 'dataset',
    aspect: 'operation',
    retentionDays: 30 as const,
    batchSize: 10 as const,
    strategy,
  };
  const world = createWorld({
    seed: 1,
    start: firstNight,
    profile: 'specification',
    indices: [{ entityType: 'dataset', aspect: 'operation', timestamps: [...aged(20, 60), ...aged(20, 5)] }],
    policies: [{ name: 'policy', text: JSON.stringify(policy) }],
    settings: { stage: 'small', gmsUrl: 'http://gms.test:8080', mode: 'enforce', minRetentionDays: 7, maxRunHours },
  });
  // Two batches of ten rows: a task takes 12 s, so that looks fall into it.
  world.engine.set({ batchOverheadMillis: 6000, rowsPerSecond: 1e9 });
  const pending = new Map<string, Pending>();
  const seen = new Map<string, string>();
  const controlled = { pending, seen, automatic: false, looks };

  const begin = async (runId: string) => {
    const at = world.time.now();
    const startTime = new Date(at).toISOString();
    world.journal.push({ at, kind: 'execution', runId, input: {}, startedAt: at, mode: 'enforce' });
    const event: PlanEvent = { input: {}, execution: { name: runId, startTime } };
    const invocation = begun(world, 'plan', runId);
    const services = servicesOf(world, invocation, `${runId} plan`, { ...controlled, automatic: true });
    const state = await drained(world, plan(event, services));
    world.journal.push({ at, kind: 'state', invocation, state });
    return execute(world, runId, startTime, state, controlled);
  };

  return {
    world,
    pending,
    key: () =>
      JSON.stringify([
        world.time.now() - firstNight,
        [...world.ledger.stored.values()],
        world.engine.indices().map(({ name, rows }) => [name, rows]),
        world.engine.tasks().map(({ id, state, created, deleted }) => [id, state, created, deleted]),
        [...seen].sort(),
        [...pending.values()].map(({ who, what }) => [who, what]).sort(),
      ]),
    history: () => ({
      world,
      scenario: { maxRunHours, nights: [] } as unknown as History['scenario'],
      policies: [
        {
          ...policy,
          index,
          minDeletePercent: 10,
          maxDeletePercent: undefined,
          timeoutSeconds: undefined,
          enabled: true,
          twice: false,
        },
      ],
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

interface Controlled {
  pending: Map<string, Pending>;
  /** What each function has learnt, in order: the rest of its behaviour follows from that. */
  seen: Map<string, string>;
  /** True: nothing is asked, everything goes well. */
  automatic: boolean;
  looks: number;
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

function begun(world: World, step: StepName, runId: string): InvocationInfo {
  const startedAt = world.time.now();
  const deadline = startedAt + functionTimeoutSeconds[step] * 1000;
  const invocation = { id: world.nextInvocation(), step, runId, startedAt, deadline };
  world.journal.push({ at: startedAt, kind: 'invocation', invocation });
  return invocation;
}

function execute(world: World, runId: string, startTime: string, state: RunState, controlled: Controlled) {
  const done = { ended: false };
  let calls = 0;
  const late = () => calls > 1 + controlled.looks;
  executeWorkflow(
    { Execution: { Name: runId, StartTime: startTime, Input: {} } },
    { state: 'NextStep', input: state },
    {
      now: world.time.now,
      random: () => 1,
      entered(name, given) {
        if (name === 'NextStep')
          world.journal.push({ at: world.time.now(), kind: 'taken', runId, state: given as RunState });
      },
      async sleep(millis) {
        const until = world.time.now() + millis;
        if (controlled.automatic) return world.time.sleep(millis);
        await asked(controlled, `${runId} workflow`, `wait ${millis}`, ['go'], late(), () =>
          world.time.runUntil(Math.max(until, world.time.now())),
        );
      },
      call(resource, input) {
        const step = resource.slice(2, -'FunctionArn}'.length).toLowerCase() as StepName;
        const invocation = begun(world, step, runId);
        if (step === 'report') {
          const made = composeReport(input as ReportEvent, {
            settings: world.settings(),
            clock: { now: world.time.now, realNow: world.time.now },
            log: world.log,
          });
          world.publish(runId, made);
          return Promise.resolve(made);
        }
        return new Promise((resolve, reject) => {
          const who = `${runId} ${step} ${++calls}`;
          const services = servicesOf(world, invocation, who, controlled, late(), reject);
          (step === 'truncate' ? truncate : poll)(input as RunState, services).then((output) => {
            controlled.seen.delete(who);
            // The run state is all that an execution carries on.
            controlled.seen.set(runId, JSON.stringify(output));
            world.journal.push({ at: world.time.now(), kind: 'state', invocation, state: output });
            resolve(output);
          }, reject);
        });
      },
    },
  ).then(({ status, events }) => {
    done.ended = true;
    world.journal.push({ at: world.time.now(), kind: 'ended', runId, how: status, events });
  });
  return done;
}

/** Hands an await to the explorer. */
function asked<T>(
  controlled: Controlled,
  who: string,
  what: string,
  choices: readonly string[],
  late: boolean,
  decide: (choice: string) => Decided<T> | Promise<Decided<T>>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    controlled.pending.set(who, {
      who,
      what,
      choices,
      late,
      async decide(choice) {
        controlled.pending.delete(who);
        try {
          const result = await decide(choice);
          // Nothing returns into a function that is dead.
          if (result === dead) return;
          if (result instanceof Later) return resolve(result.answer());
          note(controlled, who, `${what} ${choice} ${JSON.stringify(result ?? null)}`);
          resolve(result as T);
        } catch (error) {
          note(controlled, who, `${what} ${choice} ${(error as Error).message}`);
          reject(error);
        }
      },
    });
  });
}

const note = ({ seen }: Controlled, who: string, what: string) => {
  seen.set(
    who,
    createHash('sha1')
      .update(`${seen.get(who) ?? ''} ${what}`)
      .digest('base64'),
  );
};

const dead = Symbol('dead');
/** It is asked once more, and may be decided when much else has happened. */
class Later<T> {
  readonly answer: () => Promise<T>;
  constructor(answer: () => Promise<T>) {
    this.answer = answer;
  }
}
type Decided<T> = T | typeof dead | Later<T>;

/** @param fail fails the function's call, whatever the function goes on to do */
function servicesOf(
  world: World,
  invocation: InvocationInfo,
  who: string,
  controlled: Controlled,
  late = false,
  fail: (error: Error) => void = () => {},
): RunServices {
  const { time, engine } = world;
  const faults = invocation.step === 'truncate' ? ['crash', 'given up'] : ['crash'];
  let ids = 0;

  /** One await. `effect` is what it does; `also` are faults of its own, with what the function gets to see. */
  const at = async <T>(
    what: string,
    effect: () => T | Promise<T>,
    also: Record<string, () => Promise<T>> = {},
  ): Promise<T> => {
    if (controlled.automatic) return effect();
    const choose = (faults: string[]): Promise<T> =>
      asked(controlled, who, what, ['go', ...Object.keys(also), ...faults], late, async (choice) => {
        switch (choice) {
          case 'crash':
            fail(named('Runtime.ExitError'));
            return dead;
          case 'crash after':
            await effect();
            fail(named('Runtime.ExitError'));
            return dead;
          // The call is given up by its caller, and the function goes on, whenever that may be.
          case 'given up':
            fail(named('Lambda.ServiceException'));
            return new Later(() => choose([]));
          default:
            return (also[choice] ?? effect)();
        }
      });
    return choose(faults);
  };
  const write = (what: string, effect: () => Promise<boolean>) =>
    at(what, effect, {
      refused: () => Promise.reject(new LedgerError(what)),
      'answer lost': async () => {
        await effect();
        throw new LedgerError(what);
      },
      'crash after': effect,
    });

  const transport: Transport = {
    post: (exchange) =>
      at(`ask ${new URL(exchange.url).searchParams.get('action')}`, () => {
        const reply = world.handle(exchange);
        world.readAnswered(invocation, exchange, reply);
        return answer(reply);
      }),
    postOnce: (exchange, maySend) => {
      const sent = (acts: boolean): Answer | undefined => {
        if (!maySend()) throw new TransportError('withheld', false);
        const track = world.sent(invocation, exchange);
        return acts ? act(world, track, exchange) : undefined;
      };
      const lost = async (acts: boolean): Promise<Answer> => {
        sent(acts);
        throw new TransportError('reset', true);
      };
      return at<Answer>('truncate', () => sent(true)!, {
        'lost before': () => lost(false),
        'lost after': () => lost(true),
        rejected: async () => {
          sent(false);
          return { status: 429, headers: {}, body: 'Too many requests', complete: true };
        },
        '504 after': async () => {
          sent(true);
          return { status: 504, headers: {}, body: 'Proxy request timed out.', complete: true };
        },
        'fails half-way': async () => {
          engine.set({ reindexFailsAfterSwap: 400 });
          try {
            return sent(true)!;
          } finally {
            engine.set({ reindexFailsAfterSwap: undefined });
          }
        },
        'crash after': async () => sent(true)!,
      });
    },
  };
  const token = { get: async () => engine.token, reread: async () => engine.token };
  return {
    settings: world.settings(),
    parameters: { policies: async () => world.policies(), paused: () => at('pause', () => false), token },
    operations: createOperations({
      baseUrl: world.settings().gmsUrl,
      token,
      transport,
      attempts: 1,
      realNow: time.now,
      sleep: time.sleep,
      random: () => 0,
    }),
    ledger: {
      read: (key) => at('ledger read', () => world.ledger.read(key)),
      list: () => at('ledger list', () => world.ledger.list()),
      replace: (previous, next: LedgerRecord) =>
        write(`ledger ${next.state}`, () => world.replace(invocation, previous, next)),
      claimScheduledTime: (scheduled, runId) => world.ledger.claimScheduledTime(scheduled, runId),
    },
    surroundings: { place: 'lambda', lookup: async () => ['192.0.2.1'] },
    clock: { now: time.now, realNow: time.now },
    log: world.log,
    newId: () => `${who} ${++ids}`,
    deadline: () => invocation.deadline,
  };
}

function act(world: World, track: Parameters<World['rows']['truncate']>[0], exchange: Exchange): Answer {
  let reply: Reply | undefined;
  world.rows.truncate(track, () => {
    reply = world.handle(exchange);
  });
  return answer(reply!);
}

function answer(reply: Reply): Answer {
  if (reply.kind !== 'reply') throw new TransportError('reset', true);
  const headers = Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { status: reply.status, headers, body: reply.body, complete: true };
}
