import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = import.meta.dirname ?? process.cwd();
const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts'));

/** Files share a thread, and load the libraries once: that is a third of all the work. */
const contains = (path: string, pattern: RegExp): boolean => pattern.test(readFileSync(join(root, path), 'utf8'));
/** Replaced modules are loaded anew, which a module that another file has loaded before would not see. */
const withOwnModules = tests.filter((path) => contains(path, /\bvi\.mock\(/));
const changesItsProcess = (path: string): boolean =>
  path.startsWith('test/laboratory/') || contains(path, /\bvi\.(?:useFakeTimers|spyOn)|laboratory\//);
const withOwnTime = new Set(tests.filter(changesItsProcess).map((path) => join(root, path)));

/**
 * Those that change clocks, timers or the console come first in every thread: a connection of another file, which has
 * timers, would still be open after it.
 */
class OwnTimeFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number =>
      project.name === 'own modules' ? 0 : withOwnTime.has(moduleId) ? 1 : 2;
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  // The same on every commit.
  define: { BUNDLED_VERSION: JSON.stringify('0.0.0+test') },
  test: {
    // A tenth less work than processes, which send everything to each other as text.
    pool: 'threads',
    // One more than there are cores: while a file waits for a process that it has started, or for the disk, the others work.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: OwnTimeFirst },
    // Nothing takes nearly as long on a quiet machine: this is for one that is busy with other things.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: withOwnModules,
          isolate: false,
          // Synthesis would bundle the functions in each process.
          alias: { './function-code.ts': join(root, 'test/infra/functions/without-code.ts') },
          // Not above: it would be done once more for each project.
          globalSetup: 'test/shared-folder.ts',
        },
      },
      { extends: true, test: { name: 'own modules', include: withOwnModules } },
    ],
  },
});
