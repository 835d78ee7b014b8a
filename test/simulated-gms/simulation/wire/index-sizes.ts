import type { IndexSize, Server } from './search-engine.ts';
import { type Steps, step } from './steps.ts';

/**
 * `getIndexSizes`: the indices that GMS knows by name, with their size. Leftovers of reindexing are not among them.
 * @returns the body of the answer
 */
export function* indexSizes({ behavior, engine }: Server): Steps<string> {
  const indices = yield* step(engine.sizes());
  const rows = behavior.sizes === 'one-store' ? [wholeStore(indices)] : indices.map((one) => rowOf(one, behavior));
  return JSON.stringify({ value: { indexSizes: rows } });
}

function wholeStore(indices: readonly IndexSize[]): object {
  const total = indices.reduce((sum, { bytes }) => sum + bytes, 0);
  return { aspectName: '*', sizeInMb: total / 1e6, indexName: 'public.metadata_timeseries_aspect', entityName: '*' };
}

/** In the order in which rest.li writes the fields. */
function rowOf({ name, entityType, aspect, bytes }: IndexSize, { sizes }: Server['behavior']): object {
  const named = entityType !== undefined && aspect !== undefined;
  return {
    ...(named && { aspectName: aspect }),
    // Up to 0.12.1 it divides by a thousand and calls that megabytes.
    ...(sizes === 'sizeMb' ? { sizeMb: bytes / 1e3 } : { sizeInMb: bytes / 1e6 }),
    indexName: name,
    ...(named && { entityName: entityType }),
  };
}
