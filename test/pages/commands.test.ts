import { describe, expect, test } from 'vitest';
import { type Command, commandsOf, filled, pages, placeholders, read, readText } from './commands.ts';
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
    /^(?:\{ ?"|\{\n|import |image: |notification: |podSecurityContext: |alert: |token: |podLabels: |podAnnotations: |kind: |apiVersion: |flowchart |resource "|\[Unit\]|DATAHUB_GMS_URL=|30 3 \* |\/var\/log|\[DataHub|Index {3})/;

  test.each(pages)('%s: a block of something else is a file, a message or output', (page) => {
    expect(read(page).shown.flatMap(({ line, text }) => (contents.test(text) ? [] : `${line}: ${text}`))).toEqual([]);
  });
});

describe('The extractor', () => {
  const page = [
    '## First',
    'Type `npm ci`, not `npm`.',
    '',
    '    aws one \\',
    '      --two',
    '    aws three',
    '',
    '1. A step:',
    '',
    '       by_hand() {',
    '         kubectl -n x get jobs',
    '       }',
    '',
    '   ```text',
    '   GET /INDEX/_count',
    '   ```',
    '',
    '    gcloud is nothing that it knows',
    '',
    '| where | `DATAHUB_RETENTION_ARGS` | it worked if |',
    '|---|---|---|',
    '| Kubernetes | `status` | `kubectl get a | b` says `x` |',
  ].join('\n');
  const { commands, shown } = readText('page.md', page);

  test('takes what stands in blocks, in sentences and in cells, as it is written', () => {
    expect(commands.map(({ line, where, column, text }) => [line, where, column, text])).toEqual([
      [2, undefined, undefined, 'npm ci'],
      [4, undefined, undefined, 'aws one \\\n  --two'],
      [6, undefined, undefined, 'aws three'],
      [10, undefined, undefined, 'by_hand() {\n  kubectl -n x get jobs\n}'],
      [15, undefined, undefined, 'GET /INDEX/_count'],
      [22, 'Kubernetes', 'DATAHUB_RETENTION_ARGS', 'status'],
      [22, 'Kubernetes', 'it worked if', 'kubectl get a | b'],
    ]);
  });

  test('shows a block that begins with no program that it knows', () => {
    expect(shown.map(({ line, text }) => [line, text])).toEqual([[18, 'gcloud is nothing that it knows']]);
  });

  test('fills in whole words, and refuses a word without a value', () => {
    expect(filled('cancel TASK of TASK_ID, $TASK', { TASK: 'a', TASK_ID: 'b' })).toBe('cancel a of b, $TASK');
    expect(() => filled('GET /INDEX', {})).toThrow('GET /INDEX: nothing is given for INDEX');
  });
});
