/** The vocabulary of report, metrics and tests: the result of one policy in one run, and how bad that is. */

export const results = ['ok', 'attention', 'failed'] as const;
export type Result = (typeof results)[number];

export const resultOf = {
  truncated: 'ok',
  'would-truncate': 'ok',
  'below-threshold': 'ok',
  'nothing-to-delete': 'ok',
  disabled: 'ok',
  'above-ceiling': 'attention',
  'in-flight': 'attention',
  quarantined: 'attention',
  'still-running': 'attention',
  incomplete: 'attention',
  emptied: 'attention',
  'not-started': 'attention',
  failed: 'failed',
  unknown: 'failed',
  'rows-missing': 'failed',
} as const satisfies Record<string, Result>;

export type Outcome = keyof typeof resultOf;

export const outcomes = Object.keys(resultOf) as [Outcome, ...Outcome[]];

/**
 * An outcome as this version knows it; one that a later version adds could mean anything, so it counts as `unknown`.
 */
export const knownOutcome = (given: string): Outcome => outcomes.find((outcome) => outcome === given) ?? 'unknown';

/** The worst of several results; `ok` if there are none. */
export function worst(given: readonly Result[]): Result {
  return results.findLast((result) => given.includes(result)) ?? 'ok';
}
