import { anIndexOf, type Nights, policyFor, tokenFor, twoIndices } from './night.ts';

const preview = { settings: { mode: 'preview' } } as const;

/** Previews change nothing; they start with a preflight. */
export const previews: Nights = {
  preview: {
    async play(begin) {
      const { night } = await begin({
        ...preview,
        token: tokenFor(80),
        indices: [
          anIndexOf(62_000, 41_000),
          anIndexOf(9_000, 1_000, 'datasetUsageStatistics'),
          anIndexOf(43_000, 700, 'dashboardUsageStatistics', 'dashboard'),
          anIndexOf(900, 9_100, 'datasetProfile'),
        ],
        policies: [
          policyFor('operation'),
          policyFor('datasetUsageStatistics', { maxDeletePercent: 95 }),
          policyFor('dashboardUsageStatistics', { maxDeletePercent: 90, owner: 'team-bi@example.com' }, 'dashboard'),
          policyFor('datasetProfile'),
        ],
      });
      return night();
    },
  },

  'preview-without-privileges': {
    async play(begin) {
      const { night } = await begin({ ...preview, ...twoIndices, faults: ['denied=sizes', 'denied=status'] });
      return night();
    },
  },

  'preview-without-server': {
    async play(begin) {
      const deployment = await begin({ ...preview, ...twoIndices });
      await deployment.service.close();
      return deployment.night();
    },
  },

  'preview-with-an-old-token': {
    async play(begin) {
      const { night } = await begin({ ...preview, ...twoIndices, token: tokenFor(10) });
      return night();
    },
  },

  'preview-failed': {
    async play(begin) {
      const { night } = await begin({
        ...preview,
        indices: [...twoIndices.indices, anIndexOf(700, 0, 'runEvent', 'job')],
        policies: [...twoIndices.policies, policyFor('runEvent', {}, 'job'), policyFor('operatoin')],
      });
      return night();
    },
  },
};
