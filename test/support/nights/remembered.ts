import { MemoryError } from '../../../lambda/memory/night.ts';
import type { Deployment } from '../deployment.ts';
import { anIndexOf, type Begin, day, hour, type Nights, policyFor } from './night.ts';

/** Nights that know earlier ones: bites, growth, estimates, and what other processes did. */

const operation = 'dataset.operation';

/** An ordinary night: rows arrive, and a night passes. */
async function ordinaryNights(deployment: Deployment, nights: number, arrivals: Readonly<Record<string, number>>) {
  for (let at = 0; at < nights; at++) {
    await deployment.night({}, `before-${at}`);
    deployment.clock.time += day;
    for (const [index, rows] of Object.entries(arrivals)) {
      const { time } = deployment.clock;
      deployment.service.engine.addRows(
        index,
        Array.from({ length: rows }, (_, row) => time - (row * 20 * hour) / rows),
      );
    }
  }
}

/** Two of five bites are done. */
async function beganWithBites(begin: Begin): Promise<Deployment> {
  const deployment = await begin({
    indices: [anIndexOf(66_000, 20_000)],
    rowsPerSecond: 100,
    policies: [policyFor('operation', { maxRowsPerRun: 10_000 })],
  });
  await ordinaryNights(deployment, 2, {});
  return deployment;
}

export const remembered: Nights = {
  'a-bite-of-many': {
    async play(begin) {
      const deployment = await beganWithBites(begin);
      return deployment.night();
    },
  },

  'a-bite-foreseen': {
    async play(begin) {
      const deployment = await beganWithBites(begin);
      return deployment.night({ mode: 'preview' });
    },
  },

  'a-step-larger-than-a-bite': {
    async play(begin) {
      const deployment = await begin({
        indices: [anIndexOf(0, 4_000)],
        policies: [policyFor('operation', { maxRowsPerRun: 10_000 })],
      });
      const midnight = Math.floor((deployment.clock.time - 60 * day) / day) * day;
      deployment.service.engine.addRows(operation, Array(25_000).fill(midnight));
      return deployment.night();
    },
  },

  growing: {
    async play(begin) {
      const deployment = await begin({
        indices: [
          anIndexOf(2_000, 40_000),
          anIndexOf(0, 9_000, 'datasetProfile'),
          anIndexOf(9_000, 60_000, 'dashboardUsageStatistics', 'dashboard'),
          anIndexOf(0, 3_000, 'chartUsageStatistics', 'chart'),
        ],
        policies: [policyFor('operation', { retentionDays: 22 }), policyFor('datasetProfile')],
      });
      await ordinaryNights(deployment, 5, {
        [operation]: 2_500,
        'dataset.datasetProfile': 100,
        'dashboard.dashboardUsageStatistics': 9_000,
      });
      return deployment.night();
    },
  },

  'longer-than-a-run': {
    async play(begin) {
      const deployment = await begin({ rowsPerSecond: 1, policies: [policyFor('operation', { batchSize: 10 })] });
      await deployment.night();
      deployment.clock.time += day;
      deployment.service.engine.addRows(operation, Array(60_000).fill(deployment.clock.time - 40 * day));
      return deployment.night();
    },
  },

  'emptied-by-a-deletion': {
    async play(begin) {
      const deployment = await begin({ indices: [anIndexOf(0, 4_005)] });
      await ordinaryNights(deployment, 3, {});
      deployment.service.engine.removeRows(operation, () => true);
      return deployment.night();
    },
  },

  'emptied-by-a-reindex': {
    async play(begin) {
      const deployment = await begin({ indices: [anIndexOf(0, 4_005)] });
      await ordinaryNights(deployment, 3, {});
      deployment.service.engine.set({ reindexFailsAfterSwap: 400 });
      deployment.service.engine.truncateByOthers(operation, {
        endTimeMillis: deployment.clock.time - 30 * day,
        forceReindex: true,
      });
      deployment.clock.time += hour;
      return deployment.night();
    },
  },

  // The second night must not read like the first, nor like one that passes by itself.
  'refused-for-the-third-night': {
    async play(begin) {
      const deployment = await begin();
      deployment.service.engine.onRequest = ({ body }) =>
        body.includes('dryRun')
          ? { kind: 'fail-before', answer: { kind: 'status', status: 403, body: 'RBAC: access denied' } }
          : undefined;
      await ordinaryNights(deployment, 2, {});
      return deployment.night();
    },
  },

  'cancelled-again': {
    async play(begin) {
      const deployment = await begin({ indices: [anIndexOf(12_000, 18_000)], faults: ['cancel-at=0.5'] });
      await ordinaryNights(deployment, 1, {});
      return deployment.night();
    },
  },

  'token-refused-again': {
    async play(begin) {
      const deployment = await begin();
      deployment.service.engine.onRequest = () => ({
        kind: 'fail-before',
        answer: { kind: 'status', status: 401, body: '' },
      });
      await ordinaryNights(deployment, 1, {});
      return deployment.night();
    },
  },

  'memory-out-of-reach': {
    async play(begin) {
      const deployment = await begin();
      const fails = async () => {
        throw new MemoryError('DynamoDB answered ProvisionedThroughputExceededException');
      };
      deployment.services.nights = { read: fails, write: fails };
      return deployment.night();
    },
  },
};
