import { RestliError } from '../wire/restli.ts';
import { atOnce } from '../wire/steps.ts';
import { readTruncateRequest, truncate } from '../wire/truncate.ts';
import type { Simulation } from './simulation.ts';

/**
 * The pairs that datahub-gc truncates, in its order and as acryl-datahub 1.7.0.17 writes them: two in lower case, which
 * only matters where names are compared exactly.
 */
const pairs = [
  ['dataset', 'operation'],
  ['dataset', 'datasetusagestatistics'],
  ['chart', 'chartUsageStatistics'],
  ['dashboard', 'dashboardUsageStatistics'],
  ['query', 'queryusagestatistics'],
] as const;

/** Its HTTP client resends a POST on these, this many times; it cannot know what the first one did. */
const retried = new Set([429, 500, 502, 503, 504]);
const retries = 4;

/**
 * What DataHub's bootstrapped datahub-gc source does to the indices at night: for each pair a dry run, then a truncate
 * without batch size and flags; each is resent if the answer is 429 or 5xx, and with forceDeleteByQuery if it is still
 * an error. A pair that fails even then is skipped. Its watching (dry runs, 30 s apart) changes nothing.
 * @returns the indices that it touched, as `dataset.operation`
 */
export function runGc(simulation: Simulation, days: number): string[] {
  const { cluster } = simulation;
  const endTimeMillis = cluster.now - days * 86_400_000;
  const touched: string[] = [];
  for (const [entityType, aspect] of pairs) {
    const index = cluster.logical.get(`${entityType}.${aspect}`.toLowerCase());
    if (index === undefined) continue;
    const fields = { entityType, aspect, endTimeMillis };
    const answered =
      insist(simulation, { ...fields, dryRun: true }) && insist(simulation, { ...fields, dryRun: false });
    // If names are compared exactly, lower-case ones are answered as well, but match no rows.
    const meant = !simulation.behaviour.exactNames || index.aspect === aspect;
    if (answered && meant) touched.push(`${index.entityType}.${index.aspect}`);
  }
  return touched;
}

/** @returns whether there was an answer in the end */
const insist = (simulation: Simulation, fields: Record<string, unknown>): boolean =>
  ask(simulation, fields) || ask(simulation, { ...fields, forceDeleteByQuery: true });

function ask(simulation: Simulation, fields: Record<string, unknown>): boolean {
  for (let tries = 0; ; tries++) {
    try {
      atOnce(truncate(simulation, readTruncateRequest(fields)));
      return true;
    } catch (error) {
      // How it handles an answer is its own business: it must not make another client's request fail.
      if (!(error instanceof RestliError)) throw error;
      if (!retried.has(error.status) || tries === retries) return false;
    }
  }
}
