import { OperationsError } from '../../operations/operations.ts';
import { decide, withHeadroom } from '../../policy/decision.ts';
import { findBite } from '../../truncation/bite.ts';
import { truncateFields } from '../../truncation/counts.ts';
import { decisionFacts } from '../decision-facts.ts';
import { done } from '../entries.ts';
import type { Entry } from '../state.ts';
import { approved, cutoffOf, dryRunFacts, isLate, type PolicyContext, type SearchedEntry } from './context.ts';

/**
 * Further dry runs find tonight's cutoff, once every policy has had its first. From then on it is this run's cutoff.
 */
export async function searchBite(from: SearchedEntry, context: PolicyContext): Promise<Entry> {
  try {
    return (await searched(from, context)) ?? done(from, 'not-started', { kind: 'stopped', by: 'plan-time' });
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    return done(from, 'failed', { kind: 'server', error: error.fact, sent: 'no' });
  }
}

/** @returns undefined if time ran out */
async function searched(from: SearchedEntry, context: PolicyContext): Promise<Entry | undefined> {
  const { state, services, requests, signal } = context;
  const { policy, whole, maxRows } = from;
  const cutoffMillis = cutoffOf(context, policy);
  const ask = async (older: number) => {
    if (signal.aborted || isLate(context)) return undefined;
    return requests.dryRun(truncateFields(policy, older, requests.refusesForceField ?? false));
  };
  const found = await findBite({ cutoffMillis, whole, maxRows, ask });
  if (found.kind === 'no-time') return undefined;
  const rowsPastRetention = whole.rowsToDelete;
  if (found.kind === 'too-large') {
    const { rows: rowsToDelete, cutoffMillis: oldest } = found;
    const more = { rowsToDelete, cutoffMillis: oldest, rowsPastRetention, policyCutoffMillis: cutoffMillis };
    return done(
      from,
      'above-ceiling',
      { kind: 'above-ceiling', approveRows: withHeadroom(rowsToDelete), bite: maxRows },
      more,
    );
  }
  const { cutoffMillis: sent, dryRun: part } = found;
  const entry = {
    ...from.entry,
    ...dryRunFacts(part),
    rowsPastRetention,
    cutoffMillis: sent,
    policyCutoffMillis: cutoffMillis,
  };
  const planned = { index: from.index, entry };
  const facts = decisionFacts(state, { dryRun: part, cutoffMillis: sent, isBite: true }, services);
  const decision = decide(policy, part, facts);
  if (decision.kind === 'done') return done(planned, decision.outcome, decision.cause);
  const { rowsToDelete, deletesInPlace } = part;
  // A copy goes whole, and not without task statuses: the next run decides about it as such.
  if (!deletesInPlace)
    return done(planned, 'not-started', { kind: 'changed', what: 'reindexes', was: false, now: true });
  const rest = Math.max(0, whole.rowsToDelete - rowsToDelete);
  return approved(planned, policy, { rowsToDelete, deletesInPlace, bite: { cutoffMillis: sent, rest } }, state);
}
