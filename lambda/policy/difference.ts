import { type ComparedField, comparedFields } from '../model/policy-fields.ts';
import type { PolicySettings } from './schema.ts';

/** One field that differs; undefined where a policy does not set it. */
interface FieldDifference {
  field: ComparedField;
  before?: Value;
  after?: Value;
}

type Value = string | number | boolean | undefined;

/** The fields in which two policies for one index differ, apart from those for people. */
export const differences = (before: PolicySettings, after: PolicySettings): FieldDifference[] =>
  comparedFields.flatMap((field) =>
    before[field] === after[field] ? [] : [{ field, before: before[field], after: after[field] }],
  );

/**
 * Whether a policy may delete what the live one does not: whether any field lets more through. No limit at all is the
 * highest one.
 */
export function letsMoreThrough(live: PolicySettings | undefined, given: PolicySettings): boolean {
  if (!given.enabled) return false;
  if (live === undefined || !live.enabled) return true;
  const highest = (limit: number | undefined) => limit ?? Number.POSITIVE_INFINITY;
  // Without a ceiling, only a truncation that leaves no row is blocked.
  const ceiling = ({ maxDeletePercent = 99.99 }: PolicySettings) => maxDeletePercent;
  return (
    given.retentionDays < live.retentionDays ||
    given.minDeletePercent < live.minDeletePercent ||
    ceiling(given) > ceiling(live) ||
    highest(given.maxRowsPerRun) > highest(live.maxRowsPerRun) ||
    given.maxMissingPercent > live.maxMissingPercent ||
    (live.refuseReindex && !given.refuseReindex)
  );
}
