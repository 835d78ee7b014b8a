import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { options } from '../cli/command-line/options.ts';
import { outcomes } from '../lambda/model/outcomes.ts';
import { policyFields } from '../lambda/model/policy-fields.ts';
import { entryFields } from '../lambda/model/report-schema.ts';
import { engineKinds, serverErrorKinds } from '../lambda/model/server-error.ts';
import { settingFields } from '../lambda/settings/fields.ts';

/**
 * The folders of docs/architecture.md and the direction of their imports: the core knows neither AWS nor the command
 * line, and no folder imports one that imports it, be it only for a type.
 */

const root = new URL('../', import.meta.url).pathname;
const rooms = ['model', 'policy', 'settings', 'gms', 'ledger', 'truncation', 'run', 'report', 'aws', 'handlers'];

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
const isHandler = (file: string): boolean => roomOf(file) === 'handlers';
const isCore = (file: string): boolean => !isHandler(file) && roomOf(file) !== 'aws';

describe('the core', () => {
  test('has only rooms that a stranger finds in docs/architecture.md', () => {
    expect([...new Set(files.map(roomOf))].sort()).toEqual([...rooms].sort());
    const page = textOf('docs/architecture.md');
    for (const room of rooms) expect(page).toContain(`\`${room}/\``);
  });

  test('knows neither AWS nor the command line nor the stack', () => {
    const foreign = /^(?:@aws-sdk|@aws-lambda-powertools|aws-|cli\/|infra\/|lambda\/aws\/)/;
    for (const file of files.filter(isCore)) {
      expect([file, importsOf(file).filter((path) => foreign.test(path))]).toEqual([file, []]);
    }
  });

  test('makes English at the edge: no step of a run imports sentences or messages', () => {
    const early = ['model', 'policy', 'gms', 'ledger', 'truncation', 'run'];
    for (const file of files.filter((one) => early.includes(roomOf(one)))) {
      const late = importsOf(file).filter((path) => /^lambda\/report\//.test(path));
      expect([file, late]).toEqual([file, []]);
    }
  });

  test('has no circle of imports', () => {
    const arrows = files.flatMap((file) => importsOf(file, atRunTime).map((path): Arrow => [file, path]));
    expect(circling(arrows)).toEqual([]);
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

/** What each folder of the command line may import of the others: `commands` alone knows who does and who listens. */
const mayImport: Record<string, readonly string[]> = {
  'command-line': ['events'],
  inputs: ['command-line', 'embedded-service', 'events'],
  ledgers: ['command-line', 'inputs', 'events'],
  run: ['command-line', 'inputs', 'events'],
  survey: ['inputs', 'events'],
  outputs: ['command-line', 'inputs', 'ledgers', 'events'],
  'embedded-service': [],
  events: [],
  commands: ['command-line', 'inputs', 'ledgers', 'embedded-service', 'outputs', 'run', 'survey', 'events'],
};

describe('the command line', () => {
  const isProgram = (file: string): boolean => dirname(file) === 'cli';
  const inside = filesBelow('cli').filter((file) => !isProgram(file));

  test('has only folders that a stranger finds in docs/architecture.md', () => {
    expect([...new Set(inside.map(roomOf))].sort()).toEqual(Object.keys(mayImport).sort());
    const page = textOf('docs/architecture.md');
    for (const folder of Object.keys(mayImport)) expect(page).toContain(`\`${folder}/\``);
  });

  test('imports in one direction', () => {
    const against = inside.flatMap((file) =>
      importsOf(file)
        .filter((path) => path.startsWith('cli/') && roomOf(path) !== roomOf(file))
        .filter((path) => isProgram(path) || !mayImport[roomOf(file)]?.includes(roomOf(path)))
        .map((path) => `${file} imports ${path}`),
    );
    expect(against).toEqual([]);
  });

  test('does not know the stack', () => {
    for (const file of filesBelow('cli')) {
      expect([file, importsOf(file).filter((path) => path.startsWith('infra/'))]).toEqual([file, []]);
    }
  });
});

/** An import, of files or of folders; a folder inside another is a folder of its own. */
type Arrow = readonly [from: string, to: string];

/** @returns the imports that are in a circle, or lead from one to another; what leads nowhere is taken away first */
function circling(arrows: readonly Arrow[]): readonly Arrow[] {
  const importing = new Set(arrows.map(([from]) => from));
  const left = arrows.filter(([, to]) => importing.has(to));
  return left.length === arrows.length ? left : circling(left);
}

const productFolders = ['lambda', 'cli', 'infra'];

test('no folder imports one that imports it, not even a type', () => {
  const arrows = productFolders.flatMap(filesBelow).flatMap((file) =>
    importsOf(file)
      .filter((path) => productFolders.includes(path.split('/')[0] ?? '') && dirname(path) !== dirname(file))
      .map((path): Arrow => [dirname(file), dirname(path)]),
  );
  expect(arrows.length).toBeGreaterThan(100);
  expect(circling(arrows)).toEqual([]);
});

test('every file that docs/architecture.md names is there', () => {
  const named = [
    ...textOf('docs/architecture.md').matchAll(/`((?:lambda|cli|infra|test|build|bench)\/[\w./-]+\.ts)`/g),
  ];
  for (const [, path = ''] of named) expect([path, existsSync(join(root, path))]).toEqual([path, true]);
});

/** What is declared in one file, and how other files have it: by its name, or in quotes. */
test.each<[what: string, words: readonly string[], declaring: RegExp, isQuoted?: true]>([
  ['option', Object.keys(options), /\b(?:options|verbs)\.ts$/],
  ['setting of a stage', Object.keys(settingFields), /settings\/fields|stage-props/],
  ['field of a policy', Object.keys(policyFields(1)), /policy-fields|difference|stage-props/],
  ['figure of a report', Object.keys(entryFields), /^lambda\/model\//],
  ['kind of server error', serverErrorKinds, /^lambda\/(?:model|report)\//, true],
  ['kind of engine error', engineKinds, /^lambda\/(?:model|report)\//, true],
  ['outcome', outcomes, /^lambda\/(?:model|report)\/|^cli/, true],
])('no %s is declared that nothing uses', (_, words, declaring, isQuoted) => {
  const using = productFolders.flatMap(filesBelow).filter((file) => !declaring.test(file));
  const code = using.map(textOf).join('\n');
  const uses = (word: string) =>
    isQuoted ? new RegExp(`'${word}'`) : new RegExp(`[.{,'] ?${word}\\b|^ +${word}\\b`, 'm');
  expect(words.filter((word) => !uses(word).test(code))).toEqual([]);
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
