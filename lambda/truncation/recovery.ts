import { dayMillis } from '../facts/limits.ts';
import { madeAtOf } from '../operations/backend.ts';

/** DataHub's system-update deletes unaliased indices created longer ago than this (ELASTICSEARCH_BUILD_INDICES_RETENTION_VALUE, default 60 days). */
const orphanRetentionDays = 60;

/**
 * Where missing rows still are. Rows of time series aspects exist only in the search engine, so nothing in DataHub can
 * restore them; a reindex leaves the complete old index behind, without an alias.
 * @param before the physical index at the call, or at the last verdict
 * @param now the one behind the alias now
 * @returns the index that holds the rows, and when an upgrade may start to delete it (epoch milliseconds), if known
 */
export function recoveryFacts(
  before: string | undefined,
  now: string | undefined,
): { rowsIn?: string; deadline?: number } {
  if (before === undefined || now === undefined || before === now) return {};
  const madeAt = madeAtOf(before);
  return { rowsIn: before, ...(madeAt !== undefined && { deadline: madeAt + orphanRetentionDays * dayMillis }) };
}
