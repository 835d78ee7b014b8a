import { expect, test } from 'vitest';
import { bundleWorker } from '../campaign/bundle.ts';
import { type Mutant, replaces } from './mutant.ts';
import { mutants } from './mutants.ts';
import { replaced } from './replaced.ts';

test('every mutant replaces functions that the core exports and the laboratory reaches', async () => {
  await expect(bundleWorker('all', mutants)).resolves.toBeDefined();
});

test.each([
  ['a module that is not there', 'truncation/nowhere', 'isStill', 'no such file'],
  ['a function that is not there', 'truncation/watch', 'isStiller', 'exports isStiller 0 times'],
  ['a function that its module keeps to itself', 'truncation/watch', 'standsStill', 'exports standsStill 0 times'],
  ['a function that no history reaches', 'wiring/ssm', 'ssmParameters', 'does not reach'],
])('a mutant of %s cannot be hunted', async (_, module, name, why) => {
  const mutant: Mutant = {
    about: '1',
    name: 'nothing',
    replacements: [replaces(module, name, (original) => original)],
  };
  await expect(bundleWorker('nothing', [mutant])).rejects.toThrow(why);
});

test('a replacement reaches callers in its own module, and several mutants may replace one function', async () => {
  const source = `export const two = () => 2;\nexport const four = () => two() + two();\n`;
  const adding = (name: string): Mutant => ({ about: '1', name, replacements: [replaces('any', 'two', (one) => one)] });
  const mutantsPath = moduleOf('export const mutateOf = () => (original) => () => original() + 1;');
  const { four } = await import(moduleOf(replaced(source, 'any', [adding('one'), adding('another')], mutantsPath)));
  expect(four()).toBe(8);
});

const moduleOf = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

test('every mutant has a name of its own, and every safety rule but the twelfth has a mutant', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  const rules = new Set(mutants.map(({ about }) => about));
  for (let rule = 1; rule <= 11; rule++) expect(rules).toContain(String(rule));
});
