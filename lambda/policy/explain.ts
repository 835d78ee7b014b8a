import type * as z from 'zod';
import { nearest } from './nearest.ts';

/**
 * Says in one sentence per problem what is wrong with a value that a schema refused: the field, what it is, what it
 * should be. Takes the refused value, too, because zod's issues do not hold it.
 * @param knownKeys the field names that an unknown one is compared with
 */
export function explain(error: z.ZodError, value: unknown, knownKeys: readonly string[]): string {
  return error.issues.map((issue) => explainIssue(issue as z.core.$ZodIssue, value, knownKeys)).join('; ');
}

function explainIssue(issue: z.core.$ZodIssue, value: unknown, knownKeys: readonly string[]): string {
  const field = fieldOf(issue.path);
  const given = shown(
    issue.path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value),
  );
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(key, knownKeys)).join('; ');
    case 'invalid_type':
      if (given === undefined) return `${field} is missing: it must be ${kind(issue.expected)}`;
      return `${field || 'it'} must be ${kind(issue.expected)}, not ${given}`;
    case 'too_small':
      return `${field} must be at least ${issue.minimum}${asideOf(issue.message)}, not ${given}`;
    case 'too_big':
      return `${field} must be at most ${issue.maximum}, not ${given}`;
    case 'invalid_value':
      return `${field} must be ${issue.values.map((known) => JSON.stringify(known)).join(' or ')}, not ${given}`;
    case 'invalid_format':
      return `${field} ${issue.message}, not ${given}`;
    default:
      return field && !issue.message.includes(field) ? `${field}: ${issue.message}` : issue.message;
  }
}

/** `emails 1`: people count from one. */
const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((field, key) => {
    if (typeof key === 'number') return `${field} ${key + 1}`;
    return field === '' ? String(key) : `${field}.${String(key)}`;
  }, '');

/** What a schema says of a bound beside its number, such as the setting that it comes from. */
const asideOf = (message: string): string => (message.startsWith('Too small') ? '' : ` (${message})`);

function unknownKey(key: string, knownKeys: readonly string[]): string {
  const meant = nearest(key, [...knownKeys]);
  return `${shown(key)} is not a known field: ${meant ? `did you mean ${meant}?` : `the fields are ${knownKeys.join(', ')}`}`;
}

const kinds: Record<string, string> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
};
const kind = (expected: string): string => kinds[expected] ?? expected;

/** The value as JSON, cut to what fits a sentence; undefined where there is none. */
function shown(value: unknown): string | undefined {
  const text = JSON.stringify(value);
  return text !== undefined && text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
