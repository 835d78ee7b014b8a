import { look } from '../facts/limits.ts';
import type { LedgerRecord } from '../ledger/record.ts';
import { hasSent } from '../ledger/transitions.ts';
import { closedByOthers, done, isUnresolved, watched } from '../run/entries.ts';
import type { ApprovedEntry, Entry, RunState } from '../run/state.ts';

/**
 * What became of this run's own attempt on an index, by the ledger alone: a verdict comes first (a step that is tried
 * again reports the same), then an unresolved truncation, which is watched; then one that another run has closed since;
 * otherwise nothing was ever sent.
 * @param now epoch milliseconds of the run's clock
 */
export function resumeOwn(
  target: ApprovedEntry,
  record: LedgerRecord | undefined,
  state: RunState,
  now: number,
): Entry {
  if (record?.lastVerdict?.runId === state.runId) {
    return { index: target.index, phase: 'done', entry: record.lastVerdict.entry };
  }
  if (record && isUnresolved(record) && record.attempt?.runId === state.runId) {
    return watched(target, record.attempt, now, now + look.minSeconds * 1000);
  }
  if (hasSent(record, state.runId)) return done(target, 'in-flight', closedByOthers);
  const reason = state.failure
    ? `the step ended before it sent anything (${state.failure.error}; see the log of the Truncate function); a later run tries again`
    : 'this run has had its one truncate of this index, or was fenced off from it; a later run tries again';
  return done(target, 'failed', reason);
}
