import { RestliError, readParameters } from './restli.ts';
import type { Counts, Server } from './search-engine.ts';
import { dryRunSentence, type Mode } from './sentence.ts';
import { type Steps, step } from './steps.ts';

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

const forceFlags = ['forceDeleteByQuery', 'forceReindex'] as const;

/**
 * `truncateTimeseriesAspect` (specification 4.1; DataHub's OperationsResource).
 * @returns the text of `value`: the dry run's sentence, or the id of the task that was started
 * @throws RestliError
 */
export function* truncate(server: Server, given: TruncateRequest): Steps<string> {
  const { behaviour, engine } = server;
  const refused = behaviour.refusesForceFlags && forceFlags.find((flag) => given[flag] !== undefined);
  if (refused) throw new RestliError(400, `Parameter '${refused}' is not known to this action`);
  const forceDelete = behaviour.knowsForceFlags ? given.forceDeleteByQuery : undefined;
  const forceReindex = behaviour.knowsForceFlags ? given.forceReindex : undefined;
  if (forceDelete !== undefined && forceDelete === forceReindex) {
    return 'please only set forceReindex OR forceDeleteByQuery flags';
  }
  if (behaviour.mode === 'always-delete' && forceReindex === true) {
    throw new RestliError(500, 'java.lang.UnsupportedOperationException: PostgreSQL does not support reindex');
  }
  yield* checkEntity(server, given.entityType);
  const index = yield* step(engine.index(given.entityType, given.aspect));
  const counts = index === undefined ? none : yield* step(engine.count(index, given.endTimeMillis));
  const mode = chooseMode(behaviour.mode, forceDelete === true, forceReindex === true, counts);
  if (given.dryRun ?? true) return dryRunSentence(counts, mode, behaviour);
  if (index === undefined) return server.answeredTaskId(given, engine.idleTask());
  const submission = {
    endTimeMillis: given.endTimeMillis,
    batchSize: given.batchSize,
    timeoutSeconds: given.timeoutSeconds ?? 0,
  };
  const started = mode === 'reindex' ? engine.startReindex(index, submission) : engine.startDelete(index, submission);
  return server.answeredTaskId(given, yield* step(started));
}

const none: Counts = { matching: 0, total: 0 };

function chooseMode(
  rule: 'always-reindex' | 'reindex-above-half' | 'always-delete',
  forceDelete: boolean,
  forceReindex: boolean,
  { matching, total }: Counts,
): Mode {
  if (rule === 'always-delete' || forceDelete) return 'delete';
  // The server uses integer division; exactly half is still deleted.
  return forceReindex || rule === 'always-reindex' || matching > Math.floor(total / 2) ? 'reindex' : 'delete';
}

/** Entity types that GMS knows but has no time series index for; lower-case. */
const otherEntities = new Set(
  'dataset chart dashboard query dataprocessinstance assertion datajob dataflow container corpuser corpgroup domain tag glossaryterm mlmodel'.split(
    ' ',
  ),
);

/** The entity registry detects an unknown type before the search engine is asked. */
function* checkEntity({ behaviour, engine }: Server, entityType: string): Steps<void> {
  const entity = entityType.toLowerCase();
  if (!behaviour.knowsEntities || behaviour.exactNames || otherEntities.has(entity)) return;
  if ((yield* step(engine.entityTypes())).includes(entity)) return;
  throw new RestliError(400, `Failed to find entity with name ${entityType} in EntityRegistry`);
}
