import { OperationsError } from '../../operations/operations.ts';
import { whyNot, withHeadroom } from '../../policy/decision.ts';
import { truncateFields } from '../../truncation/counts.ts';
import { findCutoff } from '../../truncation/row-limit.ts';
import { doneEntry } from '../entries.ts';
import type { Entry } from '../state.ts';
import { approvedEntry, cutoffOf, dryRunFacts, factsFor, type PlanContext, type SearchedEntry } from './policy.ts';

/**
 * More rows are due than one run may delete: further dry runs find tonight's cutoff, once every policy has had its
 * first. From then on it is this run's cutoff.
 */
export async function searchCutoff(from: SearchedEntry, context: PlanContext): Promise<Entry> {
  try {
    return (await search(from, context)) ?? doneEntry(from, 'not-started', { kind: 'stopped', by: 'plan-time' });
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    return doneEntry(from, 'failed', { kind: 'server', error: error.fact, sent: 'no' });
  }
}

/** @returns undefined if time ran out */
async function search(from: SearchedEntry, context: PlanContext): Promise<Entry | undefined> {
  const { state, requests } = context;
  const { policy, whole, maxRows } = from;
  const cutoffMillis = cutoffOf(context, policy);
  const ask = async (older: number) =>
    requests.isLate() ? undefined : requests.dryRun(truncateFields(policy, older, requests.refusesForceField ?? false));
  const found = await findCutoff({ cutoffMillis, whole, maxRows, ask });
  if (found.kind === 'no-time') return undefined;
  const rowsPastRetention = whole.rowsToDelete;
  if (found.kind === 'too-large') {
    const { rows: rowsToDelete, cutoffMillis: oldest } = found;
    return doneEntry(
      from,
      'above-ceiling',
      { kind: 'above-ceiling', approveRows: withHeadroom(rowsToDelete), rowLimit: maxRows },
      { rowsToDelete, cutoffMillis: oldest, rowsPastRetention, policyCutoffMillis: cutoffMillis },
    );
  }
  const { cutoffMillis: sent, dryRun: part } = found;
  const planned = {
    index: from.index,
    entry: {
      ...from.entry,
      ...dryRunFacts(part),
      rowsPastRetention,
      cutoffMillis: sent,
      policyCutoffMillis: cutoffMillis,
    },
  };
  const refusal = whyNot('plan', { ...factsFor(policy, part, context), cutoffMillis: sent, isLimited: true });
  if (refusal) return doneEntry(planned, refusal.outcome, refusal.cause);
  const { rowsToDelete, deletesInPlace } = part;
  // A reindex goes whole, and not without task statuses: the next run decides about it as such.
  if (!deletesInPlace) {
    return doneEntry(planned, 'not-started', { kind: 'changed', what: 'reindex', was: false, now: true });
  }
  const rest = Math.max(0, whole.rowsToDelete - rowsToDelete);
  return approvedEntry(planned, policy, { rowsToDelete, deletesInPlace, limited: { cutoffMillis: sent, rest } }, state);
}
