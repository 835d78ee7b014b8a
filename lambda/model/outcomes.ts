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

/**
 * The outcomes that can be recorded for a truncation, and whether the metrics count its deleted rows. Those of a
 * truncation that still runs are counted by the run that sees its end.
 */
const verdicts = {
  truncated: 'counted',
  incomplete: 'counted',
  'rows-missing': 'counted',
  unknown: 'not counted',
  failed: 'not counted',
  'not-started': 'not counted',
} as const satisfies Partial<Record<Outcome, 'counted' | 'not counted'>>;

export type VerdictOutcome = keyof typeof verdicts;

export const verdictOutcomes = Object.keys(verdicts) as [VerdictOutcome, ...VerdictOutcome[]];

export const countedOutcomes: readonly Outcome[] = verdictOutcomes.filter((one) => verdicts[one] === 'counted');

export const outcomes = Object.keys(resultByOutcome) as [Outcome, ...Outcome[]];

export const resultOf: Readonly<Record<Outcome, Result>> = resultByOutcome;

/** The worst of several results; `ok` if there are none. */
export function worst(given: readonly Result[]): Result {
  return results.findLast((result) => given.includes(result)) ?? 'ok';
}
