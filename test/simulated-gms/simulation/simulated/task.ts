import type { Counters } from '../../../../cli/embedded-service/tasks.ts';
import type { RowStore } from './rows.ts';

/** How a task ends if it does not simply finish: after this many of its rows. */
export interface Fate {
  kind: 'abort' | 'cancel' | 'restart';
  afterRows: number;
}

export interface TaskPlan {
  /** `<node>:<number>`. */
  id: string;
  kind: 'delete' | 'reindex';
  /** Name of the physical index that loses rows, or gets them. */
  indexName: string;
  /** Epoch milliseconds. */
  startedAt: number;
  /** The first search takes this long; until then the task reports zeros, even as its total. */
  searchMillis: number;
  batchSize: number;
  rowsPerSecond: number;
  batchOverheadMillis: number;
  /** A factor on a batch's time. */
  pace(batch: number): number;
  /** The rows to work on, as a search found them at the start: positions in `source`. */
  snapshot: Uint32Array;
  source: RowStore;
  /** Does the work on one row. */
  work(position: number): 'created' | 'deleted' | 'conflict';
  fate: Fate | undefined;
  failsAtFirstSearch: boolean;
  /** Ends at the first conflict. */
  stopsAtConflict: boolean;
}

/** The state of a task: `gone` no longer has a record (its node restarted). */
export type TaskState = 'running' | 'completed' | 'gone';

/**
 * A task of the search engine: it works through its snapshot batch by batch. Nothing here waits; `nextBatchAt` says
 * when the batch under way will be done, `runBatch` does it.
 */
export class Task {
  readonly plan: Omit<TaskPlan, 'snapshot'>;
  state: TaskState = 'running';
  completedAt: number | undefined;
  canceled: string | undefined;
  readonly counters: Counters;
  private snapshot: Uint32Array;
  private processed = 0;
  private lastBatchAt: number;

  constructor({ snapshot, ...plan }: TaskPlan) {
    this.plan = plan;
    this.snapshot = snapshot;
    this.lastBatchAt = plan.startedAt + plan.searchMillis;
    const total = plan.failsAtFirstSearch ? 0 : snapshot.length;
    this.counters = { total, updated: 0, created: 0, deleted: 0, batches: 0, version_conflicts: 0, noops: 0 };
    if (plan.failsAtFirstSearch) this.end('completed', plan.startedAt);
    else this.meetFate();
  }

  /** Epoch milliseconds at which the batch under way is done; undefined when the task has ended. */
  nextBatchAt(): number | undefined {
    if (this.state !== 'running') return undefined;
    const { batchOverheadMillis, rowsPerSecond, pace } = this.plan;
    const millis = batchOverheadMillis + (this.batchRows() / rowsPerSecond) * 1000;
    return this.lastBatchAt + millis * pace(this.counters.batches);
  }

  runBatch(): void {
    const doneAt = this.nextBatchAt();
    if (doneAt === undefined) return;
    if (this.counters.total > 0) this.counters.batches++;
    const end = this.processed + this.batchRows();
    for (; this.processed < end; this.processed++) {
      const done = this.plan.work(this.snapshot[this.processed]!);
      this.counters[done === 'conflict' ? 'version_conflicts' : done]++;
      if (done === 'conflict' && this.plan.stopsAtConflict) {
        this.end('completed', doneAt);
        return;
      }
    }
    this.lastBatchAt = doneAt;
    this.meetFate();
    if (this.state === 'running' && this.processed >= this.counters.total) this.end('completed', doneAt);
  }

  /** Ends the task where it is; with a reason, as `_cancel` does. */
  stop(at: number, canceled?: string): void {
    if (this.state !== 'running') return;
    this.canceled = canceled;
    this.end('completed', at);
  }

  /** Ends the task without a trace. */
  vanish(at: number): void {
    this.end('gone', at);
  }

  private batchRows(): number {
    const left = this.snapshot.length - this.processed;
    const untilFate = this.plan.fate === undefined ? left : this.plan.fate.afterRows - this.processed;
    return Math.max(0, Math.min(left, untilFate, this.plan.batchSize));
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
