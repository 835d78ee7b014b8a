import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const root = import.meta.dirname ?? process.cwd();
const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts'));

/**
 * Files share a thread, and load the libraries once: that is a third of all the work. Those that change clocks, timers or
 * the console do not share it with the others, whose connections have timers, too.
 */
const contains = (path: string, pattern: RegExp): boolean => pattern.test(readFileSync(join(root, path), 'utf8'));
const changesItsProcess = (path: string): boolean =>
  path.startsWith('test/laboratory/') || contains(path, /\bvi\.(?:useFakeTimers|spyOn)|laboratory\//);
/** Replaced modules are loaded anew, which a module that another file has loaded before would not see. */
const withOwnModules = tests.filter((path) => contains(path, /\bvi\.mock\(/));
const withOwnTime = tests.filter((path) => changesItsProcess(path) && !withOwnModules.includes(path));

export default defineConfig({
  test: {
    // A tenth less work than processes, which send everything to each other as text.
    pool: 'threads',
    // One more than there are cores: while a file waits for a process that it has started, or for the disk, the others work.
    maxWorkers: availableParallelism() + 1,
    // Nothing takes nearly as long on a quiet machine: this is for one that is busy with other things.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...withOwnTime, ...withOwnModules],
          isolate: false,
          // Not above: it would be done once more for each project.
          globalSetup: 'test/programs.ts',
        },
      },
      { extends: true, test: { name: 'own time', include: withOwnTime, isolate: false } },
      { extends: true, test: { name: 'own modules', include: withOwnModules } },
    ],
  },
});
