import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../../cli/command-line/arguments.ts';
import { exampleOf, usageOf } from '../../../cli/command-line/help.ts';
import { type OptionName, options, writtenOption } from '../../../cli/command-line/options.ts';
import { verbNames, verbs, verbsWith } from '../../../cli/command-line/verbs.ts';

const helpOf = (...words: string[]): string => {
  const asked = parseArguments([...words, '--help'], {}, 'datahub-retention');
  return asked.kind === 'print' ? asked.text : '';
};

describe('the help', () => {
  it('of all names every verb, and a line to begin with', () => {
    const help = helpOf();
    for (const verb of verbNames) expect(help).toContain(`\n  ${usageOf(verb).padEnd(15)}  ${verbs[verb].does}\n`);
    expect(help.split('\n').length).toBeLessThanOrEqual(40);
    expect(help).not.toContain('npm start');
    expect(help.trimEnd().split('\n').at(-1)).toBe(`  ${exampleOf('datahub-retention', 'survey')}`);
  });

  it.each(verbNames)('of %s has its own options alone, fits a screen, and ends with an example that works', (verb) => {
    const help = helpOf(verb);
    const listed = [...help.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, option]) => option!);
    const own = verbs[verb].options.map(writtenOption);
    expect(listed.filter((option) => option !== '--version').sort()).toEqual([...own].sort());
    expect(help.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
    expect(help.trimEnd().split('\n').at(-1)).toBe(`  ${exampleOf('datahub-retention', verb)}`);
    expect(() => parseArguments([verb, ...verbs[verb].example.split(' ')], {})).not.toThrow();
  });

  it('is printed by the installed command without arguments, with status 2: a job may have lost its arguments', () => {
    const alone = () => parseArguments([], {}, 'datahub-retention');
    expect(alone).toThrow(/^Usage: datahub-retention VERB/);
    expect(alone).toThrow(expect.objectContaining({ name: 'UsageError' }));
  });

  it('lists no option that no verb takes', () => {
    for (const option of Object.keys(options) as OptionName[]) expect(verbsWith(option), option).not.toEqual([]);
  });
});
