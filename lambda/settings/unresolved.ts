import type * as z from 'zod';
import { type Problem, problemsOf, valueAt } from '../policy/explain.ts';

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
  return { ...(issues.length === 0 && { value: value as T }), problems: problemsOf({ issues }, value, knownKeys) };
}
