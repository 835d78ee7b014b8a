import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

/** The rooms of docs/architecture.md: imports only run downwards, there are no cycles, and folders stay small. */

const root = new URL('../../', import.meta.url).pathname;

/** Bottom up: a room imports only from those before it and from itself. */
const rooms = [
  'facts',
  'operations',
  'policy',
  'ledger',
  'memory',
  'truncation',
  'preflight',
  'wording',
  'run',
  'telemetry',
  'notification',
  'wiring',
] as const;

const filesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();

const importsOf = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^(?:import|export) [^;]*?from '(\.[^']+)'/gms)].map(([, path]) =>
    normalize(join(dirname(file), path!)),
  );

const files = filesBelow('lambda');
const graph = new Map(files.map((file) => [file, importsOf(file)]));
const roomOf = (file: string): string => file.split('/')[1] ?? '';
const isHandler = (file: string): boolean => file.split('/').length === 2;

describe('the core', () => {
  test('has only rooms that a stranger finds in docs/architecture.md', () => {
    const found = new Set(files.filter((file) => !isHandler(file)).map(roomOf));
    expect([...found].sort()).toEqual([...rooms].sort());
    const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    for (const room of rooms) expect(page).toContain(`\`${room}/\``);
  });

  test('has every file that docs/architecture.md names', () => {
    const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    let folder = '';
    for (const row of page.split('\n').filter((line) => line.startsWith('|'))) {
      for (const [, path] of row.matchAll(/`([\w/-]+\.ts)`/g)) {
        // A file without a folder is in the same folder as the one before it.
        folder = path!.includes('/') ? dirname(path!) : (/^\| `(\w+)\/`/.exec(row)?.[1] ?? folder);
        const named = join('lambda', folder, path!.split('/').at(-1)!);
        expect([named, existsSync(join(root, named))]).toEqual([named, true]);
      }
    }
  });

  test.each(files.filter((file) => !isHandler(file)))('%s imports downwards only', (file) => {
    const below = rooms.slice(0, rooms.indexOf(roomOf(file) as (typeof rooms)[number]) + 1) as readonly string[];
    const wrong = graph
      .get(file)!
      .filter((path) => !path.startsWith('lambda/') || isHandler(path) || !below.includes(roomOf(path)));
    expect(wrong).toEqual([]);
  });

  test('has no circle', () => {
    const done = new Set<string>();
    const circleFrom = (file: string, way: readonly string[]): string[] | undefined => {
      if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
      if (done.has(file)) return undefined;
      for (const next of graph.get(file) ?? []) {
        const circle = circleFrom(next, [...way, file]);
        if (circle) return circle;
      }
      done.add(file);
      return undefined;
    };
    for (const file of files) expect(circleFrom(file, [])).toBeUndefined();
  });

  test('makes English in wording/ alone, which only Report and the messages use', () => {
    const users = files.filter((file) =>
      graph.get(file)!.some((path) => roomOf(path) === 'wording' && path.startsWith('lambda/')),
    );
    const allowed = users.filter(
      (file) => ['wording', 'notification'].includes(roomOf(file)) || file === 'lambda/run/report.ts',
    );
    expect(users).toEqual(allowed);
  });

  test('handlers are ten lines that wire, not more than thirty with their imports', () => {
    for (const file of files.filter(isHandler)) {
      expect([file, readFileSync(join(root, file), 'utf8').split('\n').length <= 45]).toEqual([file, true]);
    }
  });
});

test('the product imports no tool of tests, benches or builds', () => {
  for (const file of ['lambda', 'infra', 'cli'].flatMap(filesBelow)) {
    expect([file, importsOf(file).filter((path) => /^(?:test|bench|build)\//.test(path))]).toEqual([file, []]);
  }
});

describe('a folder', () => {
  const folders = new Map<string, number>();
  for (const top of ['lambda', 'infra', 'cli', 'bench', 'build', 'test']) {
    for (const file of filesBelow(top)) folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
  }

  test.each([...folders])('%s holds at most fifteen files', (folder, count) => {
    expect([folder, count <= 15]).toEqual([folder, true]);
  });
});

test('infra reads and checks stage files without the CDK', () => {
  for (const file of filesBelow('infra/stage')) {
    expect([file, readFileSync(join(root, file), 'utf8').includes("from 'aws-cdk-lib")]).toEqual([file, false]);
  }
});
