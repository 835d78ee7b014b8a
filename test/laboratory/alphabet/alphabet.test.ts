import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { alphabet } from './alphabet.ts';
import { assumptions } from './assumptions.ts';

/** docs/testing.md and the list of assumptions are the same. */

const doc = readFileSync(new URL('../../../docs/testing.md', import.meta.url), 'utf8');

describe('docs/testing.md', () => {
  test('lists what is assumed not to happen, each with a reason, and nothing else', () => {
    const [, listed = ''] = /## What is assumed not to happen\n([\s\S]*?)\n## /.exec(doc) ?? [];
    const rows = [...listed.matchAll(/^\| `([\w-]+)` \| (.+) \| (.+) \|$/gm)];
    expect(rows.map(([, id]) => id).sort()).toEqual(Object.keys(assumptions).sort());
    for (const [, id = '', what = '', reason = ''] of rows) {
      expect([id, what]).toEqual([id, assumptions[id as keyof typeof assumptions]]);
      expect(reason.split(' ').length, id).toBeGreaterThan(7);
    }
  });

  test('assumptions are not letters of the alphabet, and each letter says what it means', () => {
    const letters = Object.values(alphabet).flatMap((table) => Object.entries(table));
    for (const [name, says] of letters) {
      expect(Object.keys(assumptions)).not.toContain(name);
      expect(says.length, name).toBeGreaterThan(2);
    }
  });
});
