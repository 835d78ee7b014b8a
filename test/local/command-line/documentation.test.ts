import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseArguments } from '../../../local/command-line/arguments.ts';
import { type OptionName, options, writtenOption } from '../../../local/command-line/options.ts';
import { verbNames } from '../../../local/command-line/verbs.ts';

const textOf = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

it.each((Object.keys(options) as OptionName[]).map(writtenOption))('%s is in docs/local-runner.md', (name) => {
  expect(textOf('docs/local-runner.md')).toMatch(new RegExp(`${name}\\b`));
});

it.each(verbNames)('%s is in the table of verbs in the README', (verb) => {
  expect(textOf('README.md')).toMatch(new RegExp(`^\\| \`${verb}\\b`, 'm'));
});

it.each([
  'README.md',
  'docs/operate.md',
  'docs/kubernetes.md',
  'docs/local-runner.md',
  'docs/runbook.md',
  'docs/moving-from-datahub-gc.md',
])('in %s every command of this program is one that it understands', (file) => {
  const lines = [
    ...textOf(file).matchAll(
      /(?:^ {4}|^ {7}|`)(?:npm start --|datahub-retention) (?!VERB|history \[INDEX\])([^`\n|]+)/gm,
    ),
  ];
  for (const [, line] of lines) {
    // Three dots stand for options that are named elsewhere.
    const words = line!.replaceAll('...', '--policies p').replace(/[[\]]/g, '').trim().split(/\s+/);
    expect(() => parseArguments(words, {}), line).not.toThrow();
  }
});

it('has every option of history in docs/local-runner.md', () => {
  const asked = parseArguments(['history', '--help'], {});
  const help = asked.kind === 'print' ? asked.text : '';
  const section = /^## `history`$([\s\S]*?)^## /m.exec(textOf('docs/local-runner.md'))![1]!;
  const names = [...help.matchAll(/^ {2}(--(?!version)[\w-]+)/gm)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(4);
  for (const name of names) expect(section).toContain(`| \`${name}`);
});

it('has every picture that the README shows', () => {
  const shown = [...textOf('README.md').matchAll(/(?:srcset|src)="([^"]+)"/g)].map(([, path]) => path!);
  expect(shown).toHaveLength(4);
  for (const path of shown) {
    const { length } = readFileSync(new URL(`../../../${path}`, import.meta.url));
    expect(length).toBeGreaterThan(1000);
    expect(length).toBeLessThan(300_000);
  }
});
