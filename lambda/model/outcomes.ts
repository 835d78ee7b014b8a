/** The vocabulary of report, metrics and tests: the result of one policy in one run, and how bad that is. */

export const results = ['ok', 'attention', 'failed'] as const;
export type Result = (typeof results)[number];

/** How soon a person should do something, in the runbook's words; the most urgent first. */
export const urgencies = ['act', 'week', 'change', 'nothing'] as const;
export type Urgency = (typeof urgencies)[number];

/** The result of each outcome, in the order in which people need to hear about them, the worst first. */
const resultByOutcome = {
  'rows-missing': 'failed',
  quarantined: 'attention',
  unknown: 'failed',
  failed: 'failed',
  'above-ceiling': 'attention',
  incomplete: 'attention',
  'not-started': 'attention',
  'still-running': 'attention',
  truncated: 'ok',
  'would-truncate': 'ok',
  'below-threshold': 'ok',
  'nothing-to-delete': 'ok',
  disabled: 'ok',
} as const satisfies Record<string, Result>;

export type Outcome = keyof typeof resultByOutcome;

/** Outcomes that a person hears of first; each has a section in the runbook. */
export type Problem = { [Each in Outcome]: (typeof resultByOutcome)[Each] extends 'ok' ? never : Each }[Outcome];

/** Those of a truncation whose deleted rows the metrics count, and the others that can be recorded for one. */
const counted = ['truncated', 'incomplete', 'rows-missing'] as const satisfies Outcome[];
export const verdictOutcomes = [...counted, 'unknown', 'failed', 'not-started'] as const satisfies Outcome[];
export const countedOutcomes: readonly Outcome[] = counted;

/** Nothing was due, or its policy is switched off. */
export const quietOutcomes: readonly Outcome[] = ['below-threshold', 'nothing-to-delete', 'disabled'];

export const outcomes = Object.keys(resultByOutcome) as [Outcome, ...Outcome[]];

export const resultOf: Readonly<Record<Outcome, Result>> = resultByOutcome;

export function worst(given: readonly Result[]): Result {
  return results.findLast((result) => given.includes(result)) ?? 'ok';
}
