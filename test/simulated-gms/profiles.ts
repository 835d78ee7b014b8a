import { type Behavior, specified } from './simulation/behavior.ts';

/** The servers found in practice, one row each. Sources and dates: docs/operations-service.md. */

/**
 * What every DataHub release on Elasticsearch or OpenSearch has in common and, if they differ, what those up to 1.1 do.
 */
const datahub: Behavior = {
  ...specified,
  mode: 'reindex-above-half',
  reindexBatchSize: 0,
  refreshSeconds: 1,
  refreshSourceBeforeReindex: false,
  statusForm: 'text',
  firstSearchMillis: 200,
  batchJitter: 0.3,
  strippedPrefixes: [],
};

/** From 1.2.0 on. */
const since12: Behavior = {
  ...datahub,
  deleteBatchSize: 5000,
  refreshSeconds: 3,
  refreshSourceBeforeReindex: true,
  slicesReindex: true,
};

export interface Profile {
  summary: string;
  behavior: Behavior;
}

export const profiles = {
  plain: {
    summary: 'no release: reindexes unless forceDeleteByQuery is sent, counts change at once',
    behavior: specified,
  },
  '0.10.5': {
    summary: 'the first release (July 2023): forceDeleteByQuery ignored, sizes as sizeMb, a missing privilege is 401',
    behavior: { ...datahub, knowsForceFlags: false, sizes: 'sizeMb', deniedStatus: 401, knowsEntities: false },
  },
  '0.13.2-1.1': {
    summary: '2024 to mid 2025: reindex works where batchSize is sent, a missing privilege is 403',
    behavior: datahub,
  },
  '1.2-1.5': {
    summary: 'mid 2025 to 2026: every reindex fails with 400 after it has moved the alias to an empty index',
    behavior: { ...since12, reindexFailsAfterSwap: 400 },
  },
  newest: {
    summary: '1.6 and newer: reindex works where batchSize is sent, but leaves the live index without refresh',
    behavior: { ...since12, refreshOffAfterReindex: true },
  },
  'elasticsearch-8': {
    summary: 'Elasticsearch 8 and 9, by DataHub 1.3 and newer: a delete stops at the first row that has changed',
    behavior: { ...since12, refreshOffAfterReindex: true, stopsAtConflict: true },
  },
  postgres: {
    summary: 'the Postgres backend (2026): never reindexes, UUIDs instead of task ids, no task status, one size',
    behavior: {
      ...since12,
      mode: 'always-delete',
      refreshSeconds: 0,
      taskIds: 'uuid',
      statusKnown: false,
      sizes: 'one-store',
    },
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof profiles;

export const profileNames = Object.keys(profiles) as ProfileName[];

export const profileNamed = (name: ProfileName): Profile => profiles[name];
