import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** docs/finds.md names a test for each find, and the test names the find. */

const root = new URL('../../../', import.meta.url);
const text = readFileSync(new URL('docs/finds.md', root), 'utf8');
const rows = [...text.matchAll(/^\| (\d+) \|.*\| ([^|]+) \|$/gm)].map(([, number, tests]) => ({
  number: Number(number),
  files: (tests ?? '')
    .split(', ')
    .map((name) => (name.startsWith('`') ? name.slice(1, -1) : `test/lambda/finds/${name.trim()}.test.ts`)),
}));

test('the list of finds is whole', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 45 }, (_, at) => at + 1));
});

test.each(rows)('find $number has a test of its name in each file that the list names', ({ number, files }) => {
  for (const file of files) expect(readFileSync(new URL(file, root), 'utf8')).toMatch(new RegExp(`find ${number}:`));
});
