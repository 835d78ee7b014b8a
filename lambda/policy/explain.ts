import type * as z from 'zod';
import { visible } from '../gms/text.ts';
import { nearest } from './nearest.ts';

export interface Problem {
  path: readonly PropertyKey[];
  /** One sentence, without the full stop. */
  sentence: string;
  /** How many problems it sums up, where that is more than one. */
  problems?: number;
}

/**
 * Explains, one sentence per problem, why a schema rejected a value: the field, what it is, what it should be. Takes
 * the rejected value too, because zod's issues do not contain it.
 * @param knownKeys known field names, for suggestions
 */
export function explain(error: z.ZodError, value: unknown, knownKeys: readonly string[]): string {
  return problemsOf(error, value, knownKeys)
    .map(({ sentence }) => sentence)
    .join('; ');
}

/** More than a person corrects before trying again; the others are counted. */
export const maxProblems = 40;

/** The same, each with the path to the offending part of the value. */
export function problemsOf(error: Pick<z.ZodError, 'issues'>, value: unknown, knownKeys: readonly string[]): Problem[] {
  const all = error.issues as z.core.$ZodIssue[];
  const placeOf = ({ path }: z.core.$ZodIssue) => path.join('.');
  const ofType = new Set(all.filter(({ code }) => code === 'invalid_type').map(placeOf));
  // The bounds of a value do not apply while it has the wrong type.
  const issues = all.filter((issue) => issue.code === 'invalid_type' || !ofType.has(placeOf(issue)));
  const problems = issues.slice(0, maxProblems).flatMap((issue): Problem[] => {
    if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, sentence: explainIssue(issue, value) }];
    const keys = issue.keys.slice(0, maxProblems);
    return keys.map((key) => ({ path: [...issue.path, key], sentence: unknownKey(key, knownKeys) }));
  });
  const count = issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
  return count === problems.length ? problems : [...problems, andMore(count - problems.length, problems)];
}

/** What is wrong besides, at the place of the last one that is shown. */
export const andMore = (count: number, shown: readonly Problem[]): Problem => ({
  path: shown.at(-1)?.path ?? [],
  sentence: `and ${count} more`,
  problems: count,
});

function explainIssue(issue: z.core.$ZodIssue, value: unknown): string {
  const field = fieldOf(issue.path);
  const found = valueAt(value, issue.path);
  const given = mayBeSecret(issue.path, found) ? 'what it holds (not shown: it may be a secret)' : jsonExcerpt(found);
  switch (issue.code) {
    case 'invalid_key':
      return `${fieldOf(issue.path.slice(0, -1))}: the key ${jsonExcerpt(issue.path.at(-1))} ${issue.issues[0]?.message}`;
    case 'invalid_type':
      if (given === undefined) return `${field} is missing: it must be ${typeName(issue.expected)}`;
      return `${field || 'it'} must be ${typeName(issue.expected)}, not ${given}`;
    case 'too_small':
      if (issue.origin in countable && issue.minimum === 1) return `${field} must not be empty`;
      if (issue.origin in countable) return `${field} must have at least ${issue.minimum} ${countable[issue.origin]}`;
      return `${field} must be at least ${issue.minimum}${settingIn(issue.message)}, not ${given}`;
    case 'too_big':
      if (issue.origin in countable) return `${field} must have at most ${issue.maximum} ${countable[issue.origin]}`;
      return `${field} must be at most ${issue.maximum}, not ${given}`;
    case 'invalid_value':
      return `${field} must be ${issue.values.map((known) => JSON.stringify(known)).join(' or ')}, not ${given}`;
    case 'invalid_format':
      return `${field} ${issue.message}, not ${given}`;
    default:
      return field && !issue.message.includes(field) ? `${field}: ${issue.message}` : issue.message;
  }
}

export const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);

/** `emails 1`: people count from one. */
export const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((field, key) => {
    if (typeof key === 'number') return `${field} ${key + 1}`;
    return visible(field === '' ? String(key) : `${field}.${String(key)}`);
  }, '');

/** What a bound counts, if it is not the value itself. */
const countable: Record<string, string> = { string: 'characters', array: 'entries' };

/** The setting that a bound comes from, if the schema names one: zod's own messages are sentences. */
const settingIn = (message: string): string => (/^\w+$/.test(message) ? ` (${message})` : '');

export function unknownKey(key: string, knownKeys: readonly string[]): string {
  const meant = nearest(key, [...knownKeys]);
  return `${jsonExcerpt(key)} is not a known field: ${meant ? `did you mean ${meant}?` : `the fields are ${knownKeys.join(', ')}`}`;
}

const typeNames: Record<string, string> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
};
export const typeName = (expected: string): string => typeNames[expected] ?? expected;

/** A token, a header or a key given in place of its parameter's name, or anywhere else. */
const mayBeSecret = (path: readonly PropertyKey[], value: unknown): boolean =>
  typeof value === 'string' &&
  (/^eyJ[\w-]{8}|-----BEGIN/.test(value) || path.some((key) => /^token|Parameter$/i.test(String(key))));

/** The value as JSON, shortened to fit a sentence; undefined if there is none. */
export function jsonExcerpt(value: unknown): string | undefined {
  const json = inJson(value);
  const text = json && visible(json);
  return text && text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** The props of a construct come from a program, and may be what JSON does not have. */
function inJson(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const className: unknown = Array.isArray(value) ? undefined : Object.getPrototypeOf(Object(value))?.constructor?.name;
  if (typeof value === 'object' && typeof className === 'string' && className !== 'Object')
    return `an instance of ${className}`;
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  try {
    return JSON.stringify(value);
  } catch {
    return 'an object of a program';
  }
}
