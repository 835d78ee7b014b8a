import { maxPolicies } from '../../lambda/facts/limits.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import { type PolicySource, parsePolicies } from '../../lambda/policy/parse.ts';
import { placed, readJson } from '../../lambda/policy/read-json.ts';
import { UsageError } from '../command-line/usage-error.ts';
import { policyListIn } from './policy-list.ts';
import { readText } from './read-text.ts';

/**
 * A policies file is accepted completely or not at all (only in Parameter Store does a single policy fail alone).
 * @param only names that must be among the policies
 * @throws UsageError
 */
export function readPolicies(path: string, minRetentionDays: number, only: readonly string[] = []): PolicySource[] {
  const read = readJson(readText(path, '--policies'), { comments: true });
  if (read.kind === 'wrong') throw new UsageError(`--policies: ${path} ${placed(read)}.`);
  const found = policyListIn(read.value);
  if (found.kind === 'wrong') throw new UsageError(`--policies: ${path} ${found.problem}.`);
  return checkPolicies({ name: path, text: JSON.stringify(found.list) }, minRetentionDays, only);
}

/** The same for a text that holds a list of policies; `name` replaces the file name. */
export function checkPolicies(
  source: PolicySource,
  minRetentionDays: number,
  only: readonly string[] = [],
): PolicySource[] {
  const { name: path } = source;
  const parsed = parsePolicies([source], minRetentionDays);
  const problems = parsed.flatMap((policy) => (policy.kind === 'invalid' ? [policy.problem] : []));
  if (problems.length > 0) throw new UsageError(`--policies: ${[...new Set(problems)].join('\n')}`);
  if (parsed.length > maxPolicies) {
    throw new UsageError(`--policies: ${path} holds ${parsed.length} policies; a run takes at most ${maxPolicies}.`);
  }
  const known = parsed.flatMap((item) => (item.kind === 'policy' ? [dottedName(item.policy)] : []));
  for (const name of only) {
    if (known.some((one) => one.toLowerCase() === name.toLowerCase())) continue;
    const meant = nearest(name, known);
    throw new UsageError(
      `--only ${name}: ${path} has no policy for it; ${meant ? `did you mean ${meant}?` : `it has ${known.join(', ')}.`}`,
    );
  }
  return [source];
}
