import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import packageManifest from '../package.json' with { type: 'json' };
import { versionOfSources } from '../version.ts';

/** Which build calls itself what, in a checkout of its own. */

const { version } = packageManifest;
let folder: string;

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], {
    cwd: folder,
  }).toString();
const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
const commit = () => {
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'a change');
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'version-'));
  for (const path of ['cli', 'infra/stages', 'kubernetes', 'lambda', 'build', 'docs']) {
    mkdirSync(join(folder, path), { recursive: true });
    write(`${path}/one.txt`, path);
  }
  for (const path of ['docs/runbook.md', 'package.json', 'package-lock.json', 'version.ts']) write(path, path);
  git('init', '--quiet');
  commit();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('each commit has its name, each change to it another, and the tag of the version nothing more', () => {
  const seen: string[] = [];
  const look = (pattern: RegExp) => {
    const now = versionOfSources(folder);
    expect(now).toMatch(pattern);
    seen.push(now);
  };
  const plain = new RegExp(`^${version.replaceAll('.', '\\.')}\\+[0-9a-f]{12}$`);
  const changed = new RegExp(`${plain.source.slice(0, -1)}-dirty\\.[0-9a-f]{12}$`);
  look(plain);
  write('lambda/one.txt', 'changed');
  look(changed);
  write('lambda/one.txt', 'changed again');
  look(changed);
  write('lambda/two.txt', 'not added yet');
  look(changed);
  commit();
  look(plain);
  expect(new Set(seen).size).toBe(seen.length);
  git('tag', `v${version}`);
  expect(versionOfSources(folder)).toBe(version);
  write('kubernetes/one.txt', 'a change after the release');
  look(changed);
  git('checkout', '--quiet', '.');
});

test('a stage and a page change nothing', () => {
  const before = versionOfSources(folder);
  write('infra/stages/prod.json', '{}');
  write('docs/one.txt', 'words');
  expect(versionOfSources(folder)).toBe(before);
});

test('without git, and inside another repository, it is named by what is in it', () => {
  const copy = join(folder, 'inside');
  for (const path of [
    'cli',
    'infra',
    'kubernetes',
    'lambda',
    'build',
    'docs',
    'package.json',
    'package-lock.json',
    'version.ts',
  ])
    cpSync(join(folder, path), join(copy, path), { recursive: true });
  const inside = versionOfSources(copy);
  expect(inside).toMatch(/\+source\.[0-9a-f]{12}$/);
  rmSync(join(folder, '.git'), { recursive: true });
  expect(versionOfSources(copy)).toBe(inside);
  writeFileSync(join(copy, 'cli/one.txt'), 'another');
  expect(versionOfSources(copy)).not.toBe(inside);
});
