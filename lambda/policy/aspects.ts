import { aliasSuffix, baseOf, type IndexNames } from '../gms/backend.ts';

/** The time series aspects of open-source DataHub in canonical spelling (entity registry, DataHub 1.x). */
export const knownAspects: readonly IndexNames[] = [
  { entityType: 'dataset', aspect: 'datasetUsageStatistics' },
  { entityType: 'dataset', aspect: 'operation' },
  { entityType: 'dataset', aspect: 'datasetProfile' },
  { entityType: 'chart', aspect: 'chartUsageStatistics' },
  { entityType: 'dashboard', aspect: 'dashboardUsageStatistics' },
  { entityType: 'query', aspect: 'queryUsageStatistics' },
  { entityType: 'dataProcessInstance', aspect: 'dataProcessInstanceRunEvent' },
  { entityType: 'assertion', aspect: 'assertionRunEvent' },
  { entityType: 'dataJob', aspect: 'datahubIngestionRunSummary' },
  { entityType: 'dataJob', aspect: 'datahubIngestionCheckpoint' },
];

/** An index as policies, commands and people name it: `dataset.operation`. */
export const dottedName = ({ entityType, aspect }: IndexNames): string => `${entityType}.${aspect}`;

/** Everything after the first dot is the aspect. */
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
 * The search index of an entity type and aspect, without the server's prefix: the key of ledger and policies. DataHub
 * joins the two with an underscore, in lower case (IndexConventionImpl): `a_b.c` and `a.b_c` share one index, which two
 * policies would truncate in turn without knowing about each other.
 */
export const searchIndex = ({ entityType, aspect }: IndexNames): string =>
  `${entityType}_${aspect}${aliasSuffix}`.toLowerCase();

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
  return searchIndex({ entityType, aspect: aspect.replaceAll('.', '_') });
};
