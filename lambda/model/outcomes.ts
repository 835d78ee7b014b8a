/** The vocabulary of report, metrics and tests: the result of one policy in one run, and how bad that is. */

export const results = ['ok', 'attention', 'failed'] as const;
export type Result = (typeof results)[number];

/** How soon a person should do something, in the runbook's words; the most urgent first. */
export const urgencies = ['act', 'week', 'change', 'nothing'] as const;
export type Urgency = (typeof urgencies)[number];

/** Each outcome, the worst first, as people need to hear about them; `in vain`: the run could do nothing that was due. */
const table = {
  'rows-missing': { result: 'failed', due: 'yes' },
  quarantined: { result: 'attention', due: 'yes' },
  unknown: { result: 'failed', due: 'in vain' },
  failed: { result: 'failed', due: 'in vain' },
  'above-ceiling': { result: 'attention', due: 'yes' },
  incomplete: { result: 'attention', due: 'yes' },
  'not-started': { result: 'attention', due: 'in vain' },
  'still-running': { result: 'attention', due: 'yes' },
  truncated: { result: 'ok', due: 'yes' },
  'would-truncate': { result: 'ok', due: 'yes' },
  'below-threshold': { result: 'ok', due: 'no' },
  'nothing-to-delete': { result: 'ok', due: 'no' },
  disabled: { result: 'ok', due: 'no' },
} as const satisfies Record<string, { result: Result; due: 'yes' | 'no' | 'in vain' }>;

export type Outcome = keyof typeof table;

/** Outcomes that a person hears of first; each has a section in the runbook. */
export type Problem = { [Each in Outcome]: (typeof table)[Each]['result'] extends 'ok' ? never : Each }[Outcome];

/** Those of a truncation whose deleted rows the metrics count, and the others that can be recorded for one. */
const counted = ['truncated', 'incomplete', 'rows-missing'] as const satisfies Outcome[];
export const verdictOutcomes = [...counted, 'unknown', 'failed', 'not-started'] as const satisfies Outcome[];
export const countedOutcomes: readonly Outcome[] = counted;

export const outcomes = Object.keys(table) as [Outcome, ...Outcome[]];

const columnOf = <Column extends 'result' | 'due'>(column: Column) =>
  Object.fromEntries(outcomes.map((each) => [each, table[each][column]])) as Readonly<
    Record<Outcome, (typeof table)[Outcome][Column]>
  >;
export const resultOf = columnOf('result');
export const dueOf = columnOf('due');

export function worst(given: readonly Result[]): Result {
  return results.findLast((result) => given.includes(result)) ?? 'ok';
}
