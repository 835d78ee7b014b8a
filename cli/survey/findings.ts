import type { StoredRecord } from '../../lambda/ledger/record.ts';
import type { Check } from './checks.ts';
import type { Survey } from './count.ts';
import { type DamageLine, damage } from './damage.ts';
import { hints, ownWork } from './hints.ts';
import { type Suggestion, suggest } from './suggestion.ts';

/** Everything that a survey found, and what follows from it: the same for screen, page and JSON. */
export interface Findings {
  survey: Survey;
  checks: readonly Check[];
  /** Indices that may have lost their rows: to be looked at first. */
  damage: DamageLine[];
  hints: string[];
  suggestions: Suggestion[];
  /** Epoch milliseconds. */
  now: number;
}

/** @param records this job's own ledger: what it has truncated is not blamed on anybody else */
export function findingsOf(
  survey: Survey,
  checks: readonly Check[],
  records: readonly StoredRecord[],
  now: number,
): Findings {
  const own = ownWork(records);
  return {
    survey,
    checks,
    damage: damage(survey, now),
    hints: hints(survey, own),
    suggestions: suggest(survey, own, now),
    now,
  };
}
