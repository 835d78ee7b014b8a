import type { DryRun, IndexSize, TaskStatus, TruncateFields } from '../../../lambda/operations/operations.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { Engine, Pace, Physical, Task } from './engine.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What a DataHub is like, in all that a truncation can notice. */
export interface Behaviour {
  /** How it removes rows that nobody forces it to delete: `most` reindexes when most rows are old. */
  removes: 'delete' | 'copy' | 'most';
  /** Its dry runs say how it would remove them. */
  announces: boolean;
  /** What it makes of forceDeleteByQuery; `chokes` answers without a count. */
  force: 'obeys' | 'ignores' | 'refuses' | 'chokes';
  /** Whether the alias moves before the rows are copied, or after. */
  swap: 'first' | 'last';
  status: 'told' | 'denied' | 'unknown' | 'without counters';
  /** Statuses and sizes may fail for now. */
  sizes: boolean;
  date: boolean;
  /** Its clock minus ours, milliseconds. */
  skewMillis: number;
  pace: Pace;
  /** Dry runs that contradict themselves: more rows to delete than there are. */
  racing: boolean;
}

export const plain: Behaviour = {
  removes: 'delete',
  announces: true,
  force: 'obeys',
  swap: 'first',
  status: 'told',
  sizes: true,
  date: true,
  skewMillis: 0,
  pace: { millis: 2000 },
  racing: false,
};

/** The DataHub in front of a search engine. It answers at once; `wire.ts` has the ways in which answers get lost. */
export interface Server {
  engine: Engine;
  behaviour: Behaviour;
  dryRun(fields: TruncateFields): DryRun | 'no index' | 'refused' | 'no count';
  /** Starts what it was asked for. Undefined if there is no such index, or the request is refused. */
  truncate(fields: TruncateFields, pace?: Pace): Task | undefined;
  status(taskId: string): TaskStatus | 'denied';
  sizes(): IndexSize[] | 'denied';
}

export function createServer(engine: Engine, time: VirtualTime): Server {
  const server: Server = {
    engine,
    behaviour: plain,
    dryRun(fields) {
      const { force, announces, date, skewMillis, racing } = server.behaviour;
      if (fields.forceDeleteByQuery && force === 'refuses') return 'refused';
      if (fields.forceDeleteByQuery && force === 'chokes') return 'no count';
      const physical = engine.behind(searchIndex(fields));
      if (!physical) return 'no index';
      const rows = engine.found(physical);
      const rowsToDelete = rows.filter(({ timestamp }) => timestamp <= fields.cutoffMillis).length;
      const rowsTotal = racing ? Math.max(0, rowsToDelete - 1) : rows.length;
      const deletesInPlace = announces && !reindexes(fields, rowsToDelete, rows.length);
      return date
        ? { rowsToDelete, rowsTotal, deletesInPlace, clockSkewMillis: skewMillis }
        : { rowsToDelete, rowsTotal, deletesInPlace };
    },
    truncate(fields, pace = server.behaviour.pace) {
      const { force, swap } = server.behaviour;
      const alias = searchIndex(fields);
      const physical = engine.behind(alias);
      if (!physical || (fields.forceDeleteByQuery && (force === 'refuses' || force === 'chokes'))) return undefined;
      const rows = engine.found(physical);
      const old = rows.filter(({ timestamp }) => timestamp <= fields.cutoffMillis).length;
      if (!reindexes(fields, old, rows.length)) return engine.startDelete(physical, fields.cutoffMillis, pace);
      const target = engine.newPhysical(alias);
      if (swap === 'first') {
        const task = engine.startCopy(physical, target, fields.cutoffMillis, pace);
        engine.point(alias, target);
        return task;
      }
      // Some servers put the copy in place a while after the task has ended.
      const whenDone = () => time.at(time.now() + 20_000, () => putInPlace(physical, target));
      return engine.startCopy(physical, target, fields.cutoffMillis, { ...pace, whenDone });
    },
    status(taskId) {
      const { status } = server.behaviour;
      if (status === 'denied') return 'denied';
      const task = engine.tasks.find(({ id }) => id === taskId);
      if (status === 'unknown' || !task || task.state === 'gone') return { kind: 'vanished' };
      const { deleted, created, conflicts: versionConflicts, total, startedAt, endedAt = time.now() } = task;
      const cancelled = task.cancelled ? { cancelled: true } : {};
      const counters = { total, deleted, created, updated: 0, versionConflicts, ...cancelled };
      const completed = task.state === 'completed';
      const runTimeMillis = endedAt - startedAt;
      return { kind: 'found', completed, runTimeMillis, counters: status === 'without counters' ? {} : counters };
    },
    sizes() {
      if (!server.behaviour.sizes) return 'denied';
      return engine.aliases().flatMap((alias) => {
        const physical = engine.behind(alias);
        return physical ? [{ indexName: physical.name, ...namesIn(alias), sizeMb: physical.rows.size / 1000 }] : [];
      });
    },
  };

  function reindexes({ forceDeleteByQuery }: TruncateFields, old: number, total: number): boolean {
    const { removes, force } = server.behaviour;
    if (forceDeleteByQuery && force === 'obeys') return false;
    return removes === 'copy' || (removes === 'most' && old * 2 > total);
  }

  /** Unless somebody else has moved the alias in the meantime. */
  function putInPlace(source: Physical, target: Physical): void {
    if (engine.behind(source.alias) === source) engine.point(source.alias, target);
  }

  return server;
}

const known = new Map<string, { entityType: string; aspect: string }>();

/** Teaches the server the names behind an alias. @returns the alias */
export function aliasOf(names: { entityType: string; aspect: string }): string {
  const alias = searchIndex(names);
  known.set(alias, { entityType: names.entityType.toLowerCase(), aspect: names.aspect.toLowerCase() });
  return alias;
}

const namesIn = (alias: string) => known.get(alias) ?? {};
