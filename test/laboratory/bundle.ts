import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import type { Patch } from './mutants.ts';
import type { Assignment, ResultOf } from './worker.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Bundles the campaign's worker with the core, in which each patch has been applied: the core itself has no switch.
 * @returns the bundle's path; it is removed when the process ends
 * @throws when a patch does not match its file exactly once: then the mutant is out of date
 */
export async function bundleWorker(name: string, patches: readonly Patch[] = []): Promise<string> {
  const outfile = join(folder(), `${name}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: ['test/laboratory/worker.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    logLevel: 'silent',
    plugins: [
      {
        name: 'mutant',
        setup({ onLoad }) {
          for (const file of new Set(patches.map((patch) => patch.file))) {
            onLoad({ filter: new RegExp(`/${file.replaceAll('.', '\\.')}$`) }, () => ({
              contents: patched(
                file,
                patches.filter((patch) => patch.file === file),
              ),
              loader: 'ts',
            }));
          }
        },
      },
    ],
  });
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

/** The text of a file with patches applied. */
export function patched(file: string, patches: readonly Patch[]): string {
  return patches.reduce(
    (text, { find, replace }) => {
      if (text.split(find).length !== 2) throw new Error(`${file} does not hold this exactly once: ${find}`);
      return text.replace(find, () => replace);
    },
    readFileSync(join(root, file), 'utf8'),
  );
}

/** Runs one thread to its end. */
export function runWorker<A extends Assignment>(path: string, assignment: A): Promise<ResultOf<A>> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(path, { workerData: assignment });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the worker ended with ${code} and without a result`)));
  });
}
