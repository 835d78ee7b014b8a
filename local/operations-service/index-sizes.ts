import type { PhysicalIndex } from './cluster.ts';
import { RestliError } from './restli.ts';
import type { Server } from './server-context.ts';

/** Bytes of an index without rows, and of one row: plausible, and the same for all. */
const emptyBytes = 208;
const rowBytes = 420;

/**
 * `getIndexSizes`: the indices that GMS knows by name, with their size. What reindexing leaves behind is not among them.
 * @throws RestliError 500 where the search engine refuses the statistics
 */
export function indexSizes({ behaviour, cluster }: Server): { indexSizes: Record<string, unknown>[] } {
  if (behaviour.sizes === 'failing') {
    // DataHub issue #9113: the path without a leading slash is refused by managed OpenSearch.
    throw new RestliError(
      500,
      'java.lang.RuntimeException: org.opensearch.client.ResponseException: method [GET], host [https://search.example:443], URI [*aspect_v1/_stats], status line [HTTP/1.1 400 Bad Request]\n<html>\r\n<head><title>400 Bad Request</title></head>\r\n</html>',
    );
  }
  const bytes = (physical: PhysicalIndex) => {
    const { mergeSeconds } = behaviour;
    const mergedBefore = mergeSeconds === undefined ? Number.NEGATIVE_INFINITY : cluster.now - mergeSeconds * 1000;
    // Compared with the start of their second: with mergeSeconds 0 nothing waits.
    physical.unmerged = mergeSeconds === 0 ? [] : physical.unmerged.filter(({ at }) => at > mergedBefore);
    const deleted = physical.unmerged.reduce((sum, { rows }) => sum + rows, 0);
    return emptyBytes + (physical.store.alive + deleted) * rowBytes;
  };
  const indices = [...cluster.logical.values()];
  if (behaviour.sizes === 'one-store') {
    const total = indices.reduce((sum, { physical }) => sum + bytes(physical), 0);
    return {
      indexSizes: [
        { indexName: 'public.metadata_timeseries_aspect', entityName: '*', aspectName: '*', sizeInMb: total / 1e6 },
      ],
    };
  }
  return {
    indexSizes: indices.map(({ entityType, aspect, physical }) => ({
      indexName: physical.name,
      ...(behaviour.sizes === 'no-names'
        ? {}
        : { entityName: entityType.toLowerCase(), aspectName: aspect.toLowerCase() }),
      // The first releases divided by a thousand and called it megabytes.
      ...(behaviour.sizes === 'sizeMb' ? { sizeMb: bytes(physical) / 1e3 } : { sizeInMb: bytes(physical) / 1e6 }),
    })),
  };
}
