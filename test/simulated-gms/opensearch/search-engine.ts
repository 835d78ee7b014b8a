import type { Client } from '@opensearch-project/opensearch';
import type { Behavior } from '../simulation/behavior.ts';
import { countFailed, deleteFailed, RestliError, unreachable } from '../simulation/wire/restli.ts';
import type { SearchEngine, TaskStatus } from '../simulation/wire/search-engine.ts';
import { answered, causeOf, taskIn } from './answers.ts';
import { aliasOf, partsOf, patternOf } from './names.ts';
import { type NewIndexSettings, submitReindex } from './reindex.ts';

/** An index as GMS knows it: only by its alias. */
export interface Alias {
  alias: string;
}

export interface Surroundings {
  client: Client;
  /** DataHub's INDEX_PREFIX; empty if there is none. */
  prefix: string;
  settings: NewIndexSettings;
  /** The behavior of the DataHub in front; it may change while the service runs. */
  behavior(): Behavior;
  /** Epoch milliseconds, for the names of new indices. */
  now(): number;
}

/** The calls that DataHub's code makes to OpenSearch; a comment next to each says where. */
export function openSearchEngine({ client, prefix, settings, behavior, now }: Surroundings): SearchEngine<Alias> {
  // ElasticSearchTimeseriesAspectService.countByFilter, twice: no snapshot, and only what has been refreshed.
  const count = async (alias: string, query: object): Promise<number> => {
    try {
      return (await client.count({ index: alias, body: { query } })).body.count;
    } catch (error) {
      throw answered(error) ? new RestliError(500, causeOf(error)) : countFailed();
    }
  };

  return {
    async entityTypes() {
      const { body } = await client.indices.get({ index: `${patternOf(prefix)}*`, ignore_unavailable: true });
      return Object.keys(body).flatMap((name) => partsOf(prefix, name)?.entityType ?? []);
    },

    // IndexConventionImpl.getTimeseriesAspectIndexName: nothing checks whether it exists.
    index: (entityType, aspect) => ({ alias: aliasOf(prefix, entityType, aspect) }),

    // OperationsResource.truncateTimeseriesAspect counts the rows to delete, then all.
    async count({ alias }, cutoffMillis) {
      const matching = await count(alias, until(cutoffMillis));
      return { matching, total: await count(alias, { match_all: {} }) };
    },

    // ElasticSearchTimeseriesAspectService.deleteAspectValuesAsync, ESBulkProcessor.deleteByQueryAsync
    async startDelete({ alias }, { endTimeMillis, batchSize, timeoutSeconds }) {
      const { deleteBatchSize } = behavior();
      try {
        const { body } = await client.deleteByQuery({
          index: alias,
          conflicts: 'proceed',
          refresh: false,
          wait_for_completion: false,
          scroll_size: batchSize !== undefined && batchSize > 0 ? batchSize : deleteBatchSize,
          ...(timeoutSeconds > 0 && { timeout: `${timeoutSeconds}s` }),
          body: { query: until(endTimeMillis) },
        });
        return taskIn(body);
      } catch {
        throw deleteFailed();
      }
    },

    startReindex: ({ alias }, submission) =>
      submitReindex(
        { client, settings, behavior: behavior(), now },
        alias,
        after(submission.endTimeMillis),
        submission,
      ),

    // ESSystemMetadataDAO.getTaskStatus: it treats a 404 and an unreachable engine alike.
    async task(id): Promise<TaskStatus | undefined> {
      try {
        const { body } = await client.tasks.get({ task_id: id });
        return {
          completed: body.completed,
          runTimeNanos: Number(body.task.running_time_in_nanos),
          status: body.task.status as object | undefined,
        };
      } catch (error) {
        if (!answered(error) || error.statusCode === 404) return undefined;
        throw new RestliError(500, `java.lang.RuntimeException: ${causeOf(error)}`);
      }
    },

    // ElasticSearchTimeseriesAspectService.getIndexSizes
    async sizes() {
      try {
        const { body } = await client.indices.stats({ index: patternOf(prefix), metric: 'store' });
        return Object.entries(body.indices ?? {}).map(([name, { primaries }]) => ({
          name,
          entityType: partsOf(prefix, name)?.entityType,
          aspect: partsOf(prefix, name)?.aspect,
          bytes: Number(primaries?.store?.size_in_bytes ?? 0),
        }));
      } catch (error) {
        throw answered(error) ? new RestliError(500, `java.lang.RuntimeException: ${causeOf(error)}`) : unreachable();
      }
    },
  };
}

/** The filters of OperationsResource: LESS_THAN_OR_EQUAL_TO for rows to delete, GREATER_THAN for rows that a reindex keeps. */
const until = (cutoffMillis: number) => filter({ lte: wire(cutoffMillis) });
const after = (cutoffMillis: number) => filter({ gt: wire(cutoffMillis) });
const filter = (timestampMillis: object) => ({ bool: { filter: [{ range: { timestampMillis } }] } });

/** Java's largest long would become a JavaScript number that no long can hold, so cutoffs are capped. */
const wire = (millis: number): number => Math.min(millis, Number.MAX_SAFE_INTEGER);
