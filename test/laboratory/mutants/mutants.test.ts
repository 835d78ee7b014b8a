import { expect, test } from 'vitest';
import { bundleWorker, sourcesWith } from '../campaign/bundle.ts';
import { type Mutant, replaces } from './mutant.ts';
import { mutants } from './mutants.ts';

test('every mutant replaces functions that the core exports and the laboratory reaches', async () => {
  const ofFunctions = mutants.filter(({ patches }) => patches.every(({ kind }) => kind === 'function'));
  await expect(bundleWorker('all', ofFunctions)).resolves.toBeDefined();
});

test('every mutant that patches text still matches the core', () => {
  for (const mutant of mutants) expect(() => sourcesWith([mutant])).not.toThrow();
});

test.each([
  ['a module that is not there', 'truncation/nowhere', 'isStill', 'no such file'],
  ['a function that is not there', 'truncation/watch', 'isStiller', 'declares isStiller 0 times'],
  ['a function that no history reaches', 'wiring/ssm', 'ssmParameters', 'does not reach'],
])('a mutant of %s cannot be hunted', async (_, module, name, why) => {
  const mutant: Mutant = { about: '1', name: 'nothing', patches: [replaces(module, name, (original) => original)] };
  await expect(bundleWorker('nothing', [mutant])).rejects.toThrow(why);
});

test('the names of mutants are their own, and every safety rule but the twelfth has one', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  const rules = new Set(mutants.map(({ about }) => about));
  for (let rule = 1; rule <= 11; rule++) expect(rules).toContain(String(rule));
});
