import type { IndexSize } from '../operations/operations.ts';
import { searchIndex } from '../policy/aspects.ts';

/** The physical index behind an aspect's alias, if the server reports exactly one. */
export function physicalIndex(
  sizes: readonly IndexSize[] | undefined,
  names: { entityType: string; aspect: string },
): IndexSize | undefined {
  const wanted = searchIndex(names);
  const [found, second] = (sizes ?? []).filter(
    ({ entityType, aspect }) =>
      entityType !== undefined && aspect !== undefined && searchIndex({ entityType, aspect }) === wanted,
  );
  return second ? undefined : found;
}
