import { createRandom, randomText, randomUuid } from '../../../cli/operations-service/random.ts';
import { type SampleIndex, sampleIndices } from '../../../cli/operations-service/samples.ts';
import { type Behaviour, specified } from './behaviour.ts';
import type { Asked, FaultDecision, IncomingRequest, Reply } from './exchange.ts';
import { Cluster } from './simulated/cluster.ts';
import { addIndex } from './simulated/load.ts';
import { simulatedEngine } from './simulated/search-engine.ts';
import type { Simulation } from './simulated/simulation.ts';
import { type Front, receive } from './wire/front.ts';
import { atOnce } from './wire/steps.ts';
import { renamedTask } from './wire/task-ids.ts';

export interface EngineOptions {
  /** Default: the specification. */
  behaviour?: Behaviour;
  /** The same seed gives the same rows, ids and conflicts. Default 1. */
  seed?: number;
  /** Epoch milliseconds; default: real time. */
  clock?: { now(): number };
  /** Default: the sample indices. */
  indices?: readonly SampleIndex[];
  /** The accepted bearer token; default: derived from the seed. */
  token?: string;
}

/** Answers requests, whatever search engine is behind it. */
export interface RequestHandler {
  readonly token: string;
  /** The last requests, oldest first: at least 10,000. */
  readonly asked: readonly Asked[];
  handle(request: IncomingRequest): Reply | Promise<Reply>;
}

/**
 * The operations service without a network and without timers: `handle` answers at once, and on every request its tasks
 * have progressed as far as the clock says. Weeks of a virtual clock therefore pass in milliseconds.
 */
export interface Engine extends RequestHandler {
  readonly behaviour: Readonly<Behaviour>;
  /** Rows and tasks, brought to the present by `advance`. */
  readonly simulation: Simulation;
  advance(): void;
  /** Decides what happens to single requests; a test may set and replace it at any time. */
  onRequest: ((request: IncomingRequest) => FaultDecision | undefined) | undefined;
  handle(request: IncomingRequest): Reply;
  set(changes: Partial<Behaviour>): void;
}

/**
 * A real server does not send this header: it says that the rows are expendable, so that a run may shorten its waits.
 */
const sampleHeaders = { 'X-Sample-Data': 'true' };

export function createEngine(options: EngineOptions = {}): Engine {
  const seed = options.seed ?? 1;
  const clock = options.clock ?? { now: () => Date.now() };
  const random = createRandom(seed);
  const nodeId = randomText(random, 22);
  const token = options.token ?? `sample-${randomText(random, 32)}`;
  const asked: Asked[] = [];
  const cluster = new Cluster(clock.now());
  const advance = () => cluster.advance(clock.now());
  const simulation = simulate(cluster, {
    behaviour: options.behaviour ?? specified,
    seed,
    nodeId,
    firstNumber: 100_000 + Math.floor(random() * 800_000),
    uuid: () => randomUuid(random),
  });
  const front: Front = {
    server: simulation,
    token,
    asked,
    headers: sampleHeaders,
    now: () => cluster.now,
    onRequest: (request) => engine.onRequest?.(request),
    schedule: (afterMillis, act) => cluster.schedule(cluster.now + afterMillis, () => atOnce(act())),
  };

  const engine: Engine = {
    simulation,
    advance,
    token,
    get behaviour() {
      return simulation.behaviour;
    },
    asked,
    onRequest: undefined,
    handle(request) {
      advance();
      return atOnce(receive(front, request));
    },
    set(changes) {
      advance();
      simulation.behaviour = { ...simulation.behaviour, ...changes };
      cluster.refreshMillis = simulation.behaviour.refreshSeconds * 1000;
      if (changes.aliasBacked !== undefined) cluster.nameAll(changes.aliasBacked);
    },
  };

  engine.set({});
  for (const index of options.indices ?? sampleIndices()) addIndex(simulation, index);
  return engine;
}

interface Node {
  behaviour: Behaviour;
  seed: number;
  nodeId: string;
  firstNumber: number;
  uuid(): string;
}

function simulate(cluster: Cluster, { behaviour, seed, nodeId, firstNumber, uuid }: Node): Simulation {
  let number = firstNumber;
  let serial = 0;
  let filled = false;
  const below: Omit<Simulation, 'engine'> = {
    behaviour,
    cluster,
    seed,
    ages: createRandom(seed),
    newTask: () => ({ nodeId, number: ++number, serial: ++serial }),
    restartNumbers() {
      if (simulation.behaviour.taskNumbersRestart) number = firstNumber;
    },
    fillDisk() {
      if (filled) return;
      filled = true;
      cluster.flooded = true;
    },
    answeredTaskId: (names, id) => renamedTask(simulation.behaviour.taskIds, names, id, uuid),
  };
  const simulation: Simulation = Object.assign(below, { engine: simulatedEngine(below) });
  return simulation;
}
