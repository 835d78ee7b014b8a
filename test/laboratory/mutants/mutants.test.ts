import { readdirSync, readFileSync } from 'node:fs';
import { transform } from 'esbuild';
import { expect, test } from 'vitest';
import { comparedFields } from '../../../lambda/model/policy-fields.ts';
import { checks } from '../../../lambda/policy/decision.ts';
import { bundleWorker } from '../campaign/bundle.ts';
import { changed, mutant } from './mutant.ts';
import { mutants } from './mutants.ts';

test('every mutant changes functions that the core has, and what comes out can be built', async () => {
  const outdated = await Promise.all(
    mutants.map(async (one) => {
      try {
        for (const module of new Set(one.changes.map((change) => change.module))) {
          const source = readFileSync(new URL(`../../../lambda/${module}.ts`, import.meta.url), 'utf8');
          await transform(changed(source, module, [one]), { loader: 'ts' });
        }
        return [];
      } catch (error) {
        return [`${one.name}: ${(error as Error).message}`];
      }
    }),
  );
  expect(outdated.flat()).toEqual([]);
});

test.each([
  ['a module that is not there', 'truncation/nowhere', 'judge', 'does not reach'],
  ['a function that is not there', 'truncation/judge', 'judgeNothing', 'has no judgeNothing'],
  ['a check that is not there', 'policy/decision', 'checks.mood.rejection', 'has no checks.mood'],
  ['a module that no history reaches', 'aws/ssm', 'ssmParameters', 'does not reach'],
])('a mutant of %s cannot be hunted', async (_, module, name, why) => {
  await expect(
    bundleWorker('nothing', [mutant(1, 'nothing', [[module, name, '() => () => undefined']])]),
  ).rejects.toThrow(why);
});

test('every mutant has a name of its own, and every safety rule that the laboratory can see has a mutant', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  const rules = new Set(mutants.map(({ about }) => about));
  // Rule 13 is about secrets: unit tests have it.
  for (let rule = 1; rule <= 15; rule++) expect(rules.has(String(rule))).toBe(rule !== 13);
});

test('every reason not to truncate has a mutant without it, so that the laboratory forbids what it prevents', () => {
  const changed = mutants.flatMap(({ changes }) => changes.map(({ name }) => name));
  expect(Object.keys(checks).filter((reason) => !changed.includes(`checks.${reason}.rejection`))).toEqual([]);
});

test('the laboratory has an opinion of its own about every field of a policy', () => {
  const folder = new URL('../rules/', import.meta.url);
  const rules = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
  expect(comparedFields.filter((field) => !new RegExp(`\\b${field}\\b`).test(rules.join()))).toEqual([]);
});
