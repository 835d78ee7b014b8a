import type { DryRun, IndexSize, TaskCounters, TaskStatus, TruncateFields } from '../../../lambda/gms/operations.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { Counters } from '../alphabet/server.ts';
import type { Engine, Pace, Task } from './engine.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What a DataHub is like, in all that a truncation can notice. */
export interface Behavior {
  /** How it truncates unless it is forced to delete in place: `most` reindexes when most rows are old. */
  truncates: 'delete' | 'reindex' | 'most';
  /** Its dry runs say how it would remove the rows. */
  announces: boolean;
  /** What it makes of forceDeleteByQuery; `chokes` answers without a count. */
  force: 'obeys' | 'ignores' | 'refuses' | 'chokes';
  /** When the alias moves to a reindex: before its rows are written, when half of them are, or after its task has ended. */
  swap: 'first' | 'half-way' | 'last' | 'never';
  /** How long after the end of its task the alias moves (`last`), milliseconds. */
  swapMillis: number;
  /** The alias also moves if the task has ended before its last row. */
  swapsShort: boolean;
  /** The index of a reindex is not refreshed until somebody sees to it. */
  refreshesLate: boolean;
  /** What the status of a reindex counts (alphabet/server.ts). */
  counters: Counters;
  status: 'reported' | 'denied' | 'unknown' | 'without counters';
  /** Sizes may be denied, or reported under a name that never changes. */
  sizes: 'reported' | 'denied' | 'by alias';
  date: boolean;
  /** Its clock minus ours, milliseconds. */
  skewMillis: number;
  pace: Pace;
  /** Dry runs that contradict themselves: more rows to delete than there are. */
  racing: boolean;
}

export const plain: Behavior = {
  truncates: 'delete',
  announces: true,
  force: 'obeys',
  swap: 'first',
  swapMillis: 20_000,
  swapsShort: false,
  refreshesLate: false,
  counters: 'rows to keep',
  status: 'reported',
  sizes: 'reported',
  date: true,
  skewMillis: 0,
  pace: { millis: 2000 },
  racing: false,
};

/** The DataHub in front of a search engine. It answers at once; `wire.ts` has the ways in which answers get lost. */
export interface Server {
  engine: Engine;
  behavior: Behavior;
  dryRun(fields: TruncateFields): DryRun | 'no index' | 'refused' | 'no count';
  /** Starts what it was asked for. Undefined if there is no such index, or the request is refused. */
  truncate(fields: TruncateFields, pace?: Pace): Task | undefined;
  status(taskId: string): TaskStatus | 'denied';
  sizes(): IndexSize[] | 'denied';
}

