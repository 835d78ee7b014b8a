import type { Cause } from '../../facts/cause.ts';
import { isShared, type Outcome, outcomes, type Result, resultOf } from '../../facts/outcomes.ts';
import type { PolicyEntry, Report } from '../../facts/report-schema.ts';

const rank = (entry: PolicyEntry): number => outcomes.indexOf(entry.outcome);

/** The worst first, otherwise in the order of the run. */
export const byUrgency = (entries: readonly PolicyEntry[]): PolicyEntry[] =>
  [...entries].sort((a, b) => rank(a) - rank(b));

export const withResult = (report: Report, ...wanted: Result[]): PolicyEntry[] =>
  byUrgency(report.policies.filter(({ outcome }) => wanted.includes(resultOf[outcome])));

/** Entries whose only cause is the run's own error: they are reported with it and are not separate problems. */
export function withError({ cause, policies }: Report): PolicyEntry[] {
  if (cause === undefined) return [];
  const isDeployed = cause.kind === 'foreign';
  return policies.filter(({ outcome, cause: own }) => {
    if (outcome !== 'failed' && outcome !== 'not-started') return false;
    return own.kind === 'run-error' || (isDeployed && own.kind === 'foreign');
  });
}

/** Policies that one paragraph can cover together. */
export interface Group {
  outcome: Outcome;
  entries: [PolicyEntry, ...PolicyEntry[]];
}

export function problemGroups(report: Report): Group[] {
  const toldWithError = new Set(withError(report));
  const groups = new Map<string, Group>();
  withResult(report, 'attention', 'failed').forEach((entry, position) => {
    if (toldWithError.has(entry)) return;
    const key = isShared(entry.outcome) ? `${entry.outcome} ${shownOf(entry.cause)}` : `${position}`;
    const group = groups.get(key);
    if (group) group.entries.push(entry);
    else groups.set(key, { outcome: entry.outcome, entries: [entry] });
  });
  return [...groups.values()];
}

/**
 * Two causes are the same if everything shown of them is. The server's words for a missing index contain its name, and
 * are not shown.
 */
function shownOf(cause: Cause): string {
  if (!('error' in cause) || typeof cause.error !== 'object' || cause.error.kind !== 'no-index')
    return JSON.stringify(cause);
  const { text: _, ...error } = cause.error;
  return JSON.stringify({ ...cause, error });
}

/** How many policies had each outcome, the worst first. */
export function countByOutcome(entries: readonly PolicyEntry[]): Array<[Outcome, number]> {
  return outcomes
    .map((outcome): [Outcome, number] => [outcome, entries.filter((entry) => entry.outcome === outcome).length])
    .filter(([, count]) => count > 0);
}
