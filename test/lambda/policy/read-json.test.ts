import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson, withPlace } from '../../../lambda/policy/read-json.ts';
import { holds } from '../../properties.ts';

const problemOf = (text: string) => {
  const read = readJson(text);
  return read.kind === 'wrong' ? withPlace(read) : undefined;
};

describe('JSON written by a person', () => {
  test('is read as JSON.parse reads it', () => {
    holds(
      fc.property(fc.json(), (text) => {
        expect(readJson(text)).toEqual({ kind: 'value', value: JSON.parse(text) });
      }),
    );
  });

  test('is refused whenever JSON.parse refuses it', () => {
    const text = fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(([json, at, inserted]) => {
      const place = at % (json.length + 1);
      return json.slice(0, place) + inserted + json.slice(place);
    });
    holds(
      fc.property(text, (broken) => {
        let valid = true;
        try {
          JSON.parse(broken);
        } catch {
          valid = false;
        }
        const problem = problemOf(broken);
        if (valid) expect(problem ?? 'twice').toContain('twice');
        else expect(problem).toMatch(/^(?:is|has) /);
      }),
    );
  });

  test.each([
    ['begins with the byte order mark of Windows editors', '\ufeff[1]', [1], false],
    ['contains such a mark inside a string', '["a\ufeffb", "\ufffd"]', ['a\ufeffb', '\ufffd'], false],
    ['has comments, in a file that people keep', '// all\n{"a": /* one */ 1} // end', { a: 1 }, true],
  ])('is read where it %s', (_, text, value, comments) => {
    expect(readJson(text, { comments })).toEqual({ kind: 'value', value });
  });

  /** Two lines a text: it, and what is wrong with it. */
  const texts = [
    '[\n  {"a": 1},\n]',
    '[\n  {"a": 1,}\n]',
    '[\n  1, // one\n  2\n]',
    "{\n  'a': 1\n}",
    '[\r\n{}\r\n{}]',
    '[\n{"a": 1}',
    '{"a" 1}',
    '[{"a": "b]',
    '[1]\n[2]',
    'a: 1',
    '',
    '\ufeff \n',
    Buffer.from('\ufeff{"a": 1}', 'utf16le').toString('utf8'),
    '\ufffd[1]',
    // A key twice in one object: in a nested one, however it is escaped, with another object in between, a long one.
    '[{"a": 1},\n {"b": {"a": 1, "a": 1}}]',
    '{"a": 1, "\\u0061": 2}',
    '{"a": 1, "x": {}, "a": 2}',
    `{"${'k'.repeat(61)}": 1, "${'k'.repeat(61)}": 2}`,
    '[{"a": {"a": 1}}, {"a": 2}]',
    '{"x": {"a": 1}, "a": 2}',
  ];
  const withComments = ['{"a": 1} /* end', '1/* */2', '[1/**/2]', '{"a": 1,}'];

  test('is refused with the mistake, its line and column', async () => {
    const shown = (comments: boolean) => (text: string) => {
      const read = readJson(text, { comments });
      return `${JSON.stringify(text)}\n    ${read.kind === 'wrong' ? withPlace(read) : 'is read'}\n`;
    };
    const lines = [...texts.map(shown(false)), 'With comments:\n', ...withComments.map(shown(true))];
    await expect(lines.join('')).toMatchFileSnapshot('read-json.txt');
  });

  test.each(['[', '{"a":'])('that opens %s thousands of times is refused without recursion', (opening) => {
    expect(problemOf(opening.repeat(50_000))).toMatch(/nested too deeply|is not JSON/);
  });

  test('is refused with the place of the mistake beside the sentence', () => {
    expect(readJson('[1,\n 2,]')).toStrictEqual({
      kind: 'wrong',
      problem: 'has a trailing comma: nothing follows it before ]',
      at: { line: 2, column: 3 },
    });
    expect(readJson(' ')).toStrictEqual({ kind: 'wrong', problem: 'is empty' });
  });

  test('is refused without quoting the text where it breaks off', () => {
    expect(problemOf('S3cr3tT0ken')).not.toContain('S3cr');
  });
});
