import { comparedFields } from '../model/policy-fields.ts';
import type { PolicySettings } from './schema.ts';

/** One field that differs; undefined where a policy does not set it. */
export interface FieldDifference {
  field: keyof PolicySettings;
  live?: Value;
  given?: Value;
}

type Value = string | number | boolean | undefined;

/** The fields in which two policies for one index differ, apart from those for people. */
export const differences = (live: PolicySettings, given: PolicySettings): FieldDifference[] =>
  comparedFields.flatMap((field) =>
    live[field] === given[field] ? [] : [{ field, live: live[field], given: given[field] }],
  );

/**
 * Whether a policy may delete what the live one does not: every field that lets more through. The limits count as far as
 * a run takes them: none at all is the highest.
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
