import { anIndexOf, asReindex, day, type Nights, slowly, twoIndices } from './night.ts';

const rows = [anIndexOf(12_000, 18_000)];

/** Nights that end before a truncation does, or that do not see it end. */
export const unresolved: Nights = {
  'still-running': {
    async play(begin) {
      const { night } = await begin({ ...slowly, settings: { maxRunHours: 1 } });
      return night();
    },
  },

  'reindex-still-running': {
    async play(begin) {
      const { night } = await begin({
        rowsPerSecond: 0.05,
        policies: [{ ...asReindex[0], batchSize: 10 }],
        settings: { maxRunHours: 1 },
      });
      return night();
    },
  },

  vanished: {
    async play(begin) {
      return (await begin({ indices: rows, faults: ['restart-at=0.5'] })).night();
    },
  },

  hangs: {
    async play(begin) {
      // Its one batch takes days.
      const { night } = await begin({ indices: rows, rowsPerSecond: 0.01, settings: { maxRunHours: 6 } });
      return night();
    },
  },

  'unknown-and-breaker': {
    async play(begin) {
      // A delete would not be a reason to stop.
      const policies = twoIndices.policies.map((policy) => ({ ...policy, strategy: 'reindex' }));
      return (await begin({ ...twoIndices, policies, faults: ['gateway-timeout', 'status-lost'] })).night();
    },
  },
};

/** The same nights one night later, and ends that prove too little. */
export const ends: Nights = {
  'given-up-next-night': {
    async play(begin) {
      const deployment = await begin({ indices: rows, faults: ['gateway-timeout', 'abort-at=0.5'] });
      await deployment.night();
      deployment.service.engine.set({ interceptions: [], abortAtShare: undefined });
      deployment.clock.time += day;
      return deployment.night();
    },
  },

  'reindex-unproven': {
    async play(begin) {
      return (await begin({ indices: rows, faults: ['gateway-timeout', 'status-lost'], policies: asReindex })).night();
    },
  },

  cancelled: {
    async play(begin) {
      return (await begin({ indices: rows, faults: ['cancel-at=0.5'] })).night();
    },
  },

  conflicts: {
    async play(begin) {
      return (await begin({ indices: rows, faults: ['conflicts=1'] })).night();
    },
  },

  'hangs-while-others-start': {
    async play(begin) {
      const deployment = await begin({ ...twoIndices, rowsPerSecond: 0.01, policies: twoIndices.policies.slice(0, 1) });
      deployment.settings.maxRunHours = 1;
      await deployment.night();
      deployment.policies = twoIndices.policies;
      deployment.settings.maxRunHours = 12;
      return deployment.night();
    },
  },
};
