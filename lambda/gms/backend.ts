/**
 * What the names of time series indices and tasks say.
 *
 * A physical index has one of three kinds of names:
 *
 *   <alias>                                 created with the installation: no alias, its own name serves as one
 *   <alias>_<13 digits>                     a reindex in place, ours or anyone's (ESIndexBuilder.getNextIndexName), or
 *                                           an upgrade that blocks writes
 *   <alias>_<version>_<13 digits>           an upgrade without downtime (ESIndexBuilder.getIncrementalNextIndexName,
 *                                           datahub PR #16887), e.g. dataset_operationaspect_v1_1_7_0-0_1754300000000
 *
 * The digits are epoch milliseconds of the server's clock at which that reindex began. The alias is everything up to
 * and including `aspect_v1`, with the server's prefix in front, if there is one.
 */

export const aliasSuffix = 'aspect_v1';
const physicalName = new RegExp(`^(?<alias>.+${aliasSuffix})(?:_(?:.+_)?(?<digits>\\d{13})|_.+)?$`, 'u');

/**
 * When a physical index was created, according to its name: epoch milliseconds of the server's clock, if it has a
 * time.
 */
export function createdAtOf(indexName: string): number | undefined {
  const digits = physicalName.exec(indexName)?.groups?.['digits'];
  return digits === undefined ? undefined : Number(digits);
}

/** `<prefix>entity_aspect` of a physical name or alias; undefined if it is not that of a time series index. */
export const baseOf = (indexName: string): string | undefined =>
  physicalName.exec(indexName)?.groups?.['alias']?.slice(0, -aliasSuffix.length);

/** The two names that identify an index everywhere but in the search engine. */
export interface IndexNames {
  entityType: string;
  aspect: string;
}

/** `<node_id>:<task_number>` of the search engine; DataHub itself refuses the number 0 (OperationsResource). */
const searchTask = /^[\w.-]{1,200}:0*[1-9]\d{0,18}$/;

/**
 * An id in the right form that no task has: a token that may read task statuses gets the answer that there is no such
 * task.
 */
export const unknownTaskId = 'no-such-node:1';

/** A background deletion of the PostgreSQL backend; `getEsTaskStatus` refuses its id (datahub PR #18816). */
const postgresTask = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The id of a started task in the answer to a real truncate.
 * @returns undefined for everything else (an empty value, a sentence): whether something started is then unknown
 */
export function readTaskId(text: string): string | undefined {
  const taskId = text.trim();
  return searchTask.test(taskId) || postgresTask.test(taskId) ? taskId : undefined;
}
