import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { verdictOutcomes } from '../lambda/model/outcomes.ts';
import type { checks } from '../lambda/policy/decision.ts';
import { mutants } from './laboratory/mutants/mutants.ts';

/** docs/rules.md, the assumptions of docs/testing.md, and the comments that cite them. */

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/rules.md'), 'utf8');
const written = [...page.matchAll(/^\*\*Rule (\d+)[:.]? /gm)].map(([, number]) => Number(number));

/** The numbers after "rule": "rule 5", "rules 1 and 2", "Rule 2 again". */
const citedIn = (text: string): number[] =>
  [...text.matchAll(/\b[Rr]ules? (\d+)(?: and (\d+))?/g)].flatMap(([, one, other]) =>
    [one, other].flatMap((number) => (number === undefined ? [] : Number(number))),
  );

const filesOf = (...folders: string[]): string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(folder, name)),
  );

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

test('the page has every rule once, in order', () => {
  expect(written).toEqual(Array.from({ length: 15 }, (_, at) => at + 1));
  for (let promise = 0; promise <= 5; promise++) expect(page.split(`| P${promise} |`)).toHaveLength(2);
});

test('the page says when each verdict is given', () => {
  expect(verdictOutcomes.filter((outcome) => !page.includes(`\`${outcome}\``))).toEqual([]);
});

test('rules 2 and 3 have every reason not to truncate', () => {
  const words: Record<keyof typeof checks, RegExp> = {
    settings: /after a pause; a policy that has changed since Plan/,
    serverClock: /the server's `Date` is within 10 minutes of our clock/,
    startInFuture: /the run starts no more than 60 seconds in the future/,
    floor: /the cutoff is at least `minRetentionDays` old/,
    counts: /no more than there are;/,
    nothingToDelete: /at least one row is to be deleted/,
    grown: /more rows to delete than Plan counted/,
    threshold: /their share reaches `minDeletePercent`/,
    ceiling: /does not exceed `maxDeletePercent` unless an approval/,
    refuseReindex: /the policy does not refuse it \(`refuseReindex`\)/,
    taskStatus: /task statuses can be read/,
    methodChanged: /a reindex that was not announced before, or no longer is/,
    rowsChanged: /rows to delete that moved since the baseline/,
    rowLimit: /or that exceed the row limit/,
  };
  for (const reason of Object.values(words)) expect(page).toMatch(reason);
});

test('every rule that a comment or a test cites is on the page', () => {
  const unknown = filesOf('lambda', 'cli', 'infra', 'build', 'bench', 'test').flatMap((file) =>
    citedIn(textOf(file))
      .filter((rule) => !written.includes(rule))
      .map((rule) => `${file}: rule ${rule}`),
  );
  expect(unknown).toEqual([]);
});

test('every rule is cited by the code that keeps it, and by a test or a mutant that fails without it', () => {
  const inCode = new Set(filesOf('lambda', 'cli', 'infra').flatMap((file) => citedIn(textOf(file))));
  const inTests = new Set([
    ...filesOf('test').flatMap((file) => (/\.test\.ts$/.test(file) ? citedIn(textOf(file)) : [])),
    ...mutants.map(({ about }) => Number(about)),
  ]);
  expect(written.filter((rule) => !inCode.has(rule))).toEqual([]);
  expect(written.filter((rule) => !inTests.has(rule))).toEqual([]);
});

test('what is assumed is on the page of tests, and named where the code relies on it', () => {
  const section = textOf('docs/testing.md').split('## What is assumed not to happen')[1]?.split('\n## ')[0] ?? '';
  const listed = [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
  const relied = filesOf('lambda', 'cli').flatMap((file) =>
    [...textOf(file).matchAll(/Assumed[^:.]*: ([a-z-]+(?:,\s[\s*]*[a-z-]+)*)/g)].flatMap(([, names = '']) =>
      names.split(/,[\s*]+/),
    ),
  );
  expect(listed.length).toBeGreaterThan(0);
  expect(relied.sort()).toEqual(listed.sort());
});
