import { aSending } from '../records.ts';
import { address, anIndex, anIndexOf, day, hour, type Nights, policyFor, slowly, twoIndices } from './night.ts';

/** Nights in which the run deliberately did not start something. */
export const heldBack: Nights = {
  'above-ceiling': {
    async play(begin) {
      const { night } = await begin({
        indices: [anIndexOf(43_000, 700), anIndexOf(700, 0, 'datasetProfile')],
        policies: [
          policyFor('operation', { maxDeletePercent: 90, note: 'Legal wants a year of it.' }),
          policyFor('datasetProfile'),
        ],
      });
      return night();
    },
  },

  paused: {
    async play(begin) {
      const deployment = await begin(twoIndices);
      deployment.services.parameters.paused = async () => true;
      return deployment.night();
    },
  },

  'orders-changed': {
    async play(begin) {
      const deployment = await begin(twoIndices);
      // Between Plan and Truncate someone makes one policy stricter and removes the other.
      const { policies } = deployment.services.parameters;
      let asked = 0;
      deployment.services.parameters.policies = async () => {
        if (++asked === 2) deployment.policies = [policyFor('operation', { retentionDays: 365 })];
        return policies();
      };
      return deployment.night();
    },
  },

  'others-are-deleting': {
    async play(begin) {
      const deployment = await begin(twoIndices);
      const { engine } = deployment.service;
      const { operations } = deployment.services;
      let sizes = 0;
      deployment.services.operations = {
        ...operations,
        async indexSizes(options) {
          if (++sizes >= 2)
            engine.removeRows('dataset.operation', ({ timestamp }) => timestamp < deployment.clock.time - 30 * day);
          return operations.indexSizes(options);
        },
      };
      return deployment.night();
    },
  },

  'held-by-another-run': {
    async play(begin) {
      const deployment = await begin({ ...slowly, settings: { maxRunHours: 1 } });
      await deployment.night({}, 'nightly-2026-03-01');
      return deployment.night({ mode: 'preview' });
    },
  },
};

/** Nights in which this run may not judge a ledger record. */
export const foreign: Nights = {
  'held-under-another-address': {
    async play(begin) {
      const deployment = await begin({ ...slowly, settings: { maxRunHours: 1, gmsUrl: 'http://10.0.3.7:8080' } });
      await deployment.night({}, 'nightly-2026-03-01');
      deployment.settings.gmsUrl = address;
      deployment.clock.time += 23 * hour;
      return deployment.night();
    },
  },

  'record-of-another-version': {
    async play(begin) {
      const deployment = await begin();
      deployment.ledger.stored.set(anIndex, { ...aSending({ server: address }), version: 9 });
      return deployment.night();
    },
  },

  'address-changed-meanwhile': {
    async play(begin) {
      const deployment = await begin({ ...twoIndices, rowsPerSecond: 100 });
      deployment.service.engine.schedule(deployment.clock.time + 30_000, () => {
        deployment.settings.gmsUrl = 'http://gms2.internal.example.com:8080';
      });
      return deployment.night();
    },
  },
};
