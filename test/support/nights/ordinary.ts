import { anIndexOf, asReindex, day, hour, type Nights, policyFor, slowly, tokenFor } from './night.ts';

/** Nights in which little or nothing is wrong. */
export const ordinary: Nights = {
  healthy: {
    async play(begin) {
      const { night } = await begin({
        indices: [
          anIndexOf(62_000, 41_000),
          anIndexOf(9_000, 1_000, 'datasetUsageStatistics'),
          anIndexOf(800, 10_000, 'datasetProfile'),
          anIndexOf(2, 9_998, 'assertionRunEvent', 'assertion'),
          anIndexOf(0, 201, 'chartUsageStatistics', 'chart'),
          anIndexOf(0, 0, 'queryUsageStatistics', 'query'),
          anIndexOf(30_000, 30_000, 'dashboardUsageStatistics', 'dashboard'),
          anIndexOf(900, 100, 'datahubIngestionCheckpoint', 'dataJob'),
        ],
        rowsPerSecond: 400,
        policies: [
          policyFor('operation'),
          policyFor('datasetUsageStatistics'),
          policyFor('datasetProfile'),
          policyFor('assertionRunEvent', {}, 'assertion'),
          policyFor('chartUsageStatistics', {}, 'chart'),
          policyFor('queryUsageStatistics', {}, 'query'),
          policyFor('datahubIngestionRunSummary', { enabled: false }, 'dataJob'),
        ],
      });
      return night();
    },
  },

  'nothing-to-do': {
    async play(begin) {
      const { night } = await begin({
        indices: [anIndexOf(300, 9_700), anIndexOf(0, 201, 'datasetProfile')],
        policies: [policyFor('operation'), policyFor('datasetProfile')],
      });
      return night();
    },
  },

  'reindex-proven': {
    async play(begin) {
      const { night } = await begin({ policies: asReindex, indices: [anIndexOf(62_000, 41_000)] });
      return night();
    },
  },

  'with-notes': {
    async play(begin) {
      const deployment = await begin({
        token: tokenFor(10),
        indices: [anIndexOf(30_000, 18_000)],
        faults: ['conflicts=0.0004', 'rows-per-second=1000', 'denied=sizes', 'no-date'],
      });
      const { engine } = deployment.service;
      engine.schedule(deployment.clock.time + 15_000, () => {
        let left = 3;
        engine.removeRows(
          'dataset.operation',
          ({ timestamp }) => timestamp > deployment.clock.time - 9 * day && left-- > 0,
        );
      });
      return deployment.night();
    },
  },

  'adopted-next-night': {
    async play(begin) {
      const deployment = await begin({ ...slowly, settings: { maxRunHours: 1 } });
      await deployment.night();
      deployment.settings.maxRunHours = 12;
      deployment.clock.time += 23 * hour;
      return deployment.night();
    },
  },
};
