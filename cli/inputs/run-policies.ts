import type { PolicySource } from '../../lambda/policy/parse.ts';
import samplePolicies from '../sample-policies.json' with { type: 'json' };
import { checkOnly, type ReadPolicies, readPolicies } from './policies.ts';

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
  return covering(readPolicies(path), only, path, () => [readPolicies(path).source]);
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
