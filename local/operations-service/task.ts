import type { RowStore } from './rows.ts';

/** How a task ends when it does not simply finish: after this many of its rows. */
export interface Fate {
  kind: 'abort' | 'cancel' | 'restart';
  afterRows: number;
}

export interface TaskPlan {
  nodeId: string;
  number: number;
  kind: 'delete' | 'reindex';
  /** Name of the physical index that loses rows, or gets them. */
  indexName: string;
  /** Epoch milliseconds. */
  startedAt: number;
  /** Rows of one batch; 0 takes all of them as one. */
  batchSize: number;
  rowsPerSecond: number;
  batchOverheadMillis: number;
  slices: number;
  /** The rows to work on, as a search found them at the start: positions in `source`. */
  snapshot: Uint32Array;
  source: RowStore;
  /** Does the work on one row. */
  work(position: number): 'created' | 'deleted' | 'conflict';
  fate?: Fate;
  failsAtFirstSearch?: boolean;
  /** Epoch milliseconds after which no further batch is begun. */
  deadline?: number;
}

/** One line of a task's counters, named as the search engine names them. */
export interface Counters {
  total: number;
  updated: number;
  created: number;
  deleted: number;
  batches: number;
  version_conflicts: number;
  noops: number;
}

/** How a task stands: `gone` has no record any more (its node restarted). */
export type TaskState = 'running' | 'completed' | 'gone';

/**
 * A task of the search engine: it works through its snapshot batch by batch. Nothing here waits; `nextBatchAt` says
 * when the batch under way will be done, `runBatch` does it.
 */
export class Task {
  readonly id: string;
  readonly plan: Omit<TaskPlan, 'snapshot'>;
  state: TaskState = 'running';
  completedAt: number | undefined;
  canceled: string | undefined;
  private readonly counters: Counters;
  private snapshot: Uint32Array;
  private processed = 0;
  private lastBatchAt: number;

  constructor({ snapshot, ...plan }: TaskPlan) {
    this.plan = plan;
    this.id = `${plan.nodeId}:${plan.number}`;
    this.snapshot = snapshot;
    this.lastBatchAt = plan.startedAt;
    const total = plan.failsAtFirstSearch ? 0 : snapshot.length;
    this.counters = { total, updated: 0, created: 0, deleted: 0, batches: 0, version_conflicts: 0, noops: 0 };
    if (plan.failsAtFirstSearch) this.end('completed', plan.startedAt);
    else this.meetFate();
  }

  /** Epoch milliseconds at which the batch under way is done; undefined when the task has ended. */
  nextBatchAt(): number | undefined {
    if (this.state !== 'running') return undefined;
    const { batchOverheadMillis, rowsPerSecond } = this.plan;
    return this.lastBatchAt + batchOverheadMillis + (this.batchRows() / rowsPerSecond) * 1000;
  }

  runBatch(): void {
    const doneAt = this.nextBatchAt();
    if (doneAt === undefined) return;
    const end = this.processed + this.batchRows();
    for (; this.processed < end; this.processed++) {
      const done = this.plan.work(this.snapshot[this.processed]!);
      this.counters[done === 'conflict' ? 'version_conflicts' : done]++;
    }
    if (this.counters.total > 0) this.counters.batches++;
    this.lastBatchAt = doneAt;
    this.meetFate();
    const late = this.plan.deadline !== undefined && doneAt >= this.plan.deadline;
    if (this.state === 'running' && (this.processed >= this.counters.total || late)) this.end('completed', doneAt);
  }

  /** Ends the task where it stands; with a reason, as `_cancel` does. */
  stop(at: number, canceled?: string): void {
    if (this.state !== 'running') return;
    this.canceled = canceled;
    this.end('completed', at);
  }

  /** Ends the task without a trace. */
  vanish(at: number): void {
    this.end('gone', at);
  }

  /** What the task has really done. */
  counted(): Counters {
    return { ...this.counters };
  }

  /** What the search engine reports now, with `slices` where it works in several. */
  report(): Counters & { slices?: (Counters | null)[] } {
    const { slices } = this.plan;
    if (slices <= 1) return { ...this.counters };
    // The parent's counters are the sum over finished slices, and all slices end late: zero for long, then jumps.
    const share = this.counters.total === 0 ? 1 : this.processed / this.counters.total;
    const finished = this.state === 'completed' ? slices : Math.floor(Math.max(0, (share - 0.7) / 0.3) * slices);
    const parts = Array.from({ length: slices }, (_, slice) => (slice < finished ? this.slice(slice) : null));
    const sum = { total: 0, updated: 0, created: 0, deleted: 0, batches: 0, version_conflicts: 0, noops: 0 };
    for (const part of parts) {
      for (const key of Object.keys(sum) as (keyof Counters)[]) sum[key] += part?.[key] ?? 0;
    }
    return { ...sum, slices: parts };
  }

  /** The counters of one slice out of equal ones. While others still work, a finished slice has done all of its share. */
  private slice(slice: number): Counters {
    const { slices } = this.plan;
    const part = (count: number) => Math.floor((count * (slice + 1)) / slices) - Math.floor((count * slice) / slices);
    const { total, ...counters } = this.counters;
    const done = this.state === 'completed' ? counters : this.extrapolated();
    return {
      total: part(total),
      updated: part(done.updated),
      created: part(done.created),
      deleted: part(done.deleted),
      batches: part(done.batches),
      version_conflicts: part(done.version_conflicts),
      noops: part(done.noops),
    };
  }

  private extrapolated(): Omit<Counters, 'total'> {
    const { total, version_conflicts } = this.counters;
    const done = total - version_conflicts;
    const [created, deleted] = this.plan.kind === 'reindex' ? [done, 0] : [0, done];
    return { updated: 0, created, deleted, batches: this.counters.batches, version_conflicts, noops: 0 };
  }

  private batchRows(): number {
    const left = this.snapshot.length - this.processed;
    const untilFate = this.plan.fate === undefined ? left : this.plan.fate.afterRows - this.processed;
    return Math.max(0, Math.min(left, untilFate, this.plan.batchSize === 0 ? left : this.plan.batchSize));
  }

  private meetFate(): void {
    const { fate } = this.plan;
    if (fate === undefined || this.processed < fate.afterRows) return;
    if (fate.kind === 'cancel') this.canceled = 'by user request';
    this.end(fate.kind === 'restart' ? 'gone' : 'completed', this.lastBatchAt);
  }

  private end(state: TaskState, at: number): void {
    this.state = state;
    this.completedAt = at;
    this.snapshot = new Uint32Array(0);
  }
}
