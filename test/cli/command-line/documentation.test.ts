import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { parseArguments } from '../../../cli/command-line/arguments.ts';
import { type OptionName, options, writtenOption } from '../../../cli/command-line/options.ts';
import { verbNames } from '../../../cli/command-line/verbs.ts';
import { fileFields, settingFields } from '../../../infra/stage/fields.ts';
import { policySchema } from '../../../lambda/policy/schema.ts';
import { parseInput } from '../../../lambda/run/plan/input.ts';

const textOf = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

it.each((Object.keys(options) as OptionName[]).map(writtenOption))('%s is in docs/local-runner.md', (name) => {
  expect(textOf('docs/local-runner.md')).toMatch(new RegExp(`${name}\\b`));
});

it.each(verbNames)('%s is in the table of verbs in the README', (verb) => {
  expect(textOf('README.md')).toMatch(new RegExp(`^\\| \`${verb}\\b`, 'm'));
});

/** What a page's table says about each field in its first column; a row may name several. */
const rowsOf = (file: string, head: string) => {
  const [, table] = new RegExp(`^\\| ${head} \\|.*\\n\\|---.*\\n((?:\\|.*\\n)+)`, 'm').exec(textOf(file))!;
  return table!.split('\n').flatMap((row) => {
    const [fields = '', standard = ''] = row.replace(/^\| /, '').split(' | ');
    return [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => ({
      field: field!,
      standard: standard.replaceAll('`', ''),
    }));
  });
};
const { policies: _, $schema: __, ...settings } = { ...settingFields, ...fileFields };

it.each([
  ['README.md', 'field', policySchema(7)],
  ['docs/operate.md', 'setting', z.strictObject(settings)],
])('the table in %s has every %s with its default', (file, head, schema) => {
  const rows = rowsOf(file, head);
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' });
  expect(rows.map(({ field }) => field).sort()).toEqual(Object.keys(properties).sort());
  for (const { field, standard } of rows) {
    const { default: value } = properties[field] as { default?: unknown };
    if (value !== undefined && typeof value !== 'object')
      expect([field, standard.split(/[,;] /)]).toEqual([field, expect.arrayContaining([String(value)])]);
  }
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

it.each(['README.md', 'docs/operate.md', 'docs/runbook.md'])(
  'in %s every input of an execution is one that a run takes',
  (file) => {
    const inputs = [...textOf(file).matchAll(/--input '([^']+)'/g)].map(([, input]) => input!);
    expect(inputs.length).toBeGreaterThan(1);
    for (const input of inputs) expect(parseInput(JSON.parse(input)), input).toHaveProperty('input');
  },
);

it.each(['README.md', 'CONTRIBUTING.md', 'docs/operate.md', 'docs/kubernetes.md', 'docs/privileges-and-network.md'])(
  'in %s every link within the repository leads to a file and a heading that exist',
  (file) => {
    const links = [...textOf(file).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    expect(links).not.toHaveLength(0);
    for (const [link, path, anchor] of links) {
      const target = path ? posix.join(posix.dirname(file), path) : file;
      expect(existsSync(new URL(`../../../${target}`, import.meta.url)), link).toBe(true);
      if (anchor !== undefined) expect(anchors(textOf(target)), link).toContain(anchor);
    }
  },
);

/** The anchors of headings, as GitHub makes them. */
const anchors = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

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
