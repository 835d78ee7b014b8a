import { dottedName } from '../../lambda/policy/aspects.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import type { PolicySource } from '../../lambda/policy/parse.ts';
import { UsageError } from '../telling/mistakes.ts';
import { inspectFile, inspectList } from './inspect.ts';

/** A policies file that a run can use. */
export interface ReadPolicies {
  source: PolicySource;
  /** The names of its indices. */
  names: string[];
  /** A line for each doubt. */
  warnings: string[];
}

/**
 * A policies file is accepted completely or not at all (only in Parameter Store does a single policy fail alone). It
 * says the same as `validate`, with the same lines.
 * @throws UsageError
 */
export function readPolicies(path: string): ReadPolicies {
  const { mistakes, warnings, found } = inspectFile(path, '--policies', inspectList);
  if (found === undefined || mistakes.length > 0) throw new UsageError([...mistakes, ...warnings].join('\n'));
  const { list, policies } = found;
  return { source: { name: path, text: JSON.stringify(list) }, names: policies.map(dottedName), warnings };
}

/**
 * @param only names that must be among the policies
 * @throws UsageError
 */
export function checkOnly(only: readonly string[], known: readonly string[], from: string): void {
  for (const name of only) {
    if (known.some((one) => one.toLowerCase() === name.toLowerCase())) continue;
    const meant = nearest(name, known);
    const hint = meant ? `did you mean ${meant}?` : `it has ${known.join(', ')}.`;
    throw new UsageError(`--only ${name}: ${from} has no policy for it; ${hint}`);
  }
}
