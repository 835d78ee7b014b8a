import type { LogicalIndex } from './cluster.ts';
import { RestliError, readParameters } from './restli.ts';
import { dryRunSentence, type Mode } from './sentence.ts';
import type { Server } from './server-context.ts';
import { startDelete, startReindex } from './submit.ts';

const action = 'truncateTimeseriesAspect';

const parameters = {
  entityType: { type: 'String', required: true },
  aspect: { type: 'String', required: true },
  endTimeMillis: { type: 'Long', required: true },
  dryRun: { type: 'Boolean' },
  batchSize: { type: 'Integer' },
  timeoutSeconds: { type: 'Long' },
  forceDeleteByQuery: { type: 'Boolean' },
  forceReindex: { type: 'Boolean' },
} as const;

export type TruncateRequest = ReturnType<typeof readTruncateRequest>;

/** @throws RestliError 400 */
export const readTruncateRequest = (body: Record<string, unknown>) => readParameters(action, parameters, body);

/**
 * `truncateTimeseriesAspect` (specification 4.1).
 * @returns the text of `value`: the dry run's sentence, or the id of the task that was started
 * @throws RestliError
 */
export function truncate(server: Server, given: TruncateRequest): string {
  const { behaviour } = server;
  const forceDelete = behaviour.knowsForceFlags ? given.forceDeleteByQuery : undefined;
  const forceReindex = behaviour.knowsForceFlags ? given.forceReindex : undefined;
  if (forceDelete !== undefined && forceDelete === forceReindex) {
    return 'please only set forceReindex OR forceDeleteByQuery flags';
  }
  if (behaviour.mode === 'always-delete' && forceReindex === true) {
    throw new RestliError(500, 'java.lang.UnsupportedOperationException: PostgreSQL does not support reindex');
  }
  const index = findIndex(server, given.entityType, given.aspect);
  const counts = index?.physical.store.count(given.endTimeMillis) ?? { matching: 0, total: 0 };
  const mode = chooseMode(behaviour.mode, forceDelete === true, forceReindex === true, counts);
  if (given.dryRun ?? true) return dryRunSentence(counts, mode, behaviour);
  const request = {
    endTimeMillis: given.endTimeMillis,
    batchSize: given.batchSize,
    timeoutSeconds: given.timeoutSeconds ?? 0,
  };
  if (index === undefined) return server.answeredTaskId(given);
  return mode === 'reindex' ? startReindex(server, index, request) : startDelete(server, index, request);
}

function chooseMode(
  rule: 'always-reindex' | 'reindex-above-half' | 'always-delete',
  forceDelete: boolean,
  forceReindex: boolean,
  { matching, total }: { matching: number; total: number },
): Mode {
  if (rule === 'always-delete' || forceDelete) return 'delete';
  // The server divides whole numbers; exactly half is still deleted.
  return forceReindex || rule === 'always-reindex' || matching > Math.floor(total / 2) ? 'reindex' : 'delete';
}

/** Entity types that GMS knows without having a time series index for them; lower-case. */
const otherEntities = new Set(
  'dataset chart dashboard query dataprocessinstance assertion datajob dataflow container corpuser corpgroup domain tag glossaryterm mlmodel'.split(
    ' ',
  ),
);

function findIndex({ behaviour, cluster }: Server, entityType: string, aspect: string): LogicalIndex | undefined {
  const key = `${entityType}.${aspect}`.toLowerCase();
  const found = cluster.logical.get(key);
  if (behaviour.exactNames) {
    return found?.entityType === entityType && found.aspect === aspect ? found : undefined;
  }
  if (found !== undefined) return found;
  const entity = entityType.toLowerCase();
  const known = otherEntities.has(entity) || [...cluster.logical.keys()].some((name) => name.startsWith(`${entity}.`));
  if (behaviour.knowsEntities && !known) {
    throw new RestliError(400, `Failed to find entity with name ${entityType} in EntityRegistry`);
  }
  const alias = `${entity}_${aspect.toLowerCase()}aspect_v1`;
  throw new RestliError(
    500,
    `com.datahub.util.exception.ESQueryException: Count query failed: OpenSearchStatusException[OpenSearch exception [type=index_not_found_exception, reason=no such index [${alias}]]]`,
  );
}