export function createServer(engine: Engine, time: VirtualTime): Server {
  const server: Server = {
    engine,
    behavior: plain,
    dryRun(fields) {
      const { force, announces, date, skewMillis, racing } = server.behavior;
      if (fields.forceDeleteByQuery && force === 'refuses') return 'refused';
      if (fields.forceDeleteByQuery && force === 'chokes') return 'no count';
      const physical = engine.behind(searchIndex(fields));
      if (!physical) return 'no index';
      const rows = engine.found(physical);
      const rowsToDelete = rows.filter(({ timestamp }) => timestamp <= fields.cutoffMillis).length;
      const rowsTotal = racing ? Math.max(0, rowsToDelete - 1) : rows.length;
      const method = announces && !reindexes(fields, rowsToDelete, rows.length) ? 'delete' : 'reindex';
      return date
        ? { rowsToDelete, rowsTotal, method, clockSkewMillis: skewMillis }
        : { rowsToDelete, rowsTotal, method };
    },
    truncate(fields, pace = server.behavior.pace) {
      const { force, swap, swapMillis, swapsShort } = server.behavior;
      const alias = searchIndex(fields);
      const physical = engine.behind(alias);
      if (!physical || (fields.forceDeleteByQuery && (force === 'refuses' || force === 'chokes'))) return undefined;
      const rows = engine.found(physical);
      const old = rows.filter(({ timestamp }) => timestamp <= fields.cutoffMillis).length;
      if (!reindexes(fields, old, rows.length)) return engine.startDelete(physical, fields.cutoffMillis, pace);
      const target = engine.newPhysical(alias);
      if (server.behavior.refreshesLate) target.refreshOffSince = time.now();
      if (swap === 'first') {
        const task = engine.startReindex(physical, target, fields.cutoffMillis, pace);
        engine.point(alias, target);
        return task;
      }
      const putInPlace = () => {
        // Unless another process has moved the alias in the meantime.
        if (task.waits && engine.behind(alias) === physical) engine.point(alias, target);
        task.waits = false;
      };
      const whenDone = (isShort: boolean) => {
        if (isShort && !swapsShort) task.waits = false;
        else if (swap === 'last') time.at(time.now() + swapMillis, putInPlace);
      };
      const atHalf = () => void (swap === 'half-way' && putInPlace());
      const task = engine.startReindex(physical, target, fields.cutoffMillis, { ...pace, atHalf, whenDone });
      task.waits = swap !== 'never';
      return task;
    },
    status(taskId) {
      const { status } = server.behavior;
      if (status === 'denied') return 'denied';
      const task = engine.tasks.find(({ id }) => id === taskId);
      if (status === 'unknown' || !task || task.state === 'gone') return { kind: 'vanished' };
      const { startedAt, endedAt = time.now() } = task;
      const completed = task.state === 'completed';
      const runTimeMillis = endedAt - startedAt;
      const counters = { ...countersOf(task, server.behavior), ...(task.cancelled && { cancelled: true }) };
      return { kind: 'found', completed, runTimeMillis, counters: status === 'without counters' ? {} : counters };
    },
    sizes() {
      const { sizes } = server.behavior;
      if (sizes === 'denied') return 'denied';
      return engine.aliases().flatMap((alias) => {
        const physical = engine.behind(alias);
        const indexName = sizes === 'by alias' ? alias : physical?.name;
        return physical && indexName ? [{ indexName, ...namesIn(alias), sizeMb: physical.rows.size / 1000 }] : [];
      });
    },
  };

  function reindexes({ forceDeleteByQuery }: TruncateFields, old: number, total: number): boolean {
    const { truncates, force } = server.behavior;
    if (forceDeleteByQuery && force === 'obeys') return false;
    return truncates === 'reindex' || (truncates === 'most' && old * 2 > total);
  }

  return server;
}

/** What its status counts; the specification does not say what each number means. */
function countersOf(task: Task, { counters }: Behavior): TaskCounters & { noops?: number } {
  const { kind, total, deleted, created, conflicts: versionConflicts, old } = task;
  if (kind === 'delete') return { total, deleted, created, updated: 0, versionConflicts };
  const own = { created, updated: 0, deleted: 0, noops: 0, versionConflicts: 0 };
  switch (counters) {
    case 'rows to keep':
      return { ...own, total };
    case 'failures are conflicts':
      return { ...own, total, versionConflicts };
    case 'rows to keep are updated':
      return { ...own, total, created: 0, updated: created };
    case 'all rows':
      return { ...own, total: total + old };
    case 'all rows, old ones are noops':
      return { ...own, total: total + old, noops: old };
    case 'all rows, old ones are deleted':
      return { ...own, total: total + old, deleted: old };
    case 'no total':
      return { created, updated: 0, deleted: 0, versionConflicts: 0 };
  }
}

const known = new Map<string, { entityType: string; aspect: string }>();

/** Teaches the server the names behind an alias. @returns the alias */
export function aliasOf(names: { entityType: string; aspect: string }): string {
  const alias = searchIndex(names);
  known.set(alias, { entityType: names.entityType.toLowerCase(), aspect: names.aspect.toLowerCase() });
  return alias;
}

const namesIn = (alias: string) => known.get(alias) ?? {};
