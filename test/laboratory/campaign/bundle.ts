import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { changed, type Mutant } from '../mutants/mutant.ts';
import type { Assignment, ResultOf, Word } from './worker.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Bundles the campaign's worker with the core, changed by the mutants.
 * @returns the bundle's path; it is removed when the process ends
 * @throws if a mutant is out of date, or changes a module that the laboratory does not reach
 */
export async function bundleWorker(name: string, mutants: readonly Mutant[] = []): Promise<string> {
  const outfile = join(folder(), `${name}.mjs`);
  const modules = new Set(mutants.flatMap(({ changes }) => changes.map(({ module }) => module)));
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['test/laboratory/campaign/worker.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    logLevel: 'silent',
    metafile: true,
    plugins: [
      {
        name: 'mutants',
        setup({ onLoad }) {
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const module = [...modules].find((one) => path === join(root, 'lambda', `${one}.ts`));
            if (module === undefined) return undefined;
            return { contents: changed(readFileSync(path, 'utf8'), module, mutants), loader: 'ts' };
          });
        },
      },
    ],
  });
  for (const module of modules) {
    if (metafile.inputs[posix.join('lambda', `${module}.ts`)]) continue;
    throw new Error(`The laboratory does not reach lambda/${module}.ts`);
  }
  return outfile;
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
