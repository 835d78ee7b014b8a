/** The vocabulary of report, metrics and tests: the result of one policy in one run, and how bad that is. */

export const results = ['ok', 'attention', 'failed'] as const;
export type Result = (typeof results)[number];

/** How soon a person should do something, in the runbook's words (`wording/outcome-words.ts`); the most urgent first. */
export const urgencies = ['act', 'week', 'change', 'nothing'] as const;
export type Urgency = (typeof urgencies)[number];

/**
 * Everything about an outcome, in the order in which people need to hear about them, the worst first. `urgency`
 * applies to causes that need action; a cause that passes by itself is never urgent. `shared`: a cause that affects many
 * policies (a gateway, a pause) is reported once; otherwise the next step names a task or rows.
 */
const facts = {
  'rows-missing': { result: 'failed', urgency: 'act' },
  emptied: { result: 'attention', urgency: 'act' },
  quarantined: { result: 'attention', urgency: 'week' },
  unknown: { result: 'failed', urgency: 'week' },
  failed: { result: 'failed', urgency: 'week', shared: true },
  'above-ceiling': { result: 'attention', urgency: 'week' },
  incomplete: { result: 'attention', urgency: 'week' },
  'not-started': { result: 'attention', urgency: 'change', shared: true },
  'in-flight': { result: 'attention', urgency: 'week', shared: true },
  'still-running': { result: 'attention', urgency: 'week' },
  truncated: { result: 'ok', urgency: 'change' },
  'would-truncate': { result: 'ok', urgency: 'nothing' },
  'below-threshold': { result: 'ok', urgency: 'nothing' },
  'nothing-to-delete': { result: 'ok', urgency: 'nothing' },
  disabled: { result: 'ok', urgency: 'nothing' },
} as const satisfies Record<string, { result: Result; urgency: Urgency; shared?: true }>;

export type Outcome = keyof typeof facts;

export const outcomes = Object.keys(facts) as [Outcome, ...Outcome[]];

const each = <Value>(of: (outcome: Outcome) => Value) =>
  Object.fromEntries(outcomes.map((outcome) => [outcome, of(outcome)])) as Record<Outcome, Value>;

export const resultOf: Readonly<Record<Outcome, Result>> = each((outcome) => facts[outcome].result);
export const urgencyOfOutcome: Readonly<Record<Outcome, Urgency>> = each((outcome) => facts[outcome].urgency);
/** Whether rows were deleted, or would be. */
export const deletesRows = (outcome: Outcome): boolean => outcome === 'truncated' || outcome === 'would-truncate';
export const isShared = (outcome: Outcome): boolean => 'shared' in facts[outcome];

/**
 * An outcome that this version knows; one added by a later version could mean anything, so it counts as `unknown`.
 */
export const knownOutcome = (given: string): Outcome => outcomes.find((outcome) => outcome === given) ?? 'unknown';

/** The worst of several results; `ok` if there are none. */
export function worst(given: readonly Result[]): Result {
  return results.findLast((result) => given.includes(result)) ?? 'ok';
}
