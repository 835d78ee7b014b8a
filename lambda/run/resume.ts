import { look } from '../facts/limits.ts';
import { capped } from '../facts/text.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { standing } from '../ledger/standing.ts';
import { isSameRun, spend } from '../ledger/transitions.ts';
import { askingOf, decided, done, foreignEntry, held, keyOf, quarantinedCause, watched } from './entries.ts';
import type { ApprovedEntry, Entry, RunState } from './state.ts';

/**
 * What became of a Truncate that ended without returning a state, from the ledger alone. Unless it has sent, its run is
 * written down as one that has: a function of it that thaws later can no longer send (design rule 5).
 * @throws Error if other runs keep changing the record; the workflow tries Poll again
 */
export async function resume(target: ApprovedEntry, state: RunState, ledger: Ledger, now: number): Promise<Entry> {
  const asking = askingOf(state);
  const failed = done(target, 'failed', {
    kind: 'step-failed',
    step: 'truncate',
    error: capped(state.failure?.error ?? ''),
    sent: 'no',
  });
  for (let tries = 0; tries < 3; tries++) {
    const stored = await ledger.read(target.index);
    const stands = standing(stored, asking, now);
    switch (stands.kind) {
      case 'mine':
        return watched(target, stands.record, now, firstLookAt(stands.record, now));
      case 'decided':
        return decided(target, stands.verdict.verdict);
      case 'foreign':
        return foreignEntry(target, stands);
      case 'spent':
        // Written by an earlier try of this Poll; a later sender has taken the place of whatever this run did.
        if (isSameRun(stands.sender, asking)) return failed;
        return done(target, 'unknown', { kind: 'unsettled', why: 'judged' });
      case 'theirs':
        if (!(await ledger.replace(spend(stored, keyOf(target, state), asking, now)))) continue;
        return done(target, 'in-flight', held(stands.record, now));
      case 'quarantined':
        if (!(await ledger.replace(spend(stored, keyOf(target, state), asking, now)))) continue;
        return done(target, 'quarantined', quarantinedCause(stands.record));
      case 'free':
        if (await ledger.replace(spend(stored, keyOf(target, state), asking, now))) return failed;
    }
  }
  throw new Error(`the ledger record of ${target.index} kept changing`);
}

/** A call without a task id is first looked at when it can no longer be sent. */
export const firstLookAt = (record: Parameters<typeof watched>[1], now: number): number =>
  record.state === 'sending' ? Math.max(now, record.attempt.judgeableAt) : now + look.minMillis;
