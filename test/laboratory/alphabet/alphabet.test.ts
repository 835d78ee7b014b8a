import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { alphabet } from './alphabet.ts';
import { assumptions } from './assumptions.ts';

const doc = readFileSync(new URL('../../../docs/testing.md', import.meta.url), 'utf8');

test('docs/testing.md lists what is assumed not to happen, each with a reason, and nothing else', () => {
  const [, listed = ''] = /## What is assumed not to happen\n([\s\S]*?)\n## /.exec(doc) ?? [];
  const rows = [...listed.matchAll(/^\| `([\w-]+)` \| (.+) \| (.+) \|$/gm)];
  expect(Object.fromEntries(rows.map(([, id, what]) => [id, what]))).toEqual(assumptions);
  for (const [, id, , reason = ''] of rows) expect(reason.split(' ').length, id).toBeGreaterThan(7);
});

test('assumptions are not letters of the alphabet', () => {
  const letters = Object.values(alphabet).flatMap((table) => Object.keys(table));
  for (const assumption of Object.keys(assumptions)) expect(letters).not.toContain(assumption);
});
