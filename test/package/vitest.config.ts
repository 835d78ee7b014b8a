import { defineConfig } from 'vitest/config';

/** `npm run test:package`; separate from the other tests: it builds the package and installs it with two CDK releases. */
export default defineConfig({
  test: {
    include: ['test/package/*.package.ts'],
    globalSetup: ['test/package/packed.ts'],
    testTimeout: 600_000,
    hookTimeout: 240_000,
  },
});
