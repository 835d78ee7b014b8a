import { leastAgeMillis } from '../facts/limits.ts';

/**
 * What depends on the store behind DataHub's time series aspects: what an index's names say, and how a task is stopped.
 * Elasticsearch and OpenSearch are one kind; PostgreSQL (datahub PR #18816) has one table, task ids of its own, and no
 * reindex. Another kind of store belongs here, and nowhere else.
 *
 * A physical index has one of three kinds of names:
 *
 *   <alias>                                 created with the installation: no alias, its own name serves as one
 *   <alias>_<13 digits>                     a reindex in place, ours or anyone's (ESIndexBuilder.getNextIndexName), or
 *                                           an upgrade that blocks writes
 *   <alias>_<version>_<13 digits>           an upgrade without downtime (ESIndexBuilder.getIncrementalNextIndexName,
 *                                           datahub PR #16887), e.g. dataset_operationaspect_v1_1_7_0-0_1754300000000
 *
 * The digits are epoch milliseconds of the server's clock at which that copy began. The alias is everything up to and
 * including `aspect_v1`, with the server's prefix in front, if there is one.
 */

const ending = 'aspect_v1';
const physicalName = new RegExp(`^(?<alias>.+${ending})(?:_(?<suffix>.+))?$`, 'u');
const timedSuffix = /^(?<version>.+_)?(?<digits>\d{13})$/u;

/** What the name of a physical index says. */
export interface PhysicalName {
  alias: string;
  /** When the copy that created it began: epoch milliseconds of the server's clock; undefined for a concrete index. */
  madeAt?: number;
  /** Whether a reindex in place creates such names; a name without a time, or with anything else in it, is not ours. */
  isReindexed: boolean;
}

/** @returns undefined for names that are not those of a time series index */
export function physicalNameOf(indexName: string | undefined): PhysicalName | undefined {
  const { alias, suffix = '' } = physicalName.exec(indexName ?? '')?.groups ?? {};
  if (alias === undefined) return undefined;
  const { version, digits } = timedSuffix.exec(suffix)?.groups ?? {};
  if (digits === undefined) return { alias, isReindexed: false };
  return { alias, madeAt: Number(digits), isReindexed: version === undefined };
}

/**
 * When a physical index was created, according to its name: epoch milliseconds of the server's clock, if it has a
 * time.
 */
export const madeAtOf = (indexName: string | undefined): number | undefined => physicalNameOf(indexName)?.madeAt;

/** An upgrade without downtime created it: its copy keeps catching up for days. */
export function isUpgraded(indexName: string | undefined): boolean {
  const name = physicalNameOf(indexName);
  return name?.madeAt !== undefined && !name.isReindexed;
}

/**
 * Until when another process may be copying into an index, according to its name: epoch milliseconds of the server's
 * clock. Undefined if the name has no time.
 */
export function mayBeCopiedUntil(indexName: string | undefined): number | undefined {
  const madeAt = madeAtOf(indexName);
  if (madeAt === undefined) return undefined;
  return madeAt + (isUpgraded(indexName) ? leastAgeMillis.upgraded : leastAgeMillis.reindexed);
}

/** The name that DataHub reads and writes by; the given name if it is not that of a time series index. */
export const aliasOf = (indexName: string): string => physicalNameOf(indexName)?.alias ?? indexName;

/**
 * The alias of an entity type and aspect, without the server's prefix. DataHub joins the two with an underscore, in
 * lower case (IndexConventionImpl): `a_b.c` and `a.b_c` share one index.
 */
export const aliasFor = ({ entityType, aspect }: { entityType: string; aspect: string }): string =>
  `${entityType}_${aspect}${ending}`.toLowerCase();

/** `<prefix>entity_aspect` of a physical name or alias; undefined if it is not that of a time series index. */
export const baseOf = (indexName: string): string | undefined =>
  physicalNameOf(indexName)?.alias.slice(0, -ending.length);

/**
 * The check that GMS itself makes before it asks its search engine (OperationsResource in datahub); the number must not
 * be 0.
 */
const searchTask = /^[a-zA-Z0-9-_]{1,200}:0*[1-9][0-9]{0,18}$/;

/** The PostgreSQL backend's background deletion has a UUID, which `getEsTaskStatus` refuses (datahub PR #18816). */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Which kind of store gave a task its id; undefined for anything that is not a task id. */
export function taskKind(taskId: string): 'search-engine' | 'postgres' | undefined {
  if (searchTask.test(taskId)) return 'search-engine';
  return uuid.test(taskId) ? 'postgres' : undefined;
}

/** The request that stops a task; deleted rows stay deleted. Undefined if the store has none. */
export const stopRequest = (taskId: string | undefined): string | undefined =>
  taskId !== undefined && taskKind(taskId) === 'search-engine' ? `POST _tasks/${taskId}/_cancel` : undefined;

/** The request that shows a task. */
export const taskRequest = (taskId: string | undefined): string | undefined =>
  taskId !== undefined && taskKind(taskId) === 'search-engine' ? `GET _tasks/${taskId}` : undefined;

/** The same for a task that someone starts by hand: TASK is the ID in the answer. */
export const taskPlaceholderRequest = 'GET _tasks/TASK';

/** Frees the space of deleted rows by rewriting the segments that have some. */
export const expungeRequest = (alias: string): string => `POST /${alias}/_forcemerge?only_expunge_deletes=true`;

/** Everything that deletes or copies. */
export const listTasksRequest = 'GET _tasks?actions=*byquery,*reindex&detailed';
