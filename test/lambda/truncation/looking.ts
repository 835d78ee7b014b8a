import type { EntryFacts } from '../../../lambda/facts/report-schema.ts';
import type { ServerError } from '../../../lambda/facts/server-error.ts';
import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import type { StoredRecord } from '../../../lambda/ledger/record.ts';
import {
  type DryRun,
  type IndexSize,
  type Operations,
  OperationsError,
  type ReadOptions,
  type TaskStatus,
  type TruncateFields,
} from '../../../lambda/operations/operations.ts';
import { type Looked, lookAt } from '../../../lambda/truncation/look.ts';
import { optionalReads } from '../../../lambda/truncation/optional-reads.ts';
import type { Watch } from '../../../lambda/truncation/watch.ts';
import { anIndex, aRunning, aServer } from '../../support/records.ts';

/** One record, the server that is asked about it, and a clock that only the test moves. */

export const minutes = (count: number) => count * 60_000;
export const hours = (count: number) => count * 3_600_000;
/** When the truncations of `support/records.ts` were sent. */
export const sentAt = 1_200_000;
const cutoff = 500_000;

type Fails = { fails: ServerError['kind'] };

interface Server {
  toDelete: number;
  /** Rows younger than the cutoff, or those of them with a timestamp up to a moment. */
  kept: number | ((upTo: number) => number);
  total?: number;
  clockSkewMillis?: number;
  /** The error with which every count of this index fails. */
  counts?: Fails | Error;
  /** The error with which counts of other indices fail, and the server's clock in that answer. */
  otherCounts?: Fails;
  otherSkewMillis?: number;
  status: TaskStatus | Fails;
  sizes: IndexSize[] | Fails;
  /** Called before the count with this number is answered. */
  before: Record<number, () => void>;
}

interface Run {
  maxRunHours?: number;
  /** When the run that looks started; by default a minute after the call. */
  runStart?: number;
  isOver?: boolean;
  others?: string[];
}

/** @param given if `record` is omitted, it is a running one */
export function aWorld(given: Partial<Server> & Run & { record?: StoredRecord | undefined } = {}) {
  const {
    record,
    maxRunHours = 12,
    runStart,
    isOver = false,
    others = [],
    ...fields
  } = { record: aRunning(), ...given };
  const server: Server = {
    toDelete: 0,
    kept: 40,
    status: { kind: 'found', completed: false, counters: {} },
    sizes: [],
    before: {},
    ...fields,
  };
  const run = { runId: 'run-2', server: aServer, runStartMillis: runStart ?? sentAt + minutes(1), isOver };
  const clock = { time: Math.max(sentAt + minutes(2), run.runStartMillis), ahead: 0 };
  const ledger = memoryLedger();
  if (record) ledger.stored.set(anIndex, record);
  const { signal } = new AbortController();
  const asked: (string | number)[] = [];
  const signals: unknown[] = [];
  const warnings: unknown[] = [];
  let counts = 0;
  const note = (what: string | number, options: ReadOptions = {}) => {
    asked.push(what);
    signals.push(options.signal);
  };
  const failed = ({ fails }: Fails, operation: ServerError['operation'], skewMillis = server.clockSkewMillis) =>
    new OperationsError({ kind: fails, operation }, skewMillis);
  const operations = {
    async dryRun({ endTimeMillis, aspect }: TruncateFields, options?: ReadOptions): Promise<DryRun> {
      if (others.includes(aspect)) {
        note(aspect, options);
        if (server.otherCounts) throw failed(server.otherCounts, 'dry-run', server.otherSkewMillis);
        const { clockSkewMillis } = server;
        return { rowsToDelete: 0, rowsTotal: 1, ...(clockSkewMillis !== undefined && { clockSkewMillis }) };
      }
      note(endTimeMillis, options);
      server.before[++counts]?.();
      if (server.counts instanceof Error) throw server.counts;
      if (server.counts) throw failed(server.counts, 'dry-run');
      const { toDelete, kept, clockSkewMillis } = server;
      const all = typeof kept === 'number' ? kept : kept(Number.POSITIVE_INFINITY);
      const younger = typeof kept === 'number' ? kept : kept(endTimeMillis);
      return {
        rowsToDelete: endTimeMillis > cutoff ? toDelete + younger : toDelete,
        rowsTotal: server.total ?? toDelete + all,
        ...(clockSkewMillis !== undefined && { clockSkewMillis }),
      };
    },
    async taskStatus(_: unknown, options?: ReadOptions): Promise<TaskStatus> {
      note('task-status', options);
      if ('fails' in server.status) throw failed(server.status, 'task-status');
      return server.status;
    },
    async indexSizes(options?: ReadOptions) {
      note('index-sizes', options);
      if ('fails' in server.sizes) throw failed(server.sizes, 'index-sizes');
      return server.sizes;
    },
  } as unknown as Operations;
  const reads = optionalReads(operations);
  const world = {
    server,
    run,
    clock,
    ledger,
    signal,
    asked,
    signals,
    warnings,
    /** What the last look recorded. */
    watch: {
      attemptId: 'attempt-1',
      startedAt: sentAt,
      succeededAt: run.runStartMillis,
      lastLookAt: sentAt,
      nextLookAt: sentAt + 5000,
      looks: 0,
    } as Watch,
    state: () => (ledger.stored.get(anIndex) as { state: string }).state,
    async look({ entry = { entityType: 'dataset', aspect: 'operation' } as EntryFacts } = {}): Promise<Looked> {
      const looked = await lookAt(
        { index: anIndex, entry, watch: world.watch },
        {
          operations,
          reads,
          ledger,
          clock: { now: () => clock.time, realNow: () => clock.time - clock.ahead, monotonic: () => clock.time },
          maxRunHours,
          run: { ...run, isOver: () => run.isOver },
          others: others.map((aspect) => ({ entityType: 'dataset', aspect })),
          signal,
          log: { warn: (...line) => warnings.push(line) },
        },
      );
      if (looked.kind === 'watching') world.watch = looked.watch;
      return looked;
    },
    /** Lets time pass, then looks. */
    async lookAfter(millis: number): Promise<Looked> {
      clock.time += millis;
      return world.look();
    },
  };
  return world;
}
