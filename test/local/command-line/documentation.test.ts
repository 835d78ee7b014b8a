import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseArguments } from '../../../local/command-line/arguments.ts';
import { optionNames } from '../../../local/command-line/options.ts';

const textOf = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

it.each(optionNames)('--%s is in the README', (name) => {
  expect(textOf('README.md')).toMatch(new RegExp(`--${name}\\b`));
});

it('has every option of history in docs/local-runner.md', () => {
  const asked = parseArguments(['history', '--help'], {});
  const help = asked.kind === 'print' ? asked.text : '';
  const section = /^## `history`$([\s\S]*?)^## /m.exec(textOf('docs/local-runner.md'))![1]!;
  const names = [...help.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, name]) => name!);
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
