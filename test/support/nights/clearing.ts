import { brokenReindex } from './missing.ts';
import type { Nights } from './night.ts';

const clear = { clear: ['dataset.operation'] };

/** An operator clears an index. */
export const clearing: Nights = {
  'clear-released': {
    async play(begin) {
      const deployment = await brokenReindex(begin);
      const { cause } = (await deployment.night()).policies[0]!;
      if (cause.kind !== 'missing' || cause.rowsIn === undefined) throw new Error(cause.kind);
      deployment.service.engine.pointAlias('dataset.operation', cause.rowsIn);
      return deployment.night(clear);
    },
  },

  'clear-not-released': {
    async play(begin) {
      const deployment = await brokenReindex(begin);
      await deployment.night();
      return deployment.night(clear);
    },
  },

  'clear-accepted': {
    async play(begin) {
      const deployment = await brokenReindex(begin);
      await deployment.night();
      return deployment.night({ ...clear, acceptMissing: 18_000 });
    },
  },

  'clear-uncountable': {
    async play(begin) {
      const deployment = await brokenReindex(begin);
      await deployment.night();
      deployment.service.engine.fault('bad-gateway=dry-run');
      return deployment.night(clear);
    },
  },

  'clear-of-one-that-runs': {
    async play(begin) {
      const deployment = await begin({ rowsPerSecond: 0.05, settings: { maxRunHours: 1 } });
      await deployment.night();
      return deployment.night(clear);
    },
  },
};
