import type { Cluster, LogicalIndex } from './simulation/simulated/cluster.ts';
import { NOBODY, OTHERS, type Row } from './simulation/simulated/rows.ts';

/** What a test wants to know about rows, row by row. */

/** The rows of an index at one moment. */
export interface Mark {
  index: LogicalIndex;
  rows: Map<number, number>;
}

/** A row that the index behind the alias no longer holds, and why. */
export interface GoneRow extends Row {
  /** A task's id; `others`: deleted by another process; `left-behind`: still in an index that the alias has left. */
  by: string;
}

export const mark = (index: LogicalIndex): Mark => ({
  index,
  rows: new Map(Array.from(index.physical.store.rows(), ({ id, timestamp }) => [id, timestamp])),
});

export function goneSince(cluster: Cluster, { index, rows }: Mark): GoneRow[] {
  const missing = new Map(rows);
  for (const { id } of index.physical.store.rows()) missing.delete(id);
  if (missing.size === 0) return [];
  const removers = new Map<number, number>();
  const stores = [...cluster.leftovers.values()].filter(({ name }) => name.startsWith(`${index.alias}_`));
  for (const { store } of [...stores, index.physical]) {
    for (const { id, removedBy } of store.history()) {
      if (removedBy !== NOBODY && missing.has(id)) removers.set(id, removedBy);
    }
  }
  const nameOf = (remover: number | undefined) => {
    if (remover === undefined) return 'left-behind';
    return remover === OTHERS ? 'others' : (cluster.started.get(remover)?.id ?? 'others');
  };
  return Array.from(missing, ([id, timestamp]) => ({ id, timestamp, by: nameOf(removers.get(id)) }));
}
