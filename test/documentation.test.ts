import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseArguments, splitWords } from '../cli/command-line/arguments.ts';
import { type OptionName, options, writtenOption } from '../cli/command-line/options.ts';
import { verbNames, verbs } from '../cli/command-line/verbs.ts';
import { parseInput } from '../lambda/run/input.ts';

/** What the pages claim about the program: commands, inputs and links. */

const root = join(import.meta.dirname, '..');
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** What a page has in blocks, fenced or indented, and between backticks, a line each. */
const codeOf = (file: string): string[] =>
  [
    ...textOf(file)
      .replaceAll('\\\n', ' ')
      .matchAll(/^ *```.*\n([\s\S]*?)^ *```$|^(?: {4}|\t)(.+)$|`([^`\n]+)`/gm),
  ]
    .flatMap(([, block, indented, inline]) => (block ?? indented ?? inline ?? '').split('\n'))
    .map((line) => line.trim());

/** Commands of this program, without a comment or what a shell does with their output. */
const commandsOf = (file: string): string[] =>
  codeOf(file).flatMap((line) => {
    const [, command] = /(?:^|\s)(?:\.\/retention|(?<!-n )datahub-retention) ([a-z][^|>#&;]*)/.exec(line) ?? [];
    return command === undefined || /^[\w-]+\s+--namespace/.test(command) ? [] : [command.trim()];
  });

describe('The pages', () => {
  test.each(pages.filter((page) => commandsOf(page).length > 0))('%s: the program understands its commands', (page) => {
    const wrong = commandsOf(page).flatMap((command) => {
      // Three dots stand for options that are named elsewhere, and brackets for what may be left out.
      const words = splitWords(command.replace(/\.\.\.|…/g, '--policies p').replace(/[[\]]/g, ''));
      try {
        parseArguments(
          words.map((word) => (word === 'INDEX' ? 'a.b' : word === 'N' || word === 'SECONDS' ? '5' : word)),
          {},
        );
        return [];
      } catch (error) {
        return [`${command}: ${(error as Error).message}`];
      }
    });
    expect(wrong).toEqual([]);
  });

  test.each(pages.filter((page) => /--input '/.test(textOf(page))))('%s: a run takes its inputs', (page) => {
    for (const [, input] of textOf(page).matchAll(/--input '([^']+)'/g)) {
      expect(parseInput(JSON.parse(input!)), input).toHaveProperty('input');
    }
  });

  test.each(pages)('%s: its links within the repository lead to files and headings', (page) => {
    const lost = [
      ...textOf(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)|\bsrc(?:set)?="([^"]+)"/g),
    ].flatMap(([link, linked, anchor, image]) => {
      const path = linked ?? image;
      const target = path ? posix.join(posix.dirname(page), path) : page;
      if (!existsSync(join(root, target))) return [link];
      return anchor === undefined || anchorsOf(textOf(target)).includes(anchor) ? [] : [link];
    });
    expect(lost).toEqual([]);
  });

  test.each(pages)('%s: npm scripts that it names are there', (page) => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    const named = codeOf(page).flatMap((line) => /^npm run (?:-s )?([\w:-]+)/.exec(line)?.[1] ?? []);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('stay below 226 kB together', () => {
    expect(pages.reduce((sum, page) => sum + textOf(page).length, 0)).toBeLessThan(226_000);
    expect(textOf('README.md').length).toBeLessThan(8_850);
  });
});

test('docs/faq.md: an answer has at most three sentences', () => {
  const answers = [...textOf('docs/faq.md').matchAll(/^\*\*(.+?)\*\* (.+)$/gm)];
  expect(answers.length).toBeGreaterThan(20);
  const long = answers.filter(
    ([, , answer = '']) => answer.split(/[.!?](?: |$)/).filter((one) => one !== '').length > 3,
  );
  expect(long.map(([, question]) => question)).toEqual([]);
});

describe('docs/command-line.md', () => {
  const page = textOf('docs/command-line.md');

  test.each(verbNames)('has the verb %s', (verb) => {
    expect(page).toMatch(new RegExp(`^\\| \`${verb}\\b`, 'm'));
  });

  test.each(Object.keys(options) as OptionName[])('has the option %s, and a verb takes it', (name) => {
    expect(page).toMatch(new RegExp(`^\\|.*\`${writtenOption(name)}\\b`, 'm'));
    expect(Object.values(verbs).some((verb) => verb.options.includes(name))).toBe(true);
  });
});

test('.github/CODEOWNERS names files and folders that are there', () => {
  const named = [...textOf('.github/CODEOWNERS').matchAll(/^\/\S+/gm)].map(([path]) => path);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

/** The anchors of headings, as GitHub makes them. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
