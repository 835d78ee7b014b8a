import { statSync } from 'node:fs';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import type { PolicySource } from '../../lambda/policy/parse.ts';
import samplePolicies from '../embedded-service/sample-policies.json' with { type: 'json' };
import { UsageError } from '../events/mistakes.ts';
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
  return { source: { name: path, list }, names: policies.map(dottedName), warnings };
}

/**
 * @param indices names that must be among the policies
 * @throws UsageError
 */
function checkIndices(indices: readonly string[], known: readonly string[], from: string): void {
  for (const name of indices) {
    if (known.some((one) => one.toLowerCase() === name.toLowerCase())) continue;
    const meant = nearest(name, known);
    const hint = meant ? `did you mean ${meant}?` : `it has ${known.join(', ')}.`;
    throw new UsageError(`${name}: ${from} has no policy for it; ${hint}`);
  }
}

/** The policies of a local run. */
export interface Policies {
  /** Their names. */
  names: string[];
  /** How many of them this run covers. */
  count: number;
  /** A line for each doubt about them. */
  warnings: string[];
  /** What was checked before the first request, the first time; then what is there now. Throws UsageError. */
  read(): PolicySource[];
}

type Indices = readonly string[] | undefined;

/**
 * A file is reread before each truncation: someone may have made it stricter in the meantime.
 * @throws UsageError
 */
export function policiesFile(path: string, indices: Indices): Policies {
  const checked = readPolicies(path);
  // A pipe can be read once.
  const isFile = statSync(path).isFile();
  let isFirst = true;
  return covering(checked, indices, path, () => {
    const { source } = isFirst || !isFile ? checked : readPolicies(path);
    isFirst = false;
    return [source];
  });
}

/** @throws UsageError */
export function samplePolicyList(indices: Indices): Policies {
  const source = { name: 'the sample policies', list: samplePolicies };
  const names = samplePolicies.map(({ entityType, aspect }) => `${entityType}.${aspect}`);
  return covering({ source, names, warnings: [] }, indices, source.name, () => [source]);
}

/** For a release, which needs no policy. */
export const noPolicies: Policies = { names: [], count: 0, warnings: [], read: () => [] };

function covering({ names, warnings }: ReadPolicies, indices: Indices, from: string, read: Policies['read']) {
  if (indices) checkIndices(indices, names, from);
  const count = indices ? new Set(indices.map((name) => name.toLowerCase())).size : names.length;
  return { names, count, warnings, read };
}
