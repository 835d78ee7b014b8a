import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Vitest leaves one core free by itself, which halves a machine with two.
    maxWorkers: '100%',
    include: ['test/**/*.test.ts'],
    // A test that waits for a minute is stuck: timers are virtual and every server answers on loopback.
    testTimeout: 60_000,
  },
});
