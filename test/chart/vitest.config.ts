import { defineConfig } from 'vitest/config';

/** `npm run test:chart`; separate from the other tests, because it may have to build helm, which takes two minutes. */
export default defineConfig({
  test: { include: ['test/chart/*.chart.ts'], testTimeout: 120_000, hookTimeout: 600_000 },
});
