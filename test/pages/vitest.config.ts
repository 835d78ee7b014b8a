import { defineConfig } from 'vitest/config';

/** `npm run test:pages`; separate from the other tests, because it installs a clone and runs commands as people do. */
export default defineConfig({
  test: {
    include: ['test/pages/*.pages.ts'],
    globalSetup: 'test/shared-folder.ts',
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
