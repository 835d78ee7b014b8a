import { type PolicySource, parsePolicies } from '../../lambda/policy/parse.ts';
import type { RunArguments } from '../command-line/arguments.ts';
import { checkPolicies, readPolicies } from '../files/policies.ts';
import samplePolicies from '../sample-policies.json' with { type: 'json' };
import { localSettings } from './settings.ts';

/** What a local run is about. */
export interface Policies {
  /** As they were read and checked before the first request. */
  first: PolicySource[];
  /** How many this run is about. */
  count: number;
  /** Reads them again. Throws UsageError. */
  again(): PolicySource[];
}

/** A file is read again before each truncation: somebody may have made it stricter meanwhile. */
export function policiesFile(path: string, input: RunArguments): Policies {
  const { minRetentionDays } = localSettings;
  const first = readPolicies(path, minRetentionDays, input.only);
  return { first, count: countOf(first, input), again: () => readPolicies(path, minRetentionDays) };
}

export function samplePolicyList(input: RunArguments): Policies {
  const source = { name: 'the sample policies', text: JSON.stringify(samplePolicies) };
  const first = checkPolicies(source, localSettings.minRetentionDays, input.only);
  return { first, count: countOf(first, input), again: () => first };
}

const countOf = (sources: PolicySource[], { only }: RunArguments): number =>
  only
    ? new Set(only.map((name) => name.toLowerCase())).size
    : parsePolicies(sources, localSettings.minRetentionDays).length;
