import type { PolicyInput } from '../../lambda/policy/schema.ts';
import { grouped, share } from '../screen/text.ts';
import { type Age, nameOf, type Survey, type SurveyedIndex } from './count.ts';
import { isCutAt30Days } from './hints.ts';

/** A policy to begin with, and why it is this one. */
export interface Suggestion {
  policy: PolicyInput;
  reason: string;
}

/** One suggestion for each index that could be counted and may be truncated. */
export const suggest = ({ indices }: Survey): Suggestion[] =>
  indices.flatMap((index) =>
    index.counts.kind === 'counted' && !index.protected ? [suggestOne(index, index.counts)] : [],
  );

/** The default of `minDeletePercent`: a truncation is worth it from this share on. */
const worthwhile = 0.1;

/** The longest first: what is gone is gone. 30 days are never suggested. */
const candidates: readonly Age[] = [365, 180, 90];

function suggestOne(index: SurveyedIndex, counts: SurveyedIndex['counts'] & { kind: 'counted' }): Suggestion {
  const { entityType, aspect } = index;
  const with365 = { entityType, aspect, retentionDays: 365 };
  const name = nameOf(index);
  if (isCutAt30Days(index)) {
    return {
      policy: { ...with365, enabled: false },
      reason: `${name}: switched off, because somebody else cuts it at 30 days already (see above); switch it on when that has stopped.`,
    };
  }
  if (holdsLatestState(aspect)) {
    return {
      policy: with365,
      reason: `${name}: 365 days, because DataHub shows the latest row as the current result: a shorter time takes the only one from what runs rarely.`,
    };
  }
  const age = candidates.find((days) => counts.rowsTotal > 0 && counts.older[days] / counts.rowsTotal >= worthwhile);
  if (age === undefined) {
    return {
      policy: with365,
      reason: `${name}: 365 days, because there is too little older than 90 days to be worth it yet.`,
    };
  }
  const part = `${share(counts.older[age], counts.rowsTotal)} of its rows (${grouped(counts.older[age])}) are older`;
  return {
    policy: { entityType, aspect, retentionDays: age },
    reason:
      age === 365
        ? `${name}: 365 days, because ${part}, and DataHub shows usage of up to a year.`
        : `${name}: ${age} days, because ${part}; at 365 days it would be ${share(counts.older[365], counts.rowsTotal)}.`,
  };
}

/** Profiles and results: the newest row of an entity is what its page shows. */
const holdsLatestState = (aspect: string): boolean => /profile|assertion|runevent|runsummary/i.test(aspect);
