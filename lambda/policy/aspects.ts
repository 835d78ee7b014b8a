import { aliasFor, baseOf, type IndexNames } from '../gms/backend.ts';

/** The time series aspects of open-source DataHub in canonical spelling (entity registry, DataHub 1.x). */
const canonical: ReadonlyArray<readonly [entityType: string, aspect: string]> = [
  ['dataset', 'datasetUsageStatistics'],
  ['dataset', 'operation'],
  ['dataset', 'datasetProfile'],
  ['chart', 'chartUsageStatistics'],
  ['dashboard', 'dashboardUsageStatistics'],
  ['query', 'queryUsageStatistics'],
  ['dataProcessInstance', 'dataProcessInstanceRunEvent'],
  ['assertion', 'assertionRunEvent'],
  ['dataJob', 'datahubIngestionRunSummary'],
  ['dataJob', 'datahubIngestionCheckpoint'],
];

/** The same as objects, to try them one by one if the server does not list its indices. */
export const knownAspects: readonly IndexNames[] = canonical.map(([entityType, aspect]) => ({ entityType, aspect }));

/** An index as policies, commands and people name it: `dataset.operation`. */
export const dottedName = ({ entityType, aspect }: IndexNames): string => `${entityType}.${aspect}`;

/** The reverse. Everything after the first dot is the aspect. */
export const fromDottedName = (name: string): IndexNames => {
  const [entityType = '', ...aspect] = name.split('.');
  return { entityType, aspect: aspect.join('.') };
};

/** The names that a value states, if any, whatever else is wrong with it. */
export function namesIn(value: unknown): IndexNames | undefined {
  const { entityType, aspect } = Object(value) as Record<string, unknown>;
  return typeof entityType === 'string' && typeof aspect === 'string' ? { entityType, aspect } : undefined;
}

const byKey = new Map(knownAspects.map((known) => [dottedName(known).toLowerCase(), known]));

/**
 * The spelling that DataHub itself uses, or the given one for unknown aspects. Elasticsearch and OpenSearch accept any
 * case; DataHub's Postgres backend compares names exactly (datahub PR #18816).
 */
export function canonicalSpelling(entityType: string, aspect: string): IndexNames {
  return byKey.get(dottedName({ entityType, aspect }).toLowerCase()) ?? { entityType, aspect };
}

/** State of stateful ingestion, not history: without the last checkpoint deletions go undetected. */
export const isProtected = (aspect: string): boolean => aspect.toLowerCase() === 'datahubingestioncheckpoint';

/**
 * The search index of an entity type and aspect, without the server's prefix: the key of ledger and policies. `a_b.c`
 * and `a.b_c` share one index, which two policies would truncate in turn without knowing about each other.
 */
export const searchIndex = aliasFor;

/** For each of these names, the positions of all names that share its search index; an unknown one shares with none. */
export function sharingIndex(names: readonly (IndexNames | undefined)[]): number[][] {
  const indices = names.map((one) => one && searchIndex(one));
  const positions = new Map<string, number[]>();
  indices.forEach((index, at) => {
    if (index === undefined) return;
    const same = positions.get(index);
    if (same) same.push(at);
    else positions.set(index, [at]);
  });
  return indices.map((index, at) => (index === undefined ? [at] : (positions.get(index) ?? [])));
}

/**
 * Names for a search index. If an underscore may be part of either name, every split leads back to the same index.
 * Anything else becomes the entity type, with an empty aspect.
 */
export function namesOfIndex(index: string): IndexNames {
  const [, entityType = index, aspect = ''] = /^([^_]+)_(.+)$/.exec(baseOf(index) ?? '') ?? [];
  const names = canonicalSpelling(entityType, aspect);
  return searchIndex(names) === index ? names : { entityType: index, aspect: '' };
}

/** The search index for a name as people write it: `Dataset.Operation`. */
export const searchIndexOfName = (name: string): string => {
  const { entityType, aspect } = fromDottedName(name);
  return aliasFor({ entityType, aspect: aspect.replaceAll('.', '_') });
};
