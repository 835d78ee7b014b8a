import { expect, test } from 'vitest';
import { bundleWorker } from '../campaign/bundle.ts';
import { mutant } from './mutant.ts';
import { mutants } from './mutants.ts';

test('every mutant changes a text that is in the core once, in a module that the laboratory reaches', async () => {
  for (const one of mutants) await expect(bundleWorker('one', [one]), one.name).resolves.toBeDefined();
});

test.each([
  ['a module that is not there', 'truncation/nowhere', 'judge', 'does not reach'],
  ['a text that is not there', 'truncation/judge', 'no such text', '0 times'],
  ['a module that no history reaches', 'facts/cli', 'x', 'does not reach'],
])('a mutant of %s cannot be hunted', async (_, module, find, why) => {
  await expect(bundleWorker('nothing', [mutant(1, 'nothing', [[module, find, '']])])).rejects.toThrow(why);
});

test('every mutant has a name of its own, and every safety rule that the laboratory can see has a mutant', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  const rules = new Set(mutants.map(({ about }) => about));
  // Rule 13 is about secrets, and rule 14 about policies: unit tests have them.
  for (let rule = 1; rule <= 12; rule++) expect(rules).toContain(String(rule));
});
