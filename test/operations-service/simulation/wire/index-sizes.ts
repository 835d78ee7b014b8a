import { RestliError } from './restli.ts';
import type { IndexSize, Server } from './search-engine.ts';
import { type Steps, step } from './steps.ts';

/**
 * `getIndexSizes`: the indices that GMS knows by name, with their size. Leftovers of reindexing are not among them.
 * @returns the body of the answer
 * @throws RestliError 500 where the search engine refuses the statistics
 */
export function* indexSizes({ behaviour, engine }: Server): Steps<string> {
  if (behaviour.sizes === 'failing') {
    // DataHub issue #9113: the path without a leading slash is refused by managed OpenSearch.
    throw new RestliError(
      500,
      'java.lang.RuntimeException: org.opensearch.client.ResponseException: method [GET], host [https://search.example:443], URI [*aspect_v1/_stats], status line [HTTP/1.1 400 Bad Request]\n<html>\r\n<head><title>400 Bad Request</title></head>\r\n</html>',
    );
  }
  const indices = yield* step(engine.sizes());
  const rows = behaviour.sizes === 'one-store' ? [wholeStore(indices)] : indices.map((one) => rowOf(one, behaviour));
  return JSON.stringify({ value: { indexSizes: rows } });
}

function wholeStore(indices: readonly IndexSize[]): object {
  const total = indices.reduce((sum, { bytes }) => sum + bytes, 0);
  return { aspectName: '*', sizeInMb: total / 1e6, indexName: 'public.metadata_timeseries_aspect', entityName: '*' };
}

/** In the order in which rest.li writes the fields. */
function rowOf({ name, entityType, aspect, bytes }: IndexSize, { sizes }: Server['behaviour']): object {
  const named = sizes !== 'no-names' && entityType !== undefined && aspect !== undefined;
  return {
    ...(named && { aspectName: aspect }),
    // Up to 0.12.1 it divides by a thousand and calls that megabytes.
    ...(sizes === 'sizeMb' ? { sizeMb: bytes / 1e3 } : { sizeInMb: bytes / 1e6 }),
    indexName: name,
    ...(named && { entityName: entityType }),
  };
}
