import { defineConfig } from 'vitest/config';

/** `npm run test:deploy`; separate from the other tests, because it installs an emulator and takes minutes. */
export default defineConfig({
  test: {
    include: ['test/deploy/*.deploy.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // Each file has an emulator of its own, and mostly waits.
    maxWorkers: 2,
  },
});
