import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { explain, problemsOf } from '../../../lambda/policy/explain.ts';

/** One sentence for each problem: the field, what it should be, and what it is. */

const schema = z.strictObject({
  name: z.string().min(2).max(5).optional(),
  days: z.int().min(7, 'minRetentionDays').max(99).optional(),
  share: z.number().min(1).optional(),
  emails: z.array(z.string().max(9)).min(1).max(2).optional(),
  mode: z.enum(['preview', 'enforce']).optional(),
  on: z.boolean().optional(),
  tags: z.record(z.string().regex(/^[a-z]+$/, 'must be small letters'), z.string()).optional(),
  key: z.string().regex(/^k/, 'must begin with k').optional(),
  tokenParameter: z.enum(['/a']).optional(),
  headersParameter: z.enum(['/a']).optional(),
  myToken: z.enum(['/a']).optional(),
  nested: z.strictObject({ deep: z.array(z.strictObject({ days: z.int() })) }).optional(),
  needed: z.string().default('x'),
});
const refused = (value: unknown, of: z.ZodType = schema) => {
  const { error } = of.safeParse(value);
  if (!error) throw new Error('it was accepted');
  return error;
};
const keys = Object.keys(schema.shape);
const said = (value: unknown, of: z.ZodType = schema) => explain(refused(value, of), value, keys);

const wrong: [about: string, value: unknown][] = [
  ['too short a text', { name: 'x' }],
  ['too long a text', { name: 'xxxxxx' }],
  ['too few entries', { emails: [] }],
  ['too many entries', { emails: ['a', 'b', 'c'] }],
  ['an entry, counted from one', { emails: ['a', 'b'.repeat(10)] }],
  ['too small a number, with its setting', { days: 6 }],
  ['too small a number', { share: 0.5 }],
  ['too large a number', { days: 100 }],
  ['half a number', { days: 7.5 }],
  ['a text for a number', { share: '1' }],
  ['a number for a string', { name: 1 }],
  ['a text for a switch', { on: 'yes' }],
  ['a text for a list', { emails: 'abc' }],
  ['a list for an object', { nested: [] }],
  ['a list for names', { tags: [] }],
  ['what no JSON has', { share: Infinity, name: 1n, key: () => 'k' }],
  ['what an app has made', { share: new Map(), name: new URL('http://x'), on: { constructor: { name: 'Date' } } }],
  ['nothing for an object', null],
  ['one of several', { mode: 'force' }],
  ['a text of another form', { key: 'x' }],
  ['a key of another form', { tags: { A: 'b' } }],
  ['a part of a part', { nested: { deep: [{ days: 1 }, { days: 'x' }] } }],
  ['a part that is missing', { nested: { deep: [{}] } }],
  ['a mistyped field', { mdoe: 'preview' }],
  ['a field from nowhere', { color: 1 }],
  ['several problems', { name: 'x', days: 6 }],
];

test('what is wrong with a value is explained', async () => {
  const lines = wrong.map(([about, value]) => `${about}\n    ${said(value)}\n`);
  await expect(lines.join('')).toMatchFileSnapshot('explain.txt');
});

describe('what is wrong with a value', () => {
  test('is explained in the words of a custom rule, which names its field once', () => {
    const rule = (message: string) =>
      z
        .object({ a: z.number() })
        .superRefine((_, context) => context.addIssue({ code: 'custom', path: ['a'], message }));
    expect(said({ a: 1 }, rule('is odd'))).toBe('a: is odd');
    expect(said({ a: 1 }, rule('a is odd'))).toBe('a is odd');
    const whole = z.object({}).superRefine((_, context) => context.addIssue({ code: 'custom', message: 'is odd' }));
    expect(said({}, whole)).toBe('is odd');
  });

  test('is explained for an issue of an unknown kind', () => {
    expect(said({ at: 1 }, z.object({ at: z.date() }))).toBe('at must be date, not 1');
  });

  test('names the nested field', () => {
    const value = { nested: { deep: [{ days: 1, dyas: 2 }] }, days: 6 };
    expect(problemsOf(refused(value), value, keys).map(({ path }) => path)).toEqual([
      ['days'],
      ['nested', 'deep', 0, 'dyas'],
    ]);
  });

  test('cuts long values to fit a sentence', () => {
    expect(said({ mode: 'x'.repeat(58) })).toContain(`not "${'x'.repeat(58)}"`);
    expect(said({ mode: 'x'.repeat(59) })).toMatch(new RegExp(`not "${'x'.repeat(56)}\\.\\.\\.$`));
  });
});

describe('a token', () => {
  const hidden = 'not what it holds (not shown: it may be a secret)';

  test.each([
    ['in the place of its parameter’s name', { tokenParameter: 's3cret' }, hidden],
    ['or of the headers’', { headersParameter: 'X-Key: s3cret' }, hidden],
    ['that is a key, anywhere', { mode: '-----BEGIN PRIVATE KEY-----' }, hidden],
    ['that looks like one, anywhere', { mode: 'eyJhbGciOiJ' }, hidden],
    ['that begins like one, but is too short', { mode: 'eyJhbGciO' }, 'not "eyJhbGciO"'],
    ['that has such letters later', { mode: 'xeyJhbGciOiJ' }, 'not "xeyJhbGciOiJ"'],
    ['that begins like one, but goes on otherwise', { mode: 'eyJ. . . . . ' }, 'not "eyJ. . . . . "'],
    ['that is a number', { tokenParameter: 7 }, 'not 7'],
    ['in a field that only ends like one', { myToken: 'x' }, 'not "x"'],
  ])('%s', (_, value, expected) => {
    expect(said(value).endsWith(expected)).toBe(true);
    if (expected === hidden) for (const text of Object.values(value)) expect(said(value)).not.toContain(text);
  });

  test('in a nested field is not shown either', () => {
    const deep = z.object({ token: z.object({ name: z.enum(['/a']) }) });
    expect(said({ token: { name: 's3cret' } }, deep)).toBe(`token.name must be "/a", ${hidden}`);
  });
});
