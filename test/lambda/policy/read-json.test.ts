import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { placed, readJson } from '../../../lambda/policy/read-json.ts';
import { holds } from '../../properties.ts';

const problemOf = (text: string) => {
  const read = readJson(text);
  return read.kind === 'wrong' ? placed(read) : undefined;
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

  test('may begin with the byte order mark of Windows editors', () => {
    expect(readJson('\ufeff[1]')).toEqual({ kind: 'value', value: [1] });
  });

  test.each([
    ['[\n  {"a": 1},\n]', 'has a trailing comma: nothing follows it before ] (line 2, column 11)'],
    ['[\n  {"a": 1,}\n]', 'has a trailing comma: nothing follows it before } (line 2, column 10)'],
    ['[\n  1, // one\n  2\n]', 'is not JSON here: invalid comment token (line 2, column 6)'],
    ["{\n  'a': 1\n}", 'is not JSON here: invalid symbol (line 2, column 3)'],
    ['[\r\n{}\r\n{}]', 'is not JSON here: comma expected (line 2, column 3)'],
    ['[\n{"a": 1}', 'is not JSON here: close bracket expected (line 2, column 9)'],
    ['{"a" 1}', 'is not JSON here: colon expected (line 1, column 5)'],
    ['[{"a": "b]', 'is not JSON here: unexpected end of string (line 1, column 8)'],
    ['[1]\n[2]', 'is not JSON here: end of file expected (line 2, column 1)'],
    ['a: 1', 'is not JSON here: invalid symbol (line 1, column 1)'],
  ])('that is %j is refused with the mistake, its line and column', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  test.each([
    ['is empty', '', /^is empty$/],
    ['is blank behind its byte order mark', '\ufeff \n', /^is empty$/],
    ['is UTF-16', Buffer.from('\ufeff{"a": 1}', 'utf16le').toString('utf8'), /^is not UTF-8 text/],
  ])('that %s is refused with that reason', (_, text, problem) => {
    expect(problemOf(text)).toMatch(problem);
  });

  test('is refused with a key twice in one object, also with the same value and in a nested one', () => {
    expect(problemOf('[{"a": 1},\n {"b": {"a": 1, "a": 1}}]')).toBe(
      'has the key "a" twice in one object: keep one of them (line 2, column 17)',
    );
  });

  test('is refused with a key twice however it is escaped', () => {
    expect(problemOf('{"a": 1, "\\u0061": 2}')).toMatch(/the key "a" twice/);
  });

  test.each(['[{"a": {"a": 1}}, {"a": 2}]', '{"x": {"a": 1}, "a": 2}'])(
    'may hold a key again in another object: %s',
    (text) => {
      expect(problemOf(text)).toBeUndefined();
    },
  );

  test('is refused with a key twice, also with another object in between', () => {
    expect(problemOf('{"a": 1, "x": {}, "a": 2}')).toMatch(/the key "a" twice/);
  });

  test('does not become another number where a comment is taken out', () => {
    expect(readJson('[1/**/2]', { comments: true })).toMatchObject({ kind: 'wrong' });
  });

  test.each(['[', '{"a":'])('that opens %s thousands of times is refused without recursion', (opening) => {
    expect(problemOf(opening.repeat(50_000))).toMatch(/nested too deeply|is not JSON/);
  });

  test('may contain a byte order mark inside a string', () => {
    expect(readJson('["a\ufeffb", "\ufffd"]')).toEqual({ kind: 'value', value: ['a\ufeffb', '\ufffd'] });
    expect(problemOf('\ufffd[1]')).toMatch(/^is not UTF-8 text/);
  });

  test('is refused with only the beginning of a long duplicate key', () => {
    const key = 'k'.repeat(61);
    expect(problemOf(`{"${key}": 1, "${key}": 2}`)).toContain(`the key "${'k'.repeat(60)}" twice`);
  });

  describe('in a file that people keep', () => {
    const read = (text: string) => readJson(text, { comments: true });

    test('may have comments', () => {
      expect(read('// all\n{"a": /* one */ 1} // end')).toEqual({ kind: 'value', value: { a: 1 } });
    });

    test.each([
      ['{"a": 1} /* end', 'is not JSON here: unexpected end of comment (line 1, column 10)'],
      ['1/* */2', 'is not JSON here: end of file expected (line 1, column 7)'],
      ['{"a": 1,}', 'has a trailing comma: nothing follows it before } (line 1, column 8)'],
    ])('that is %j is refused', (text, problem) => {
      expect(placed(read(text) as { problem: string })).toBe(problem);
    });
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
