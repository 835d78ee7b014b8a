import type * as z from 'zod';
import { fieldOf, type Problem, problemsOf, typeName, valueAt } from '../policy/explain.ts';

/**
 * A value that nobody knows yet: CloudFormation fills it in at deployment, or the CDK has yet to look it up. It is
 * passed on as it is, and nothing checks it. A stage file has none.
 */
export class UnresolvedValue {
  /** As the CDK encodes it. */
  readonly token: unknown;

  constructor(token: unknown) {
    this.token = token;
  }

  /** For sentences about a value that has it as a part. */
  toJSON(): string {
    return 'a token';
  }
}

export const knownValue = <T>(value: T | UnresolvedValue): T | undefined =>
  value instanceof UnresolvedValue ? undefined : value;

/** A text made of another one: it is known if that is. */
export const derivedText = (
  text: string | UnresolvedValue,
  make: (text: string) => string,
): string | UnresolvedValue =>
  text instanceof UnresolvedValue ? new UnresolvedValue(make(String(text.token))) : make(text);

/**
 * What a schema makes of a value, or its problems with what is known of it. A partly unresolved value stays as it is.
 * @param knownKeys for suggestions
 */
export function checkValue<T>(
  schema: z.ZodType<T>,
  value: unknown,
  knownKeys: readonly string[],
): { value?: T; problems: Problem[] } {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return { value: data, problems: [] };
  const issues = error.issues.filter(({ path }) => !(valueAt(value, path) instanceof UnresolvedValue));
  const problems = [...problemsOf({ issues }, value, knownKeys), ...error.issues.flatMap((one) => misfit(value, one))];
  return { ...(problems.length === 0 && { value: value as T }), problems };
}

/** Why a token cannot become what a schema expects: at synth, lists are counted, and true or false decides what is made. */
function misfit(value: unknown, issue: z.core.$ZodIssue): Problem[] {
  const found = valueAt(value, issue.path);
  if (!(found instanceof UnresolvedValue)) return [];
  const wrong = (sentence: string) => [{ path: issue.path, sentence: `${fieldOf(issue.path)} ${sentence}` }];
  const expected = issue.code === 'invalid_type' ? issue.expected : 'string';
  if (expected === 'array') return wrong('is a list whose length synth does not know: give its items');
  if (expected === 'boolean') return wrong('must be true or false at synth, not a token');
  const type = Array.isArray(found.token) ? 'list' : typeof found.token;
  return type === 'object' || type === expected ? [] : wrong(`must be ${typeName(expected)}, not a ${type} token`);
}
