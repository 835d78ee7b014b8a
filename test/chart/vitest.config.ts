import { defineConfig } from 'vitest/config';
import { helmVersions } from '../cluster/programs.ts';

/** `npm run test:chart`, with each Helm; separate from the other tests, because it may have to build them. */
export default defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 600_000,
    projects: helmVersions.map((name) => ({
      extends: true,
      test: { name, include: ['test/chart/*.chart.ts'], env: { HELM: name } },
    })),
  },
});
