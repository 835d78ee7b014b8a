import type { Chances } from './chances.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * A search engine as far as a truncation can see it: aliases, physical indices, rows with a timestamp, a refresh that
 * comes later than the change, and tasks that delete or reindex in batches. Times are epoch milliseconds.
 */
export interface Engine {
  /** The physical index behind an alias; undefined if there is none. */
  behind(alias: string): Physical | undefined;
  aliases(): string[];
  create(alias: string, timestamps: readonly number[]): Physical;
  /** Points the alias to another physical index. */
  point(alias: string, physical: Physical): void;
  drop(alias: string): void;
  write(alias: string, timestamps: readonly number[]): void;
  remove(physical: Physical, row: Row, by: Task | 'others'): void;
  /** Rows that a search finds now. */
  found(physical: Physical): Row[];
  /** Rows that are there, found or not. */
  present(physical: Physical): Row[];
  /** Starts deleting rows at or before the cutoff. */
  startDelete(physical: Physical, cutoffMillis: number, pace: Pace): Task;
  /** Starts a reindex of rows newer than the cutoff into another physical index. */
  startReindex(source: Physical, target: Physical, cutoffMillis: number, pace: Pace): Task;
  newPhysical(alias: string): Physical;
  /** What is still running dies; its record is gone. */
  restart(): void;
  cancel(): void;
  tasks: Task[];
  /** Milliseconds between refreshes. */
  refreshMillis: number;
  /** Called just before an alias leaves a physical index. */
  leaving: (physical: Physical) => void;
}

export interface Row {
  id: number;
  timestamp: number;
  writtenAt: number;
  removed?: { at: number; by: Task | 'others' };
}

export interface Physical {
  name: string;
  alias: string;
  rows: Map<number, Row>;
  /** Nothing becomes visible from this moment on. */
  refreshOffSince?: number;
  /** A refresh in between the regular ones. */
  refreshedAt: number;
  /** Unavailable shards, out of five; their rows are not found, and nothing says so. */
  awayShards?: readonly number[];
}

/** How a task goes. */
export interface Pace {
  /** From its start to its end. */
  millis: number;
  /** It stops after this share of its rows: it dies, is cancelled, or says that it has completed. */
  endsAt?: { share: number; as: 'dead' | 'cancelled' | 'completed' } | undefined;
  /** It stands still for this long after half of its batches. */
  hangMillis?: number;
  /** It goes on for this long after its last row is done. */
  lingerMillis?: number;
  /** The most batches that it works in. */
  batches?: number;
  /** This share of its rows fails, one by one. */
  fails?: number;
  /** Called when half of its batches are done. */
  atHalf?: (() => void) | undefined;
  /** Called when its status says that it has completed. @param isShort it has ended before its last row */
  whenDone?: ((isShort: boolean) => void) | undefined;
}

export interface Task {
  id: string;
  kind: 'delete' | 'reindex';
  alias: string;
  state: 'running' | 'completed' | 'gone';
  cancelled?: boolean;
  source: Physical;
  target?: Physical;
  total: number;
  deleted: number;
  created: number;
  /** Rows that another process had changed, or that failed. */
  conflicts: number;
  /** Rows at or before the cutoff in the source of a reindex, which some servers count. */
  old: number;
  /** A reindex is still to take the place of its source. */
  waits?: boolean;
  startedAt: number;
  movedAt: number;
  endedAt?: number;
}

const mostBatches = 12;

