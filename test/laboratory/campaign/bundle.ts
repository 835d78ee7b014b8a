import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { type Patch, patched } from '../mutants/mutant.ts';
import type { Assignment, ResultOf } from './worker.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Bundles the campaign's worker with the core, in which each patch has been applied.
 * @returns the bundle's path; it is removed when the process ends
 * @throws when a patch does not match its file: then the mutant is out of date
 */
export async function bundleWorker(name: string, patches: readonly Patch[] = []): Promise<string> {
  const outfile = join(folder(), `${name}.mjs`);
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
        name: 'mutant',
        setup({ onLoad }) {
          for (const file of new Set(patches.map((patch) => patch.file))) {
            onLoad({ filter: new RegExp(`/${file.replaceAll('.', '\\.')}$`) }, () => ({
              contents: withPatches(file, patches),
              loader: 'ts',
            }));
          }
        },
      },
    ],
  });
  return outfile;
}

/** The text of a file of the core with its patches applied. */
export const withPatches = (file: string, patches: readonly Patch[]): string =>
  patched(
    readFileSync(join(root, file), 'utf8'),
    patches.filter((patch) => patch.file === file),
  );

let made: string | undefined;
function folder(): string {
  if (made !== undefined) return made;
  const path = mkdtempSync(join(tmpdir(), 'laboratory-'));
  process.once('exit', () => rmSync(path, { recursive: true, force: true }));
  made = path;
  return path;
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
