import { type Behaviour, specified } from '../../local/operations-service/behaviour.ts';

/** The servers found in practice, one row each. Sources and dates: docs/operations-service.md. */

export const profileNames = ['specification', '0.10.5', '0.12', '0.13-1.1', '1.2-1.4', 'newest', 'postgres'] as const;

export type ProfileName = (typeof profileNames)[number];

export interface Profile {
  name: ProfileName;
  summary: string;
  behaviour: Behaviour;
}

/** What every DataHub release on Elasticsearch or OpenSearch has in common. */
const datahub: Behaviour = {
  ...specified,
  mode: 'reindex-above-half',
  reindexBatchSize: 0,
  refreshSeconds: 3,
  refreshSourceBeforeReindex: false,
  statusForm: 'text',
  mergeSeconds: 600,
  firstSearchMillis: 200,
  batchJitter: 0.3,
};

const behaviours: Record<ProfileName, { summary: string; behaviour: Behaviour }> = {
  specification: {
    summary: 'the specification at its word: reindexes unless forceDeleteByQuery is sent, counts are seen at once',
    behaviour: specified,
  },
  '0.10.5': {
    summary: 'the first release (mid 2023): force flags ignored, sizes as sizeMb, a missing privilege is 401',
    behaviour: { ...datahub, knowsForceFlags: false, sizes: 'sizeMb', deniedStatus: 401, knowsEntities: false },
  },
  '0.12': {
    summary: 'autumn 2023: force flags known, getIndexSizes fails on managed OpenSearch, a missing privilege is 401',
    behaviour: { ...datahub, sizes: 'failing', deniedStatus: 401, knowsEntities: false },
  },
  '0.13-1.1': {
    summary: '2024 to mid 2025: reindex works where batchSize is sent, a missing privilege is 403',
    behaviour: { ...datahub },
  },
  '1.2-1.4': {
    summary: 'from mid 2025: every reindex fails with 400 after it has moved the alias to an empty index',
    behaviour: { ...datahub, refreshSourceBeforeReindex: true, reindexSlices: 3, reindexFailsAfterSwap: 400 },
  },
  newest: {
    summary: '2026: reindex works in slices, but leaves the live index without refresh; smaller default batch',
    behaviour: {
      ...datahub,
      deleteBatchSize: 5000,
      refreshSourceBeforeReindex: true,
      reindexSlices: 3,
      refreshOffAfterReindex: true,
    },
  },
  postgres: {
    summary: 'the Postgres backend (2026): UUIDs instead of task ids, no task status, names compared exactly, one size',
    behaviour: {
      ...datahub,
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