export function createEngine(time: VirtualTime, chances: Chances): Engine {
  const aliases = new Map<string, Physical>();
  let rowIds = 0;
  let indexIds = 0;
  let taskIds = 0;

  const engine: Engine = {
    tasks: [],
    refreshMillis: 1000,
    leaving: () => {},
    behind: (alias) => aliases.get(alias),
    aliases: () => [...aliases.keys()],
    newPhysical: (alias) => ({ name: `${alias}_${++indexIds}`, alias, rows: new Map(), refreshedAt: 0 }),
    create(alias, timestamps) {
      const physical = engine.newPhysical(alias);
      aliases.set(alias, physical);
      engine.write(alias, timestamps);
      return physical;
    },
    point(alias, physical) {
      const before = aliases.get(alias);
      if (before) engine.leaving(before);
      aliases.set(alias, physical);
    },
    drop(alias) {
      const before = aliases.get(alias);
      if (before) engine.leaving(before);
      aliases.delete(alias);
    },
    write(alias, timestamps) {
      const physical = aliases.get(alias);
      for (const timestamp of physical ? timestamps : []) {
        const id = ++rowIds;
        physical?.rows.set(id, { id, timestamp: Math.floor(timestamp), writtenAt: time.now() });
      }
    },
    remove(_physical, row, by) {
      row.removed ??= { at: time.now(), by };
    },
    found(physical) {
      const until = lastRefresh(physical, time.now(), engine.refreshMillis);
      return [...physical.rows.values()].filter(
        ({ id, writtenAt, removed }) =>
          writtenAt <= until && (removed === undefined || removed.at > until) && !physical.awayShards?.includes(id % 5),
      );
    },
    present: (physical) => [...physical.rows.values()].filter(({ removed }) => removed === undefined),
    startDelete(physical, cutoffMillis, pace) {
      const rows = engine.found(physical).filter(({ timestamp }) => timestamp <= cutoffMillis);
      const task = begun('delete', physical, rows.length);
      return work(task, rows, pace, (row) => {
        if (row.removed) {
          task.conflicts++;
          return;
        }
        engine.remove(physical, row, task);
        task.deleted++;
      });
    },
    startReindex(source, target, cutoffMillis, pace) {
      const found = engine.found(source);
      const rows = found.filter(({ timestamp }) => timestamp > cutoffMillis);
      const task = begun('reindex', source, rows.length);
      task.old = found.length - rows.length;
      task.target = target;
      return work(task, rows, pace, ({ id, timestamp }) => {
        if (!target.rows.has(id)) target.rows.set(id, { id, timestamp, writtenAt: time.now() });
        task.created++;
      });
    },
    restart() {
      for (const task of engine.tasks) if (task.state === 'running') end(task, 'gone');
    },
    cancel() {
      for (const task of engine.tasks) {
        if (task.state !== 'running') continue;
        end(task, 'completed', true);
        task.waits = false;
      }
    },
  };

  function begun(kind: Task['kind'], source: Physical, total: number): Task {
    const now = time.now();
    const counters = { total, deleted: 0, created: 0, conflicts: 0, old: 0 };
    const id = `node:${++taskIds}`;
    const task: Task = {
      id,
      kind,
      alias: source.alias,
      state: 'running',
      source,
      ...counters,
      startedAt: now,
      movedAt: now,
    };
    engine.tasks.push(task);
    return task;
  }

  /** Works through the rows in batches, each after its share of the time. */
  function work(task: Task, rows: Row[], pace: Pace, one: (row: Row) => void): Task {
    const { millis, endsAt, hangMillis = 0, fails = 0, atHalf, whenDone } = pace;
    const batches = Math.max(1, Math.min(pace.batches ?? mostBatches, rows.length));
    let { lingerMillis = 0 } = pace;
    const last = endsAt ? Math.floor(rows.length * endsAt.share) : rows.length;
    let done = 0;
    let batch = 0;
    const next = () => {
      if (task.state !== 'running') return;
      batch++;
      const until = Math.min(last, Math.ceil((rows.length * batch) / batches));
      for (; done < until; done++) {
        const row = rows[done];
        if (row === undefined) break;
        if (chances.happens(fails)) task.conflicts++;
        else one(row);
      }
      task.movedAt = time.now();
      const isHalf = batch === Math.ceil(batches / 2);
      if (isHalf) atHalf?.();
      if (done >= last && lingerMillis > 0) {
        time.at(time.now() + lingerMillis, next);
        lingerMillis = 0;
      } else if (done >= last) {
        end(task, endsAt?.as === 'dead' ? 'gone' : 'completed', endsAt?.as === 'cancelled');
        if (endsAt?.as !== 'dead') whenDone?.(endsAt !== undefined);
      } else time.at(time.now() + millis / batches + (isHalf ? hangMillis : 0), next);
    };
    time.at(time.now() + millis / batches, next);
    return task;
  }

  function end(task: Task, state: 'completed' | 'gone', cancelled = false): void {
    task.state = state;
    if (cancelled) task.cancelled = true;
    task.endedAt = time.now();
    // The new index of a reindex that died is never put in place.
    if (state === 'gone') task.waits = false;
  }

  return engine;
}

/** Changes at or before this moment are visible. */
function lastRefresh({ refreshOffSince, refreshedAt }: Physical, now: number, interval: number): number {
  const until = refreshOffSince === undefined ? now : Math.min(now, refreshOffSince);
  return Math.max(refreshedAt, until - (until % interval));
}
