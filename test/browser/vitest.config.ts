import { defineConfig } from 'vitest/config';

/** `npm run test:browser`; separate from the other tests, because it needs Chromium. */
export default defineConfig({
  test: {
    include: ['test/browser/*.browser.ts'],
    globalSetup: 'test/shared-folder.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
