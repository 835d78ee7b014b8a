import type { Clock } from '../facts/clock.ts';
import { refreshPatienceMillis, refreshPatienceRealMillis, still } from '../facts/limits.ts';
import type { Judgement } from '../ledger/settle.ts';
import { type Evidence, replacedIn } from './judge.ts';
import { longestStillMillis, type Watch } from './watch.ts';

/**
 * Whether a judgement is final. A bad one may still turn good after the next refresh, or while another process deletes
 * or copies.
 * @param before the watch before this look
 */
export function isFinal(
  { outcome }: Judgement,
  evidence: Evidence,
  before: Watch,
  clock: Clock,
  maxRunHours: number,
): boolean {
  const { watch, task, end, after } = evidence;
  if (end !== 'task' || outcome === 'truncated') return true;
  // If rows are left to delete, a status that says running is correct.
  if (outcome === 'incomplete' && task?.completed === false) return false;
  const now = clock.now();
  const { completedAt = now, completedRealAt = 0, movedAt = 0 } = watch;
  if (now < completedAt + refreshPatienceMillis) return false;
  if (clock.realNow() < completedRealAt + refreshPatienceRealMillis) return false;
  if (outcome === 'incomplete') return after.rowsToDelete >= (before.lowestToDelete ?? 0);
  if (replacedIn(evidence)?.movedBy !== 'others') return true;
  // Late rows would keep this open too, so there is a time limit.
  return (
    now - Math.max(completedAt, movedAt) >= still.minMillis || now >= completedAt + longestStillMillis(maxRunHours)
  );
}
