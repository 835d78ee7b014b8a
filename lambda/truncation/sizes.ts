import type { IndexNames } from '../gms/backend.ts';
import { asResult, type IndexSize, type Operations } from '../gms/operations.ts';
import { searchIndex } from '../policy/aspects.ts';

/** Index sizes: the specification does not describe them, and no decision depends on them. Undefined without an answer. */
export async function readSizes(
  operations: Pick<Operations, 'indexSizes'>,
  signal: AbortSignal,
): Promise<IndexSize[] | undefined> {
  const read = await asResult(() => operations.indexSizes({ signal, attempts: 1 }));
  return read.kind === 'done' ? read.value : undefined;
}

/** The physical index behind an aspect's alias, if the server reports exactly one. */
export function physicalIndex(sizes: readonly IndexSize[] | undefined, names: IndexNames): IndexSize | undefined {
  const wanted = searchIndex(names);
  const [found, second] = (sizes ?? []).filter(
    ({ entityType, aspect }) =>
      entityType !== undefined && aspect !== undefined && searchIndex({ entityType, aspect }) === wanted,
  );
  return second ? undefined : found;
}
