import type { SampleIndex } from '../../cli/embedded-service/samples.ts';
import type { Engine, EngineOptions } from '../simulated-gms/engine.ts';
import { startSimulatedGms } from '../simulated-gms/server.ts';
import { specified } from '../simulated-gms/simulation/behavior.ts';
import type { Asked } from '../simulated-gms/simulation/exchange.ts';

/**
 * The server of the tests: the simulated service over real HTTP, and what tests do to it behind its back. The only file
 * of these tests that knows how the service is built.
 */
export interface StandIn extends Pick<Engine, (typeof ofEngine)[number]> {
  url: string;
  token: string;
  /** Requests so far, oldest first, with their parsed bodies. */
  asked(): readonly Asked[];
  /** Others reindex: everything is copied into a new index, as an upgrade does that blocks writes. */
  replaceIndex(index: string): void;
  deleteIndex(index: string): void;
  /** Behaves as specified again; what is between us and the server is gone, too. */
  mend(): void;
  /** Decides about single requests: what is between us and the server. */
  between(decide: Engine['onRequest']): void;
  close(): Promise<void>;
}

const ofEngine = [
  'indices',
  'rows',
  'addRows',
  'removeRows',
  'runGc',
  'beginUpgrade',
  'restartNode',
  'refreshing',
  'shardAway',
  'fault',
  'set',
  'schedule',
] as const;

export interface StandInOptions {
  clock: { time: number };
  indices: readonly SampleIndex[];
  faults?: readonly string[];
  /** A release of DataHub; by default the specification, literally. */
  profile?: EngineOptions['profile'];
  token?: string;
}

export async function startStandIn({ clock, ...options }: StandInOptions): Promise<StandIn> {
  const { url, token, engine, close } = await startSimulatedGms({
    ...options,
    clock: { now: () => clock.time },
  });
  const same = Object.fromEntries(ofEngine.map((name) => [name, engine[name]])) as Pick<
    Engine,
    (typeof ofEngine)[number]
  >;
  return {
    ...same,
    url,
    token,
    asked: () => engine.asked,
    replaceIndex: (index) => engine.upgradeIndex(index),
    deleteIndex(index) {
      const found = engine.indices().find((one) => one.index?.toLowerCase() === index.toLowerCase());
      if (found) engine.deleteIndex(found.name);
    },
    mend() {
      engine.set(specified);
      engine.onRequest = undefined;
    },
    between(decide) {
      engine.onRequest = decide;
    },
    close,
  };
}

const day = 86_400_000;

/** An index with rows of 90 to 31 days before `now`, and of the last 20 days. */
export function anIndexOf(
  old: number,
  fresh: number,
  { aspect = 'operation', entityType = 'dataset', now = firstRun } = {},
): SampleIndex {
  const spread = (count: number, from: number, to: number) =>
    Array.from({ length: count }, (_, row) => now - Math.round((from - ((from - to) * row) / count) * day));
  return { entityType, aspect, timestamps: [...spread(old, 90, 31), ...spread(fresh, 20, 0.5)] };
}

/** Where virtual time begins. */
export const firstRun = Date.UTC(2026, 2, 1, 3, 30);
