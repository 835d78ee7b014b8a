import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import type { Mutant } from '../mutants/mutant.ts';
import { isReached, replaced } from '../mutants/replaced.ts';
import type { Assignment, ResultOf, Word } from './worker.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Bundles the campaign's worker with the core, after the mutants have replaced their functions.
 * @returns the bundle's path; it is removed when the process ends
 * @throws if a function to be replaced does not exist, or if nothing in the bundle calls it
 */
export async function bundleWorker(name: string, mutants: readonly Mutant[] = []): Promise<string> {
  const outfile = join(folder(), `${name}.mjs`);
  const sources = sourcesWith(mutants);
  await build({
    absWorkingDir: root,
    entryPoints: ['test/laboratory/campaign/worker.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    logLevel: 'silent',
    plugins: [
      {
        name: 'mutants',
        setup({ onLoad }) {
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const contents = sources.get(path);
            return contents === undefined ? undefined : { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  const bundled = readFileSync(outfile, 'utf8');
  for (const mutant of mutants) {
    for (const replacement of mutant.replacements) {
      if (isReached(bundled, mutant, replacement)) continue;
      const { module, name } = replacement;
      throw new Error(`The laboratory does not reach ${name} of lambda/${module}.ts ("${mutant.name}")`);
    }
  }
  return outfile;
}

/** The modules of the core that mutants change, with those changes, by path. */
function sourcesWith(mutants: readonly Mutant[]): Map<string, string> {
  const modules = new Set(mutants.flatMap(({ replacements }) => replacements.map(({ module }) => module)));
  const mutantsPath = join(root, 'test/laboratory/mutants/mutants.ts');
  return new Map(
    [...modules].map((module) => {
      const path = join(root, 'lambda', `${module}.ts`);
      return [path, replaced(readFileSync(path, 'utf8'), module, mutants, mutantsPath)];
    }),
  );
}

let made: string | undefined;
function folder(): string {
  if (made !== undefined) return made;
  const path = mkdtempSync(join(tmpdir(), 'laboratory-'));
  process.once('exit', () => rmSync(path, { recursive: true, force: true }));
  made = path;
  return path;
}

/** Runs one thread to the end. @param lived called after each history */
export function runWorker<A extends Assignment>(
  path: string,
  assignment: A,
  lived: () => void = () => {},
): Promise<ResultOf<A>> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(path, { workerData: assignment });
    worker.on('message', (word: Word) => ('lived' in word ? lived() : resolve(word.result as ResultOf<A>)));
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the worker ended with ${code} and without a result`)));
  });
}
