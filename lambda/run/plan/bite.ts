import { deadlineMarginMillis } from '../../facts/limits.ts';
import { type DryRun, OperationsError } from '../../operations/operations.ts';
import { type DecisionFacts, decide, withHeadroom } from '../../policy/decision.ts';
import type { Policy } from '../../policy/schema.ts';
import { findBite } from '../../truncation/bite.ts';
import { truncateFields } from '../../truncation/fields.ts';
import { done } from '../entries.ts';
import type { Entry } from '../state.ts';
import { approved, type Counted, countsOf, type Planning, type PolicyContext } from './context.ts';

interface Search {
  counted: Counted;
  policy: Policy;
  /** With the policy's own cutoff: threshold and ceiling have been judged by it. */
  whole: DryRun;
  facts: DecisionFacts;
  /** The most rows to delete in this run. */
  bite: number;
}

/**
 * Where more rows are due than one run may delete, further dry runs find tonight's cutoff, once every policy has had
 * its first. From then on it is this run's cutoff.
 */
export function searchBite(wanted: Search, context: PolicyContext): Planning {
  const { counted } = wanted;
  const tooSlow = done(counted, 'not-started', { kind: 'stopped', by: 'plan-time' });
  const search = async (): Promise<Entry> => {
    try {
      return (await searched(wanted, context)) ?? tooSlow;
    } catch (error) {
      if (!(error instanceof OperationsError)) throw error;
      return done(counted, 'failed', { kind: 'server', error: error.fact, sent: 'no' });
    }
  };
  return { entry: tooSlow, search };
}

/** @returns undefined if time ran out */
async function searched(
  { counted, policy, whole, facts, bite }: Search,
  { state, services, asking, signal }: PolicyContext,
): Promise<Entry | undefined> {
  const { clock, deadline } = services;
  const { cutoffMillis } = facts;
  const ask = async (older: number) => {
    if (signal.aborted || clock.now() >= deadline() - deadlineMarginMillis) return undefined;
    return asking.dryRun(truncateFields(policy, older, asking.refusesForceField ?? false));
  };
  const found = await findBite({ cutoffMillis, whole, bite, ask });
  if (found.kind === 'no-time') return undefined;
  const rowsPastRetention = whole.rowsToDelete;
  if (found.kind === 'too-large') {
    const { rows: rowsToDelete, cutoffMillis: oldest } = found;
    const more = { rowsToDelete, cutoffMillis: oldest, rowsPastRetention, policyCutoffMillis: cutoffMillis };
    return done(
      counted,
      'above-ceiling',
      { kind: 'above-ceiling', approveRows: withHeadroom(rowsToDelete), bite },
      more,
    );
  }
  const { cutoffMillis: sent, dryRun: part } = found;
  const entry = {
    ...counted.entry,
    ...countsOf(part),
    rowsPastRetention,
    cutoffMillis: sent,
    policyCutoffMillis: cutoffMillis,
  };
  const planned = { index: counted.index, entry };
  const decision = decide(policy, part, {
    ...facts,
    cutoffMillis: sent,
    nowMillis: clock.now(),
    clockSkewMillis: part.clockSkewMillis,
    deletesInPlace: part.deletesInPlace,
    judgesShare: false,
  });
  if (decision.kind === 'done') return done(planned, decision.outcome, decision.cause);
  const { rowsToDelete, deletesInPlace } = part;
  const rest = Math.max(0, whole.rowsToDelete - rowsToDelete);
  return approved(planned, policy, { rowsToDelete, deletesInPlace, bite: { cutoffMillis: sent, rest } }, state);
}
