import type { SampleIndex } from '../../cli/operations-service/samples.ts';
import { type OperationsService, startOperationsService } from '../operations-service/server.ts';
import { type Behaviour, specified } from '../operations-service/simulation/behaviour.ts';
import type { Asked, FaultDecision, IncomingRequest } from '../operations-service/simulation/exchange.ts';

/**
 * The server of the tests: the embedded service over real HTTP, and what tests do to it behind its back. The only file
 * of these tests that knows how the service is built.
 */
export interface StandIn {
  url: string;
  token: string;
  /** Requests so far, oldest first, with their parsed bodies. */
  asked(): readonly Asked[];
  /** Rows that are there, whether a search finds them or not. */
  rows(index: string): { id: number; timestamp: number }[];
  addRows(index: string, timestamps: readonly number[]): void;
  /** Others delete rows. */
  removeRows(index: string, which: (row: { id: number; timestamp: number }) => boolean): void;
  /** `datahub-gc` truncates everything to 30 days, which an old server does by copying. */
  runGc(): void;
  /** Others reindex: everything is copied into a new index, as an upgrade does that blocks writes. */
  replaceIndex(index: string): void;
  /** An upgrade without downtime begins to copy now; the function that is returned puts the copy in place. */
  beginUpgrade(index: string): () => void;
  deleteIndex(index: string): void;
  restartNode(): void;
  cancelTasks(): void;
  /** Whether searches see what changes from now on. */
  refreshing(index: string, on: boolean): void;
  /** One of this many shards is away: its rows are not found, and nothing says so. */
  shardAway(index: string, shards: number | undefined): void;
  /** `name` or `name=value`, as `npm run operations-service -- --help` lists them. */
  fault(text: string): void;
  /** Behaves as specified again; what is between us and the server is gone, too. */
  mend(): void;
  set(changes: Partial<Behaviour>): void;
  /** Decides about single requests: what is between us and the server. */
  between(decide: ((request: IncomingRequest) => FaultDecision | undefined) | undefined): void;
  /** Does something when its clock shows `at`, epoch milliseconds. */
  schedule(at: number, act: () => void): void;
  close(): Promise<void>;
}

export interface StandInOptions {
  clock: { time: number };
  indices: readonly SampleIndex[];
  faults?: readonly string[];
  /** A release of DataHub; by default the specification, literally. */
  profile?: NonNullable<Parameters<typeof startOperationsService>[0]>['profile'];
  token?: string;
}

export async function startStandIn({ clock, ...options }: StandInOptions): Promise<StandIn> {
  const service: OperationsService = await startOperationsService({ ...options, clock: { now: () => clock.time } });
  const { engine } = service;
  return {
    url: service.url,
    token: service.token,
    asked: () => engine.asked,
    rows: (index) => engine.rows(index),
    addRows: (index, timestamps) => void engine.addRows(index, timestamps),
    removeRows: (index, which) => void engine.removeRows(index, which),
    runGc: () => void engine.runGc(30),
    replaceIndex: (index) => engine.upgradeIndex(index),
    beginUpgrade: (index) => engine.beginUpgrade(index),
    deleteIndex(index) {
      const found = engine.indices().find((one) => one.index?.toLowerCase() === index.toLowerCase());
      if (found) engine.deleteIndex(found.name);
    },
    restartNode: () => engine.restartNode(),
    cancelTasks() {
      for (const { id, state } of engine.tasks()) if (state === 'running') engine.cancelTask(id);
    },
    refreshing: (index, on) => engine.refreshing(index, on),
    shardAway: (index, shards) => engine.shardAway(index, shards),
    fault: (text) => engine.fault(text),
    mend() {
      engine.set(specified);
      engine.onRequest = undefined;
    },
    set: (changes) => engine.set(changes),
    between(decide) {
      engine.onRequest = decide;
    },
    schedule: (at, act) => engine.schedule(at, act),
    close: () => service.close(),
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
