import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

/** The rooms of docs/architecture.md, and the one rule between them: the core knows neither AWS nor the command line. */

const root = new URL('../../', import.meta.url).pathname;
const rooms = ['facts', 'policy', 'operations', 'ledger', 'truncation', 'run', 'words', 'message', 'aws'];

const filesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
/** What a file imports: paths from the root for our own files, names for packages. */
const importsOf = (file: string, pattern = /^(?:import|export) [^;]*?from '([^']+)'/gms): string[] =>
  [...textOf(file).matchAll(pattern)].map(([, path = '']) =>
    path.startsWith('.') ? normalize(join(dirname(file), path)) : path,
  );

/** Types alone make no circle. */
const atRunTime = /^(?:import|export) (?!type )[^;]*?from '([^']+)'/gms;

const files = filesBelow('lambda');
const roomOf = (file: string): string => file.split('/')[1] ?? '';
const isHandler = (file: string): boolean => file.split('/').length === 2;
const isCore = (file: string): boolean => !isHandler(file) && roomOf(file) !== 'aws';

describe('the core', () => {
  test('has only rooms that a stranger finds in docs/architecture.md', () => {
    expect([...new Set(files.filter((file) => !isHandler(file)).map(roomOf))].sort()).toEqual([...rooms].sort());
    const page = textOf('docs/architecture.md');
    for (const room of rooms) expect(page).toContain(`\`${room}/\``);
  });

  test('knows neither AWS nor the command line nor the stack', () => {
    const foreign = /^(?:@aws-sdk|@aws-lambda-powertools|aws-|cli\/|infra\/|lambda\/aws\/)/;
    for (const file of files.filter(isCore)) {
      expect([file, importsOf(file).filter((path) => foreign.test(path))]).toEqual([file, []]);
    }
  });

  test('makes English at the edge: no step of a run imports words or messages', () => {
    const early = ['facts', 'policy', 'operations', 'ledger', 'truncation', 'run'];
    for (const file of files.filter((one) => early.includes(roomOf(one)))) {
      const late = importsOf(file).filter((path) => /^lambda\/(?:words|message)\//.test(path));
      expect([file, late]).toEqual([file, []]);
    }
  });

  test('has no circle of imports', () => {
    const done = new Set<string>();
    const circleFrom = (file: string, way: readonly string[]): string[] | undefined => {
      if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
      if (done.has(file)) return undefined;
      for (const next of importsOf(file, atRunTime).filter((path) => path.startsWith('lambda/'))) {
        const circle = circleFrom(next, [...way, file]);
        if (circle) return circle;
      }
      done.add(file);
      return undefined;
    };
    for (const file of files) expect(circleFrom(file, [])).toBeUndefined();
  });

  test('handlers only wire', () => {
    for (const file of files.filter(isHandler)) {
      expect([file, textOf(file).split('\n').length <= 45]).toEqual([file, true]);
    }
  });

  test('no file name stands three times', () => {
    const names = files.map((file) => basename(file));
    expect(names.filter((name) => names.filter((other) => other === name).length > 2)).toEqual([]);
  });
});

test('every file that docs/architecture.md names is there', () => {
  const named = [
    ...textOf('docs/architecture.md').matchAll(/`((?:lambda|cli|infra|test|build|bench)\/[\w./-]+\.ts)`/g),
  ];
  for (const [, path = ''] of named) expect([path, existsSync(join(root, path))]).toEqual([path, true]);
});

test('the product imports no tool of tests, benches or builds', () => {
  for (const file of ['lambda', 'infra', 'cli'].flatMap(filesBelow)) {
    expect([file, importsOf(file).filter((path) => /^(?:test|bench|build)\//.test(path))]).toEqual([file, []]);
  }
});

test('no folder holds more than twenty files', () => {
  const folders = new Map<string, number>();
  for (const top of ['lambda', 'infra', 'cli', 'bench', 'build']) {
    for (const file of filesBelow(top)) folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
  }
  expect([...folders].filter(([, count]) => count > 20)).toEqual([]);
});

test('infra reads and checks stage files without the CDK', () => {
  for (const file of filesBelow('infra/stage')) {
    expect([file, textOf(file).includes("from 'aws-cdk-lib")]).toEqual([file, false]);
  }
});
