import { defineConfig } from 'vitest/config';

/** `npm run test:package`; separate from the other tests, because it builds the package and installs it twice. */
export default defineConfig({
  test: {
    include: ['test/package/*.package.ts'],
    globalSetup: ['test/package/packed.ts'],
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
});
