import type { IndexNames } from '../gms/backend.ts';
import { dottedName, namesIn, sharingIndex } from '../policy/aspects.ts';
import { maxProblems, type Problem } from '../policy/explain.ts';
import { policySchema } from '../policy/schema.ts';
import { checkValue } from './unresolved.ts';

/** A policy as it is written, for Parameter Store; its names are undefined if they are known only later. */
export interface StagePolicy {
  written: Record<string, unknown>;
  names: IndexNames | undefined;
}

/**
 * Reads a list of policies and reports every problem; paths start at the list.
 * @param minRetentionDays the floor, whole days
 */
export function inspectPolicies(
  list: readonly unknown[],
  minRetentionDays: number,
): { policies: StagePolicy[]; problems: Problem[] } {
  const schema = policySchema(minRetentionDays);
  const fields = Object.keys(schema.shape);
  const names = list.map(namesIn);
  const sharing = sharingIndex(names);
  const problems: Problem[] = [];
  for (const [at, written] of list.entries()) {
    if (problems.length > maxProblems) {
      problems.push({ path: [at], sentence: 'the policies from here on are not checked', problems: list.length - at });
      break;
    }
    const policy = `policy ${at + 1}`;
    // A duplicate is reported even if the policy has another mistake: once that was fixed, it would come up next.
    const [first = at] = sharing[at] ?? [];
    const name = dottedName(names[at] ?? { entityType: '', aspect: '' });
    const same = `${policy} is for the same index as policy ${first + 1} (${name}): keep one of them`;
    if (first < at) problems.push({ path: [at], sentence: same });
    for (const { path, sentence, ...rest } of checkValue(schema, written, fields).problems) {
      problems.push({ ...rest, path: [at, ...path], sentence: `${policy}: ${sentence}` });
    }
  }
  const policies = list.map((written, at) => ({ written: Object(written), names: names[at] }));
  return { policies, problems };
}
