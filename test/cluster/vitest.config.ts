import { defineConfig } from 'vitest/config';

/** `npm run test:cluster`; separate from the other tests, because it builds Kubernetes once, and then takes minutes. */
export default defineConfig({
  // A step of a walk needs those before it.
  test: { include: ['test/cluster/*.cluster.ts'], testTimeout: 300_000, hookTimeout: 3_600_000, bail: 1 },
});
