import type { History } from '../histories/history.ts';
import type { CheckRule } from './events.ts';
import { judgingRules } from './judging.ts';
import { ledgerRules } from './ledger.ts';
import { livenessRules } from './liveness.ts';
import { reportedRules, reportRules } from './reported.ts';
import { sendingRules } from './sending.ts';
import { tellingRules } from './telling.ts';

/** Every rule of the checker, by the name that violations print. */
export const rules: Readonly<Record<string, CheckRule>> = {
  ...sendingRules,
  ...judgingRules,
  ...ledgerRules,
  ...reportedRules,
  ...reportRules,
  ...tellingRules,
  ...livenessRules,
};

/** What a history did wrong: which rule it broke, when, and how. */
export interface Violation {
  rule: string;
  /** Epoch milliseconds. */
  at: number;
  text: string;
}

/** Checks the journal of a history against every rule. */
export function check(history: History): Violation[] {
  return Object.entries(rules).flatMap(([rule, find]) =>
    [...find(history)].map(({ at, text }) => ({ rule, at, text })),
  );
}

export const violationText = ({ rule, at, text }: Violation): string =>
  `${new Date(at).toISOString()} [${rule}] ${text}`;
