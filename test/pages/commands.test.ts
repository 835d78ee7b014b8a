import { describe, expect, test } from 'vitest';
import { verbNames } from '../../cli/command-line/verbs.ts';
import { type Command, commandsOf, filled, pages, placeholders, read } from './commands.ts';
import { exceptions, ownersOf } from './executed.ts';

/** Every command of a page is executed somewhere, or is an exception with its reason. */

const all = pages.flatMap(commandsOf);
const said = ({ page, line, text }: Command) => `${page}:${line} ${text}`;

describe('The commands of the pages', () => {
  test.each(pages)('%s: each is executed by exactly one test, or is an exception', (page) => {
    const wrong = commandsOf(page).filter((command) => {
      const { executors, exceptions: found } = ownersOf(command);
      return executors.length + found.length !== 1;
    });
    expect(wrong.map(said)).toEqual([]);
  });

  // `npm start` is the demo, and a message has the command that releases.
  test('have every other verb of the program, so that each is executed', () => {
    const typed = (verb: string) => all.some(({ text }) => new RegExp(`\\bretention ${verb}\\b`).test(text));
    expect(verbNames.filter((verb) => !typed(verb))).toEqual(['demo', 'release']);
  });

  test('no exception is left over', () => {
    const used = new Set(all.flatMap((command) => ownersOf(command).exceptions));
    expect(exceptions.filter((exception) => !used.has(exception))).toEqual([]);
  });

  test('what stands for something else is in the table of placeholders', () => {
    const values = Object.fromEntries(Object.keys(placeholders).map((name) => [name, '-']));
    // Methods, states of Step Functions and CloudWatch, and what the shell itself replaces.
    const literal = /^(?:GET|PUT|POST|DELETE|RUNNING|ALARM|DATAHUB_\w+)$/;
    const left = all.filter((command) =>
      [...filled(command.text, values).matchAll(/(?<![$\w])[A-Z]{2,}(?:_[A-Z]+)*\b(?!=\$)/g)].some(
        ([word]) => !literal.test(word),
      ),
    );
    expect(left.map(said)).toEqual([]);
  });

  /** A block that no test executes has to be something else than commands. */
  const contents =
    /^(?:\{ ?"|\{\n|import |image: |notification: |adaptSecurityContext: |alert: |token: |podLabels: |podAnnotations: |kind: |apiVersion: |flowchart |resource "|\[Unit\]|DATAHUB_GMS_URL=|on: \{ pull|30 3 \* |\/var\/log|\[DataHub|Index {3})/;

  test.each(pages)('%s: a block of something else is a file, a message or output', (page) => {
    expect(read(page).shown.flatMap(({ line, text }) => (contents.test(text) ? [] : `${line}: ${text}`))).toEqual([]);
  });
});
