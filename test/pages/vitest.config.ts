import { defineConfig } from 'vitest/config';

/** `npm run test:pages`; separate from the other tests, because it installs a clone and runs commands as people do. */
export default defineConfig({
  test: { include: ['test/pages/*.pages.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
});
