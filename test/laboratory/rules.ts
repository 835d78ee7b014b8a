import type { History } from './history.ts';
import { reportRules } from './rules-reports.ts';
import { rowRules } from './rules-rows.ts';
import { sendingRules } from './rules-sending.ts';
import { unresolvedRules } from './rules-unresolved.ts';

/** One rule: yields what breaks it. */
export type CheckRule = (history: History) => Iterable<{ at: number; text: string }>;

/** Every rule of the checker, by the name under which violations are printed. */
export const rules = { ...sendingRules, ...unresolvedRules, ...rowRules, ...reportRules } satisfies Record<
  string,
  CheckRule
>;
