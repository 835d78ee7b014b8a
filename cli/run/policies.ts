import { nameDoubt } from '../../infra/stage/doubts.ts';
import { type PolicySource, parsePolicies } from '../../lambda/policy/parse.ts';
import type { RunArguments } from '../command-line/arguments.ts';
import { checkPolicies, readPolicies } from '../files/policies.ts';
import samplePolicies from '../sample-policies.json' with { type: 'json' };
import { localSettings } from './settings.ts';

/** The policies of a local run. */
export interface Policies {
  /** As read and checked before the first request. */
  first: PolicySource[];
  /** How many of them this run covers. */
  count: number;
  /** A sentence for each index name that is probably mistyped. */
  doubts: string[];
  /** Reads them again. Throws UsageError. */
  again(): PolicySource[];
}

/** A file is reread before each truncation: someone may have made it stricter in the meantime. */
export function policiesFile(path: string, input: RunArguments): Policies {
  const { minRetentionDays } = localSettings;
  const first = readPolicies(path, minRetentionDays, input.only);
  return {
    first,
    count: countOf(first, input),
    doubts: doubtsAbout(first),
    again: () => readPolicies(path, minRetentionDays),
  };
}

export function samplePolicyList(input: RunArguments): Policies {
  const source = { name: 'the sample policies', text: JSON.stringify(samplePolicies) };
  const first = checkPolicies(source, localSettings.minRetentionDays, input.only);
  return { first, count: countOf(first, input), doubts: [], again: () => first };
}

/** For clearing an index, which needs no policy. */
export const noPolicies: Policies = { first: [], count: 0, doubts: [], again: () => [] };

const doubtsAbout = (sources: PolicySource[]): string[] =>
  parsePolicies(sources, localSettings.minRetentionDays).flatMap((one) => {
    const doubt = one.kind === 'policy' ? nameDoubt(one.policy) : undefined;
    return doubt === undefined ? [] : [`${doubt}.`];
  });

const countOf = (sources: PolicySource[], { only }: RunArguments): number =>
  only
    ? new Set(only.map((name) => name.toLowerCase())).size
    : parsePolicies(sources, localSettings.minRetentionDays).length;
