import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const root = import.meta.dirname ?? process.cwd();
const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts'));

/**
 * What changes something for everybody in its process (clocks, timers, the environment; vitest does it by `vi`, the laboratory by
 * itself) has one of its own. The others share theirs, and load the libraries once: that is a third of all the work.
 */
const changesItsProcess = (path: string): boolean =>
  path.startsWith('test/laboratory/') || /\bvi\.|laboratory\//.test(readFileSync(join(root, path), 'utf8'));
const alone = tests.filter(changesItsProcess);

export default defineConfig({
  test: {
    // Vitest leaves one core free by itself, which halves a machine with two.
    maxWorkers: '100%',
    // Nothing takes nearly as long on a quiet machine: this is for one that is busy with other things.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      { extends: true, test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: alone, isolate: false } },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
