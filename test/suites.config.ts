import { defineConfig } from 'vitest/config';
import type { InlineConfig } from 'vitest/node';
import { helmVersions } from './cluster/programs.ts';

const minutes = 60_000;
const ofCharts = { testTimeout: 2 * minutes, hookTimeout: 10 * minutes };
const sharedFolder = 'test/shared-folder.ts';

/** The suites besides `npm test`, each `npm run test:NAME`, and apart from it for this reason. */
const suites: Record<string, InlineConfig> = {
  // It needs Chromium.
  browser: { globalSetup: sharedFolder, testTimeout: minutes },
  // It may have to build each Helm. A project gets no limits from what is around it here.
  chart: {
    projects: helmVersions.map((name) => ({
      extends: true,
      test: { name, include: ['test/chart/*.chart.ts'], env: { HELM: name }, ...ofCharts },
    })),
  },
  // It builds Kubernetes once, and then takes minutes. A step of a walk needs those before it.
  cluster: { testTimeout: 5 * minutes, hookTimeout: 60 * minutes, bail: 1 },
  // It installs an emulator, one for each file, and mostly waits.
  deploy: { testTimeout: 4 * minutes, maxWorkers: 2 },
  // It builds the package and installs it with two CDK releases.
  package: { globalSetup: 'test/package/packed.ts', testTimeout: 10 * minutes },
  // It installs a clone and runs commands as people do.
  pages: { globalSetup: sharedFolder, testTimeout: 10 * minutes },
  // It builds Lambda's runtime client, and waits for time-outs.
  runtime: { testTimeout: 15 * minutes },
};

export default defineConfig(({ mode }) => {
  const { testTimeout } = suites[mode] ?? {};
  return { test: { include: [`test/${mode}/*.${mode}.ts`], hookTimeout: testTimeout, ...suites[mode] } };
});
