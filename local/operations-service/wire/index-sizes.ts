import { RestliError } from './restli.ts';
import type { Server } from './search-engine.ts';
import { type Steps, step } from './steps.ts';

/**
 * `getIndexSizes`: the indices that GMS knows by name, with their size. Leftovers of reindexing are not among them.
 * @throws RestliError 500 where the search engine refuses the statistics
 */
export function* indexSizes({ behaviour, engine }: Server): Steps<{ indexSizes: Record<string, unknown>[] }> {
  if (behaviour.sizes === 'failing') {
    // DataHub issue #9113: the path without a leading slash is refused by managed OpenSearch.
    throw new RestliError(
      500,
      'java.lang.RuntimeException: org.opensearch.client.ResponseException: method [GET], host [https://search.example:443], URI [*aspect_v1/_stats], status line [HTTP/1.1 400 Bad Request]\n<html>\r\n<head><title>400 Bad Request</title></head>\r\n</html>',
    );
  }
  const indices = yield* step(engine.sizes());
  if (behaviour.sizes === 'one-store') {
    const total = indices.reduce((sum, { bytes }) => sum + bytes, 0);
    return {
      indexSizes: [
        { indexName: 'public.metadata_timeseries_aspect', entityName: '*', aspectName: '*', sizeInMb: total / 1e6 },
      ],
    };
  }
  return {
    indexSizes: indices.map(({ name, entityType, aspect, bytes }) => ({
      indexName: name,
      ...(behaviour.sizes === 'no-names' || entityType === undefined || aspect === undefined
        ? {}
        : { entityName: entityType, aspectName: aspect }),
      // The first releases divided by a thousand and called it megabytes.
      ...(behaviour.sizes === 'sizeMb' ? { sizeMb: bytes / 1e3 } : { sizeInMb: bytes / 1e6 }),
    })),
  };
}
