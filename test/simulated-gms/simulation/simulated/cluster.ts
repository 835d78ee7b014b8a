import { RowStore } from './rows.ts';
import type { Task } from './task.ts';

/** A real index of the search engine. */
export interface PhysicalIndex {
  /** `dataset_operationaspect_v1_1693050512123`, or without the digits for a concrete index. */
  name: string;
  /** Epoch milliseconds. */
  createdAt: number;
  store: RowStore;
  /** True: writes stay invisible until someone refreshes. */
  refreshOff: boolean;
  /** One of this many shards is unavailable: searches find fewer rows, and nothing says so. */
  shardsWithOneAway?: number;
}

/** One time series aspect of one entity type: the name that GMS asks for, and the index behind it. */
export interface LogicalIndex {
  entityType: string;
  aspect: string;
  /** `dataset_operationaspect_v1`. */
  alias: string;
  physical: PhysicalIndex;
}

/**
 * The search engine: indices, aliases and the tasks that work on them. It has no clock of its own: `advance` brings
 * everything to the given time, batch by batch in order of time, no matter how often it is called.
 */
export class Cluster {
  readonly logical = new Map<string, LogicalIndex>();
  /** Indices that no alias points to: what reindexing leaves behind. */
  readonly leftovers = new Map<string, PhysicalIndex>();
  /** By id. */
  readonly tasks = new Map<string, Task>();
  private readonly running = new Set<Task>();
  refreshMillis = 0;
  now: number;
  private nextRowId = 1;
  private refreshedAt: number;
  private acting = false;
  private agenda: { at: number; action: () => void }[] = [];

  constructor(now: number) {
    this.now = now;
    this.refreshedAt = now;
  }

  /**
   * Brings the cluster to `to` (epoch milliseconds); a time before the present one changes nothing. Scheduled actions
   * happen at their own times; called from one of them, this does nothing.
   */
  advance(to: number): void {
    if (this.acting) return;
    for (;;) {
      const due = this.agenda[0];
      if (due === undefined || due.at > to) break;
      this.agenda.shift();
      this.advanceTasksAndRefresh(Math.max(due.at, this.now));
      this.acting = true;
      try {
        due.action();
      } finally {
        this.acting = false;
      }
    }
    this.advanceTasksAndRefresh(Math.max(to, this.now));
  }

  /** Does something when the given time is reached; in the order of scheduling if times are equal. */
  schedule(at: number, action: () => void): void {
    const after = this.agenda.findIndex((other) => other.at > at);
    this.agenda.splice(after < 0 ? this.agenda.length : after, 0, { at, action });
  }

  start(task: Task): void {
    this.tasks.set(task.plan.id, task);
    this.running.add(task);
  }

  create(name: string, rows = 0): PhysicalIndex {
    return { name, createdAt: this.now, store: new RowStore(rows), refreshOff: false };
  }

  add(physical: PhysicalIndex, timestamps: Iterable<number>): number[] {
    const ids: number[] = [];
    for (const timestamp of timestamps) {
      physical.store.add(this.nextRowId, timestamp);
      ids.push(this.nextRowId++);
    }
    if (this.refreshMillis === 0 && !physical.refreshOff) physical.store.refresh();
    return ids;
  }

  find(name: string): PhysicalIndex | undefined {
    for (const physical of this.all()) if (physical.name === name) return physical;
    return undefined;
  }

  /** Every real index, with an alias or without. */
  *all(): Generator<PhysicalIndex> {
    for (const { physical } of this.logical.values()) yield physical;
    yield* this.leftovers.values();
  }

  /** Names the indices in use: a concrete index has the name that GMS asks for, others have digits after it. */
  nameAll(aliasBacked: boolean): void {
    for (const { alias, physical } of this.logical.values()) {
      physical.name = aliasBacked ? physicalName(alias, physical.createdAt) : alias;
    }
  }

  /** Moves the alias; the index that it leaves stays, without a name that GMS knows. */
  moveAlias(index: LogicalIndex, to: PhysicalIndex): void {
    this.leftovers.set(index.physical.name, index.physical);
    this.leftovers.delete(to.name);
    index.physical = to;
  }

  /**
   * An alias name plus the creation time in milliseconds: `<alias>_<13 digits>`.
   * @param skewMillis how far the naming server's clock is ahead
   */
  freshName(alias: string, skewMillis = 0): string {
    let millis = this.now + skewMillis;
    while (this.find(physicalName(alias, millis)) !== undefined) millis++;
    return physicalName(alias, millis);
  }

  private advanceTasksAndRefresh(to: number): void {
    const refreshAt = this.refreshMillis === 0 ? to : Math.floor(to / this.refreshMillis) * this.refreshMillis;
    if (refreshAt > this.refreshedAt || this.refreshMillis === 0) {
      this.runBatches(refreshAt);
      for (const physical of this.all()) if (!physical.refreshOff) physical.store.refresh();
      this.refreshedAt = refreshAt;
    }
    this.runBatches(to);
    this.now = to;
  }

  /** Runs every batch that is done by then, of all tasks, in order of time. */
  private runBatches(to: number): void {
    for (;;) {
      let next: { task: Task; at: number } | undefined;
      for (const task of this.running) {
        const at = task.nextBatchAt();
        if (at === undefined) this.running.delete(task);
        else if (at <= to && (next === undefined || at < next.at)) next = { task, at };
      }
      if (next === undefined) return;
      this.now = Math.max(this.now, next.at);
      next.task.runBatch();
    }
  }
}

export const physicalName = (alias: string, millis: number): string =>
  `${alias}_${String(Math.floor(millis)).padStart(13, '0')}`;
