import { defineConfig } from 'vitest/config';

/** `npm run test:runtime`; separate from the other tests, because it builds Lambda's runtime client, and waits for time-outs. */
export default defineConfig({
  test: {
    include: ['test/runtime/*.runtime.ts'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});
