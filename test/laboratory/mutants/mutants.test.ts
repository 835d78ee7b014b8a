import { transform } from 'esbuild';
import { expect, test } from 'vitest';
import { withPatches } from '../campaign/bundle.ts';
import { mutants } from './mutants.ts';

test('every mutant still matches the core, and what it makes of it is code', async () => {
  for (const { name, patches } of mutants) {
    for (const file of new Set(patches.map((patch) => patch.file))) {
      const text = withPatches(file, patches);
      await expect(transform(text, { loader: 'ts' }), `${name}, ${file}`).resolves.toBeDefined();
    }
  }
});

test('the names of mutants are their own, and every safety rule but the twelfth has one', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  const rules = new Set(mutants.map(({ about }) => about));
  for (let rule = 1; rule <= 11; rule++) expect(rules).toContain(String(rule));
});
