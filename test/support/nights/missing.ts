import type { Deployment } from '../deployment.ts';
import { anIndexOf, asReindex, day, hour, type Nights, policyFor, twoIndices } from './night.ts';

const rows = [anIndexOf(12_000, 18_000)];

/** A reindex that moves the alias and then dies. */
export async function brokenReindex(begin: Parameters<Nights[string]['play']>[0]): Promise<Deployment> {
  return begin({ faults: ['reindex-fails=400'], policies: asReindex, indices: rows });
}

/** Nights in which rows that should have stayed are gone. */
export const missing: Nights = {
  'rows-missing-after-a-reindex': {
    async play(begin) {
      return (await brokenReindex(begin)).night();
    },
  },

  'quarantined-next-night': {
    async play(begin) {
      const deployment = await brokenReindex(begin);
      await deployment.night();
      deployment.clock.time += day;
      return deployment.night();
    },
  },

  'quarantined-beside-another': {
    async play(begin) {
      const deployment = await begin({
        faults: ['reindex-fails=400'],
        indices: [anIndexOf(12_000, 18_000), anIndexOf(98_000, 4_000, 'datasetProfile')],
        policies: [
          ...asReindex,
          policyFor('datasetProfile', { maxDeletePercent: 90, note: 'Legal wants a year of it' }),
        ],
      });
      await deployment.night();
      deployment.clock.time += hour;
      return deployment.night({ only: ['dataset.datasetProfile'] });
    },
  },

  'rows-missing-by-others': {
    async play(begin) {
      const deployment = await begin({ ...twoIndices, rowsPerSecond: 400 });
      const { engine } = deployment.service;
      engine.schedule(deployment.clock.time + 15_000, () => {
        engine.removeRows('dataset.operation', ({ id }) => id % 4 === 0);
      });
      return deployment.night();
    },
  },

  'gone-since-the-last-night': {
    async play(begin) {
      const deployment = await begin({ indices: rows });
      await deployment.night();
      deployment.service.engine.removeRows('dataset.operation', ({ id }) => id % 3 !== 0);
      deployment.clock.time += day;
      return deployment.night();
    },
  },

  'gone-since-by-a-reindex': {
    async play(begin) {
      const deployment = await begin({ indices: rows });
      await deployment.night();
      deployment.clock.time += 20 * hour;
      const { engine } = deployment.service;
      engine.fault('reindex-fails=500');
      engine.truncateByOthers('dataset.operation', {
        endTimeMillis: deployment.clock.time - 30 * day,
        forceReindex: true,
      });
      engine.set({ reindexFailsAfterSwap: undefined });
      deployment.clock.time += 4 * hour;
      return deployment.night();
    },
  },
};

/** Nights in which rows are there but invisible. */
export const unseen: Nights = {
  'copied-but-not-visible': {
    async play(begin) {
      return (await begin({ faults: ['refresh-off-after-reindex'], policies: asReindex, indices: rows })).night();
    },
  },

  'deleted-but-not-visible': {
    async play(begin) {
      const deployment = await begin({ indices: rows });
      deployment.service.engine.refreshing('dataset.operation', false);
      return deployment.night();
    },
  },

  'index-gone': {
    async play(begin) {
      const deployment = await begin({ indices: rows, rowsPerSecond: 0.001, settings: { maxRunHours: 4 } });
      await deployment.night();
      const { engine } = deployment.service;
      engine.deleteIndex(engine.indices()[0]!.name);
      engine.restartNode();
      deployment.clock.time += day;
      return deployment.night();
    },
  },
};
