import { statSync } from 'node:fs';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import type { PolicySource } from '../../lambda/policy/parse.ts';
import samplePolicies from '../operations-service/sample-policies.json' with { type: 'json' };
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

/** The policies of a local run. */
export interface Policies {
  /** As read and checked before the first request. */
  first: PolicySource[];
  /** Their names. */
  names: string[];
  /** How many of them this run covers. */
  count: number;
  /** A line for each doubt about them. */
  warnings: string[];
  /** Reads them again. Throws UsageError. */
  again(): PolicySource[];
}

type Only = readonly string[] | undefined;

/**
 * A file is reread before each truncation: someone may have made it stricter in the meantime.
 * @throws UsageError
 */
export function policiesFile(path: string, only: Only): Policies {
  const first = readPolicies(path);
  // A pipe can be read once.
  const isFile = statSync(path).isFile();
  return covering(first, only, path, () => [isFile ? readPolicies(path).source : first.source]);
}

/** @throws UsageError */
export function samplePolicyList(only: Only): Policies {
  const source = { name: 'the sample policies', text: JSON.stringify(samplePolicies) };
  const names = samplePolicies.map(({ entityType, aspect }) => `${entityType}.${aspect}`);
  return covering({ source, names, warnings: [] }, only, source.name, () => [source]);
}

/** For a release, which needs no policy. */
export const noPolicies: Policies = { first: [], names: [], count: 0, warnings: [], again: () => [] };

function covering({ source, names, warnings }: ReadPolicies, only: Only, from: string, again: Policies['again']) {
  if (only) checkOnly(only, names, from);
  const count = only ? new Set(only.map((name) => name.toLowerCase())).size : names.length;
  return { first: [source], names, count, warnings, again };
}
