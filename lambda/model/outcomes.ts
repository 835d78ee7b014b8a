/** The vocabulary of report, metrics and tests: the result of one policy in one run, and how bad that is. */

export const results = ['ok', 'attention', 'failed'] as const;
export type Result = (typeof results)[number];

/** How soon a person should do something, in the runbook's words; the most urgent first. */
export const urgencies = ['act', 'week', 'change', 'nothing'] as const;
export type Urgency = (typeof urgencies)[number];

/** Each outcome, in the order in which people need to hear about them, the worst first, and whether anything was due. */
const table = {
  'rows-missing': { result: 'failed', due: true },
  quarantined: { result: 'attention', due: true },
  unknown: { result: 'failed', due: true },
  failed: { result: 'failed', due: true },
  'above-ceiling': { result: 'attention', due: true },
  incomplete: { result: 'attention', due: true },
  'not-started': { result: 'attention', due: true },
  'still-running': { result: 'attention', due: true },
  truncated: { result: 'ok', due: true },
  'would-truncate': { result: 'ok', due: true },
  'below-threshold': { result: 'ok', due: false },
  'nothing-to-delete': { result: 'ok', due: false },
  disabled: { result: 'ok', due: false },
} as const satisfies Record<string, { result: Result; due: boolean }>;

export type Outcome = keyof typeof table;

/** Outcomes that a person hears of first; each has a section in the runbook. */
export type Problem = { [Each in Outcome]: (typeof table)[Each]['result'] extends 'ok' ? never : Each }[Outcome];

/** Those of a truncation whose deleted rows the metrics count, and the others that can be recorded for one. */
const counted = ['truncated', 'incomplete', 'rows-missing'] as const satisfies Outcome[];
export const verdictOutcomes = [...counted, 'unknown', 'failed', 'not-started'] as const satisfies Outcome[];
export const countedOutcomes: readonly Outcome[] = counted;

export const outcomes = Object.keys(table) as [Outcome, ...Outcome[]];

export const resultOf = Object.fromEntries(outcomes.map((each) => [each, table[each].result])) as Readonly<
  Record<Outcome, Result>
>;

/** Nothing was due, or its policy is switched off. */
export const quietOutcomes: readonly Outcome[] = outcomes.filter((each) => !table[each].due);

export function worst(given: readonly Result[]): Result {
  return results.findLast((result) => given.includes(result)) ?? 'ok';
}
