import type { History } from '../histories/history.ts';
import { rules } from './rules.ts';

/** What a history did wrong: which rule it broke, when, and how. */
export interface Violation {
  rule: string;
  /** Epoch milliseconds, real time. */
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
