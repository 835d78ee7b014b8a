import { RestliError } from './restli.ts';
import type { Server } from './server-context.ts';
import { readTruncateRequest, truncate } from './truncate.ts';

/** The pairs that datahub-gc truncates, in its order. */
const pairs = [
  ['dataset', 'operation'],
  ['dataset', 'datasetUsageStatistics'],
  ['chart', 'chartUsageStatistics'],
  ['dashboard', 'dashboardUsageStatistics'],
  ['query', 'queryUsageStatistics'],
] as const;

/**
 * What DataHub's bootstrapped datahub-gc source does to the indices at night: a truncate without batch size and flags,
 * and on any error the same with forceDeleteByQuery.
 * @returns the indices that it touched, as `dataset.operation`
 */
export function runGc(server: Server, days: number): string[] {
  const endTimeMillis = server.cluster.now - days * 86_400_000;
  const touched: string[] = [];
  for (const [entityType, aspect] of pairs) {
    if (!server.cluster.logical.has(`${entityType}.${aspect}`.toLowerCase())) continue;
    const fields = { entityType, aspect, endTimeMillis, dryRun: false };
    try {
      truncate(server, readTruncateRequest(fields));
    } catch (error) {
      if (!(error instanceof RestliError)) throw error;
      truncate(server, readTruncateRequest({ ...fields, forceDeleteByQuery: true }));
    }
    touched.push(`${entityType}.${aspect}`);
  }
  return touched;
}
