import { defineConfig } from 'vitest/config';

/** `npm run test:pages`; separate from the other tests, because it needs Chromium. */
export default defineConfig({
  test: {
    include: ['test/pages/*.pages.ts'],
    globalSetup: 'test/shared-folder.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
