import { createRandom, type Random } from '../../cli/embedded-service/random.ts';
import { type SampleIndex, sampleIndices } from '../../cli/embedded-service/samples.ts';
import { parseFault } from './faults.ts';
import { type ProfileName, profileNamed } from './profiles.ts';
import type { Behavior } from './simulation/behavior.ts';
import type { Asked, FaultDecision, IncomingRequest, Reply, RequestHandler } from './simulation/exchange.ts';
import { Cluster } from './simulation/simulated/cluster.ts';
import { addIndex } from './simulation/simulated/load.ts';
import { simulatedEngine } from './simulation/simulated/search-engine.ts';
import type { Simulation } from './simulation/simulated/simulation.ts';
import { type Front, receive } from './simulation/wire/front.ts';
import { atOnce } from './simulation/wire/steps.ts';
import { createWorkbench, type Workbench } from './workbench.ts';

/** The simulation for tests: any of the servers found in practice, with its faults and a workbench. */

export interface EngineOptions {
  /** Default: `plain`. */
  profile?: ProfileName;
  /** `NAME` or `NAME=VALUE`, applied in order. */
  faults?: readonly string[];
  /** Epoch milliseconds; default: real time. */
  clock?: { now(): number };
  /** Default: the sample indices. */
  indices?: readonly SampleIndex[];
  /** The accepted bearer token; default: the same for each engine. */
  token?: string;
}

/**
 * The operations service without a network and without timers: `handle` answers at once, and on every request its tasks
 * have progressed as far as the clock says. Weeks of a virtual clock therefore pass in milliseconds.
 */
export interface Engine extends RequestHandler, Workbench {
  /** Decides what happens to single requests; a test may set and replace it at any time. */
  onRequest: ((request: IncomingRequest) => FaultDecision | undefined) | undefined;
  handle(request: IncomingRequest): Reply;
  set(changes: Partial<Behavior>): void;
  /** Switches a fault on by its name (`abort-at=0.5`). Throws FaultError. */
  fault(text: string): void;
}

/** Says that the rows are expendable, so that a run may shorten its waits; a real server does not send it. */
const sampleHeaders = { 'X-Sample-Data': 'true' };

/** Every service has the same rows, ids and conflicts. */
const seed = 1;

/** @throws FaultError for an unknown fault */
export function createEngine(options: EngineOptions = {}): Engine {
  const { clock = { now: () => Date.now() }, profile = 'plain', faults = [] } = options;
  const random = createRandom(seed);
  const nodeId = randomText(random, 22);
  const token = options.token ?? `sample-${randomText(random, 32)}`;
  const firstNumber = 100_000 + Math.floor(random() * 800_000);
  const asked: Asked[] = [];
  const cluster = new Cluster(clock.now());
  const advance = () => cluster.advance(clock.now());
  let serial = 0;
  const below: Omit<Simulation, 'engine'> = {
    behavior: profileNamed(profile).behavior,
    cluster,
    seed,
    ages: createRandom(seed),
    newTask: () => ({ serial: ++serial, id: `${nodeId}:${firstNumber + serial}` }),
    uuid: () => randomUuid(random),
  };
  const simulation: Simulation = Object.assign(below, { engine: simulatedEngine(below) });
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
    ...createWorkbench(simulation, advance),
    token,
    asked,
    onRequest: undefined,
    handle(request) {
      advance();
      return atOnce(receive(front, request));
    },
    set(changes) {
      advance();
      simulation.behavior = { ...simulation.behavior, ...changes };
      cluster.refreshMillis = simulation.behavior.refreshSeconds * 1000;
      if (changes.aliasBacked !== undefined) cluster.nameAll(changes.aliasBacked);
    },
    fault(text) {
      engine.set(parseFault(text, simulation.behavior));
    },
  };
  engine.set({});
  // Faults come before the indices, because some decide what an index is like.
  for (const text of faults) engine.fault(text);
  for (const index of options.indices ?? sampleIndices()) addIndex(simulation, index);
  return engine;
}

/** A UUID (version 4). */
function randomUuid(random: Random): string {
  const hex = (length: number) => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-${'89ab'[Math.floor(random() * 4)]}${hex(3)}-${hex(12)}`;
}

const urlSafe = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** URL-safe base64 characters, like Elasticsearch's node ids. */
const randomText = (random: Random, length: number): string =>
  Array.from({ length }, () => urlSafe[Math.floor(random() * urlSafe.length)]).join('');
