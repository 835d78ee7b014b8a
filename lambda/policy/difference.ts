import { type ComparedField, comparedFields } from '../model/policy-fields.ts';
import type { PolicySettings } from './schema.ts';

/** The fields in which two policies for one index differ, apart from those for people; undefined where it is not set. */
export const differences = (before: PolicySettings, after: PolicySettings) =>
  comparedFields.flatMap((field) =>
    before[field] === after[field] ? [] : [{ field, before: before[field], after: after[field] }],
  );

type Compare = (live: PolicySettings, given: PolicySettings) => boolean;

const orUnlimited = (limit: number | undefined) => limit ?? Number.POSITIVE_INFINITY;
/** Without a ceiling, only a truncation of every row is blocked: that lets more through than any ceiling below 100 %. */
const ceiling = ({ maxDeletePercent = 100 - 1e-13 }: PolicySettings) => maxDeletePercent;
const decidesNothing: Compare = () => false;

/** Of each field, whether its change lets more through. The limits count as far as a run takes them: none is the highest. */
const comparisons: Record<Exclude<ComparedField, 'entityType' | 'aspect' | 'enabled'>, Compare> = {
  retentionDays: (live, given) => given.retentionDays < live.retentionDays,
  minDeletePercent: (live, given) => given.minDeletePercent < live.minDeletePercent,
  maxDeletePercent: (live, given) => ceiling(given) > ceiling(live),
  maxMissingPercent: (live, given) => given.maxMissingPercent > live.maxMissingPercent,
  refuseReindex: (live, given) => live.refuseReindex && !given.refuseReindex,
  batchSize: decidesNothing,
  timeoutSeconds: decidesNothing,
  maxRowsPerRun: (live, given) => orUnlimited(given.maxRowsPerRun) > orUnlimited(live.maxRowsPerRun),
};

/** Whether a policy may delete what the live one does not. */
export function letsMoreThrough(live: PolicySettings | undefined, given: PolicySettings): boolean {
  if (!given.enabled) return false;
  if (live === undefined || !live.enabled) return true;
  return Object.values(comparisons).some((compare) => compare(live, given));
}
