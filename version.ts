import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageManifest from './package.json' with { type: 'json' };

/** Set where the package is bundled (build/bundles.ts): a bundle says what it was made from. */
declare const BUNDLED_VERSION: string | undefined;

const root = fileURLToPath(new URL('.', import.meta.url));
let known: string | undefined;

/**
 * Which build this is, the same wherever it is shown: two that differ never have the same.
 * @returns `0.1.0` for a release, else as `versionOfSources`
 */
export function jobVersion(): string {
  known ??= typeof BUNDLED_VERSION === 'string' ? BUNDLED_VERSION : versionOfSources(root);
  return known;
}

/** What decides how the job behaves. The files of the stages are settings. */
const sources = [
  'cli',
  'infra',
  'kubernetes',
  'lambda',
  'build',
  'docs/runbook.md',
  'package.json',
  'package-lock.json',
];
const settings = 'infra/stages';

/**
 * Semantic versions, whose part after the plus says which build it is:
 *
 *     0.1.0                               the commit of the tag v0.1.0
 *     0.1.0+<commit>                      any other commit
 *     0.1.0+<commit>-dirty.<digest>       with changes of its own
 *     0.1.0+source.<digest>               without git: an archive, an image's build
 *
 * @param folder of package.json
 */
export function versionOfSources(folder: string): string {
  const { version } = packageManifest;
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    // A copy inside another repository has a prefix there, and nothing to do with its commits.
    if (git('rev-parse', '--show-prefix') !== '') return `${version}+source.${digestOf(folder)}`;
    const commit = git('rev-parse', '--short=12', 'HEAD');
    const changed = git('status', '--porcelain', '--untracked-files=all', '--', ...sources, `:(exclude)${settings}`);
    if (changed !== '') return `${version}+${commit}-dirty.${digestOf(folder)}`;
    const isRelease = git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`);
    return isRelease ? version : `${version}+${commit}`;
  } catch {
    return `${version}+source.${digestOf(folder)}`;
  }
}

/** Of all sources, by name and content. */
function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const path of sources.flatMap((source) => filesAt(folder, source)).sort()) {
    const content = readFileSync(join(folder, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 12);
}

function filesAt(folder: string, path: string): string[] {
  if (path === settings) return [];
  if (/\.[a-z]+$/.test(path)) return [path];
  return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) => {
    const inside = `${path}/${entry.name}`;
    return entry.isDirectory() ? filesAt(folder, inside) : [inside];
  });
}
