import type { Simulation } from './simulation/simulated/simulation.ts';
import { RestliError } from './simulation/wire/restli.ts';
import { atOnce } from './simulation/wire/steps.ts';
import { readTruncateRequest, truncate } from './simulation/wire/truncate.ts';

/** The pairs that datahub-gc truncates, in its order and as acryl-datahub 1.7.0.17 writes them. */
const pairs = [
  ['dataset', 'operation'],
  ['dataset', 'datasetusagestatistics'],
  ['chart', 'chartUsageStatistics'],
  ['dashboard', 'dashboardUsageStatistics'],
  ['query', 'queryusagestatistics'],
] as const;

/**
 * What DataHub's bootstrapped datahub-gc source does to the indices at night: for each pair a dry run, then a truncate
 * without batch size and flags, and again with forceDeleteByQuery if the answer is an error. A pair that fails even
 * then is skipped.
 * @returns the indices that it has touched, as `dataset.operation`
 */
export function runGc(simulation: Simulation, days: number): string[] {
  return pairs.flatMap(([entityType, aspect]) => {
    const fields = { entityType, aspect, endTimeMillis: simulation.cluster.now - days * 86_400_000 };
    const insist = (dryRun: boolean) =>
      ask(simulation, { ...fields, dryRun }) || ask(simulation, { ...fields, dryRun, forceDeleteByQuery: true });
    const index = simulation.cluster.logical.get(`${entityType}.${aspect}`.toLowerCase());
    return insist(true) && insist(false) && index ? [`${index.entityType}.${index.aspect}`] : [];
  });
}

/** @returns whether it was answered without an error */
function ask(simulation: Simulation, fields: Record<string, unknown>): boolean {
  try {
    atOnce(truncate(simulation, readTruncateRequest(fields)));
    return true;
  } catch (error) {
    if (error instanceof RestliError) return false;
    throw error;
  }
}
