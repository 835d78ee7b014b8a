import type { Behavior } from '../behavior.ts';
import { RestliError, readParameters } from './restli.ts';
import type { Counts, Server } from './search-engine.ts';
import { dryRunSentence, type Mode } from './sentence.ts';
import { type Steps, step } from './steps.ts';

export type TruncateRequest = {
  entityType: string;
  aspect: string;
  endTimeMillis: number;
  dryRun?: boolean;
  batchSize?: number;
  timeoutSeconds?: number;
  forceDeleteByQuery?: boolean;
};

/** @throws RestliError 400 */
export const readTruncateRequest = (body: Record<string, unknown>) =>
  readParameters<TruncateRequest>(body, ['entityType', 'aspect', 'endTimeMillis']);

/**
 * `truncateTimeseriesAspect` (specification 4.1; DataHub's OperationsResource).
 * @returns the text of `value`: the dry run's sentence, or the id of the task that was started
 * @throws RestliError
 */
export function* truncate(server: Server, given: TruncateRequest): Steps<string> {
  const { behavior, engine } = server;
  if (behavior.refusesForceFlags && given.forceDeleteByQuery !== undefined) {
    throw new RestliError(400, "Parameter 'forceDeleteByQuery' is not known to this action");
  }
  yield* checkEntity(server, given.entityType);
  const index = yield* step(engine.index(given.entityType, given.aspect));
  const counts = yield* step(engine.count(index, given.endTimeMillis));
  const mode = chooseMode(behavior, given.forceDeleteByQuery === true, counts);
  if (given.dryRun ?? true) return dryRunSentence(counts, mode, behavior);
  const submission = {
    endTimeMillis: given.endTimeMillis,
    batchSize: given.batchSize,
    timeoutSeconds: given.timeoutSeconds ?? 0,
  };
  const started = mode === 'reindex' ? engine.startReindex(index, submission) : engine.startDelete(index, submission);
  return taskIdOf(behavior.taskIds, given, yield* step(started), server.uuid);
}

function chooseMode({ mode, knowsForceFlags }: Behavior, forced: boolean, { matching, total }: Counts): Mode {
  if (mode === 'always-delete' || (forced && knowsForceFlags)) return 'delete';
  // The server uses integer division; exactly half is still deleted.
  return mode === 'always-reindex' || matching > Math.floor(total / 2) ? 'reindex' : 'delete';
}

/** Entity types that GMS knows but has no time series index for; lower-case. */
const otherEntities = new Set(
  'dataset chart dashboard query dataprocessinstance assertion datajob dataflow container corpuser corpgroup domain tag glossaryterm mlmodel'.split(
    ' ',
  ),
);

/** The entity registry detects an unknown type before the search engine is asked. */
function* checkEntity({ behavior, engine }: Server, entityType: string): Steps<void> {
  const entity = entityType.toLowerCase();
  if (!behavior.knowsEntities || otherEntities.has(entity)) return;
  if ((yield* step(engine.entityTypes())).includes(entity)) return;
  throw new RestliError(400, `Failed to find entity with name ${entityType} in EntityRegistry`);
}

/** What a client gets for a task: its id, or what this server returns instead. */
function taskIdOf(form: Behavior['taskIds'], given: TruncateRequest, id: string, uuid: () => string): string {
  switch (form) {
    case 'node:number':
      return id;
    case 'uuid':
      return uuid();
    case 'empty':
      return '';
    case 'sentence':
      return `Reindex ${given.entityType} ${given.aspect} index`;
  }
}
