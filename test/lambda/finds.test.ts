import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** docs/finds.md names at least one test for each find, by file and name; a transcript by the beginning of its name. */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const rows = [...read('docs/finds.md').matchAll(/^\| (\d+) \|.*\| ([^|]+) \|$/gm)].map(([, number, tests]) => ({
  number: Number(number),
  tests: [...tests!.matchAll(/`([^`]+)`, \*([^*]+)\*/g)].map(([, file, name]) => ({ file: file!, name: name! })),
}));

test('docs/finds.md lists all 45 finds, each with a test', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 45 }, (_, at) => at + 1));
  expect(rows.filter(({ tests }) => tests.length === 0)).toEqual([]);
});

test.each(rows)('the test that docs/finds.md names for find $number exists', ({ tests }) => {
  for (const { file, name } of tests) {
    const text = read(file);
    const named = file.endsWith('.txt')
      ? [text].filter((whole) => whole.startsWith(`# ${name}`))
      : text.split(/\(\s*'/).filter((rest) => rest.startsWith(`${name}'`));
    expect([file, name, named.length]).toEqual([file, name, 1]);
  }
});
