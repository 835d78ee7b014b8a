import { type Behaviour, specified } from './simulation/behaviour.ts';

/** The servers found in practice, one row each. Sources and dates: docs/operations-service.md. */

export const profileNames = [
  'specification',
  '0.10.5',
  '0.11',
  '0.12',
  '0.13.2-1.1',
  '1.2-1.5',
  'newest',
  'postgres',
] as const;

export type ProfileName = (typeof profileNames)[number];

export interface Profile {
  name: ProfileName;
  summary: string;
  behaviour: Behaviour;
}

/** What every DataHub release on Elasticsearch or OpenSearch has in common; where they differ, up to 1.1. */
const datahub: Behaviour = {
  ...specified,
  mode: 'reindex-above-half',
  reindexBatchSize: 0,
  refreshSeconds: 1,
  refreshSourceBeforeReindex: false,
  statusForm: 'text',
  mergeSeconds: 600,
  firstSearchMillis: 200,
  batchJitter: 0.3,
  strippedPrefixes: [],
};

/** From 1.2.0 on. */
const since12: Behaviour = {
  ...datahub,
  deleteBatchSize: 5000,
  refreshSeconds: 3,
  refreshSourceBeforeReindex: true,
};

const behaviours: Record<ProfileName, { summary: string; behaviour: Behaviour }> = {
  specification: {
    summary: 'the specification taken literally: reindexes unless forceDeleteByQuery is sent, counts change at once',
    behaviour: specified,
  },
  '0.10.5': {
    summary: 'the first release (July 2023): force flags ignored, sizes as sizeMb, a missing privilege is 401',
    behaviour: { ...datahub, knowsForceFlags: false, sizes: 'sizeMb', deniedStatus: 401, knowsEntities: false },
  },
  '0.11': {
    summary:
      'September 2023, on managed OpenSearch: force flags known, getIndexSizes fails, a missing privilege is 401',
    behaviour: { ...datahub, sizes: 'failing', deniedStatus: 401, knowsEntities: false },
  },
  '0.12': {
    summary: '0.12.0 and 0.12.1: getIndexSizes answers everywhere, still as sizeMb, a missing privilege is 401',
    behaviour: { ...datahub, sizes: 'sizeMb', deniedStatus: 401, knowsEntities: false },
  },
  '0.13.2-1.1': {
    summary: '2024 to mid 2025: reindex works where batchSize is sent, a missing privilege is 403',
    behaviour: datahub,
  },
  '1.2-1.5': {
    summary: 'mid 2025 to 2026: every reindex fails with 400 after it has moved the alias to an empty index',
    behaviour: { ...since12, reindexFailsAfterSwap: 400 },
  },
  newest: {
    summary:
      '1.6 and newer: reindex works where batchSize is sent (in slices only with more than one shard), but leaves the live index without refresh',
    behaviour: { ...since12, refreshOffAfterReindex: true },
  },
  postgres: {
    summary: 'the Postgres backend (2026): UUIDs instead of task ids, no task status, names compared exactly, one size',
    behaviour: {
      ...since12,
      mode: 'always-delete',
      deleteBatchSize: 0,
      maxBatchSize: Number.MAX_SAFE_INTEGER,
      refreshSeconds: 0,
      timeoutEndsTask: true,
      taskIds: 'uuid',
      statusKnown: false,
      exactNames: true,
      sizes: 'one-store',
    },
  },
};

export const profiles: readonly Profile[] = profileNames.map((name) => ({ name, ...behaviours[name] }));

/** @throws RangeError for a name that is not one of `profileNames`. */
export function profileNamed(name: string): Profile {
  const found = profiles.find((profile) => profile.name === name);
  if (found === undefined) throw new RangeError(`unknown profile ${name}; known are ${profileNames.join(', ')}`);
  return found;
}
