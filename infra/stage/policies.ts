import { dottedName, namesIn, searchIndex } from '../../lambda/policy/aspects.ts';
import { type Problem, problemsOf } from '../../lambda/policy/explain.ts';
import { type Policy, policySchema } from '../../lambda/policy/schema.ts';

/** A policy from a file: as written, for Parameter Store, and as parsed. */
export interface StagePolicy {
  written: Record<string, unknown>;
  policy: Policy;
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
  const seen = new Map<string, number>();
  const problems: Problem[] = [];
  const policies = list.flatMap((written, position): StagePolicy[] => {
    const refuse = (path: readonly PropertyKey[], problem: string) =>
      problems.push({ path: [position, ...path], sentence: `policy ${position + 1}${problem}` });
    const names = namesIn(written);
    const key = names && searchIndex(names);
    const earlier = key === undefined ? undefined : seen.get(key);
    if (names && key !== undefined) {
      // A duplicate is reported even if the policy has another mistake: once that was fixed, it would come up next.
      if (earlier === undefined) seen.set(key, position);
      else refuse([], ` is for the same index as policy ${earlier + 1} (${dottedName(names)}): keep one of them`);
    }
    const parsed = schema.safeParse(written);
    if (!parsed.success) {
      for (const { path, sentence } of problemsOf(parsed.error, written, Object.keys(schema.shape)))
        refuse(path, `: ${sentence}`);
      return [];
    }
    return [{ written: written as Record<string, unknown>, policy: parsed.data }];
  });
  return { policies, problems };
}
