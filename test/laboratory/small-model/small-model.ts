import { executeWorkflow, stepOf, type WorkflowHost } from '../../../cli/run/state-machine.ts';
import type { Mode } from '../../../lambda/model/run-input.ts';
import { asMarkEvent } from '../../../lambda/run/mark-reported.ts';
import { takeStep } from '../../support/steps.ts';
import { answers, namesOf } from '../alphabet/answers.ts';
import { kinds } from '../alphabet/server.ts';
import { firstNight, type History } from '../histories/history.ts';
import { policyOf, written } from '../histories/policies.ts';
import { begin as begun } from '../world/invocation.ts';
import { plain } from '../world/server.ts';
import { servicesOf } from '../world/services.ts';
import { createWorld, type World } from '../world/world.ts';
import { controlledInvocation } from './functions.ts';
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
  /** The same at any later moment, when more old rows have come in. */
  beginLater(runId: string, mode: Mode): void;
  /** Plays one more execution to the end, with every await going well. */
  night(runId: string): Promise<void>;
}

export interface SmallOptions {
  server: keyof typeof kinds;
  /** Polls of each execution in which anything may happen; later ones wait for everything else, and go well. */
  checks: number;
  /** When the second execution begins: before the first has sent anything, or at any moment; it may be a preview. */
  second: 'at once' | 'at any time' | 'a preview at any time';
  /** What a client may get instead of the server's own answer. */
  answers: keyof typeof answersOf;
}

/** What a client may get: the server's own answer, one of each kind that the core distinguishes, or every one. */
const answersOf = {
  own: ['own'],
  few: ['own', '403', '504', 'reset'],
  every: namesOf(answers).filter((answer) => !['slow', 'time-out', 'body lost'].includes(answer)),
} as const;

const day = 86_400_000;
const maxRunHours = 12;
/** A server acts within 20 minutes of the call, or never. */
const longestMillis = 20 * 60_000;

export function createSmallModel({ server, checks, answers: which }: SmallOptions): SmallModel {
  const aged = (count: number, days: number) =>
    Array.from({ length: count }, (_, row) => firstNight - days * day - row);
  const policy = policyOf(['dataset', 'operation'], { retentionDays: 30, batchSize: 10 });
  const settings = {
    stage: 'small',
    gmsUrl: 'http://gms.test:8080',
    mode: 'enforce',
    minRetentionDays: 7,
    maxRunHours,
  } as const;
  const world = createWorld({ seed: 1, start: firstNight, policies: [written(policy)], settings });
  const { engine } = world.server;
  engine.create(policy.index, [...aged(20, 60), ...aged(20, 5)]);
  // A task takes 12 s, so checks happen while it runs.
  world.server.behavior = { ...plain, ...kinds[server], pace: { millis: 12_000 } };
  const controlled: Controlled = { pending: new Map(), seen: new Map(), automatic: false, answers: answersOf[which] };
  let lateOnes = 0;
  world.actLater = (_at, act) => {
    world.time.at(world.time.now() + longestMillis - 1, act);
    void asked(controlled, { who: `server ${++lateOnes}`, what: 'acts late', choices: ['go'], late: false }, act);
  };

  const begin = async (runId: string, mode: Mode = 'enforce') => {
    const runStartMillis = world.time.now();
    const run = { runId, runStartMillis };
    world.journal.push({ at: runStartMillis, kind: 'execution', ...run, input: { mode } });
    const startTime = new Date(runStartMillis).toISOString();
    const caller = { ...run, settings: () => world.settings };
    let ended: Promise<void> = Promise.resolve();
    let calls = 0;
    const late = () => calls > 2 + checks;
    const isPlanned = new Promise<void>((resolve) => {
      ended = new Promise<void>((end) => {
        const over = (how: 'succeeded' | 'failed' | 'stopped') => {
          world.journal.push({ at: world.time.now(), kind: 'ended', ...run, how });
          end();
        };
        const host: WorkflowHost = {
          random: () => 1,
          entered(name, state) {
            if (name !== 'NextStep') return;
            resolve();
            world.journal.push({ at: world.time.now(), kind: 'taken', ...run, state: state as never });
          },
          async sleep(millis) {
            const until = world.time.now() + millis;
            if (controlled.automatic) return world.time.sleep(millis);
            const wait = { who: `${runId} workflow`, what: `wait ${millis}`, choices: ['go'], late: late() };
            await asked(controlled, wait, () => world.time.runUntil(Math.max(until, world.time.now())));
          },
          call: (resource, input) =>
            new Promise((carryOn, reject) => {
              const step = stepOf(resource);
              const info = begun(world, step, caller);
              const who = `${runId} ${step} ${++calls}`;
              // Plan goes well: the choices begin after it. Report and MarkReported always have choices.
              const given = step === 'plan' ? { ...controlled, automatic: true } : controlled;
              const isPoll = step === 'poll' && !asMarkEvent(input);
              const stop = () => over('stopped');
              const options = { world, info, who, controlled: given, late: isPoll && late(), fail: reject, stop };
              takeStep(step, input, servicesOf(controlledInvocation(options))).then((output) => {
                controlled.seen.delete(who);
                // An execution carries over only the run state.
                controlled.seen.set(runId, JSON.stringify(output ?? null));
                carryOn(output);
              }, reject);
            }),
        };
        const context = { Execution: { Name: runId, StartTime: startTime, Input: {} } };
        executeWorkflow(context, { input: { mode } }, host).then(
          () => over('succeeded'),
          () => over('failed'),
        );
      });
    });
    await isPlanned;
    return { ended };
  };

  return {
    world,
    pending: controlled.pending,
    key: () =>
      JSON.stringify([
        world.time.now() - firstNight,
        [...world.ledger.stored.values()],
        engine.aliases().map((alias) => engine.behind(alias)?.name),
        engine.tasks.map(({ id, state, created, deleted }) => [id, state, created, deleted]),
        [...controlled.seen].sort(),
        world.journal.flatMap((event) => (event.kind === 'published' ? [event.runId] : [])).sort(),
        [...controlled.pending.values()].map(({ who, what }) => [who.replace(/server \d+/, 'server'), what]).sort(),
      ]),
    history: () => ({ world, policies: [policy], maxRunHours }),
    async begin(runId) {
      await world.time.sleep(1000);
      await begin(runId);
    },
    beginLater(runId, mode) {
      void asked(controlled, { who: `${runId} begins`, what: 'its Plan', choices: ['go'], late: false }, async () => {
        await world.time.runUntil(world.time.now() + 1000);
        engine.write(policy.index, aged(20, 60));
        await begin(runId, mode);
      });
    },
    async night(runId) {
      controlled.automatic = true;
      await world.time.sleep(1000);
      const { ended } = await begin(runId);
      await ended;
    },
  };
}
