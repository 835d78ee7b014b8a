import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

/** Packs once, as for a release; every test uses the tarball, and none uses the sources. */

const run = promisify(execFile);
export const root = fileURLToPath(new URL('../../', import.meta.url));

declare module 'vitest' {
  interface ProvidedContext {
    tarball: string;
  }
}

export default async function pack({ provide }: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'packed-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  provide('tarball', join(folder, filename));
  return () => rmSync(folder, { recursive: true, force: true });
}

export interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end, successful or not. */
export async function runIn(
  cwd: string,
  file: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  return run(file, args, { cwd, env, maxBuffer: 64e6 }).then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ status: code as number, stdout, stderr }),
  );
}

/** An empty folder outside the repository, so that nothing is found in a node_modules above it. */
export function emptyProject(manifest: object = { private: true }): string {
  const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  return folder;
}

export async function install(folder: string, ...packages: string[]): Promise<void> {
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts'];
  const { status, stderr } = await runIn(folder, 'npm', ['install', ...quiet, ...packages]);
  if (status !== 0) throw new Error(stderr);
}
