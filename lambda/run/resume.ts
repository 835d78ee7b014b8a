import { look } from '../facts/limits.ts';
import { capped } from '../facts/text.ts';
import { isUnresolved } from '../ledger/record.ts';
import type { Standing } from '../ledger/standing.ts';
import { done, watched } from './entries.ts';
import type { ApprovedEntry, Entry, RunState } from './state.ts';

/**
 * The state of this run's own attempt on an index, from the ledger alone: first a verdict (a retried step reports the
 * same one), then an unresolved truncation, which is watched, then one that another run has since closed; otherwise
 * nothing was ever sent.
 * @param now epoch milliseconds of the run's clock
 */
export function resumeOwn(
  target: ApprovedEntry,
  stands: Extract<Standing, { kind: 'decided' | 'spent' | 'mine' }>,
  state: RunState,
  now: number,
): Entry {
  if (stands.kind === 'decided') return { index: target.index, phase: 'done', entry: stands.verdict.entry };
  if (stands.kind === 'mine' && isUnresolved(stands.record)) {
    return watched(target, stands.record, now, now + look.minSeconds * 1000);
  }
  if (stands.kind === 'spent' && !stands.fenced) return done(target, 'in-flight', { kind: 'held', state: 'closed' });
  const { failure } = state;
  if (!failure) return done(target, 'failed', { kind: 'stopped', by: 'spent' });
  return done(target, 'failed', { kind: 'step-failed', step: 'truncate', error: capped(failure.error), sent: 'no' });
}
