import { isUnresolved, readablePartOf, type StoredRecord } from '../../../lambda/ledger/record.ts';
import type { History } from '../histories/history.ts';
import { day, hour } from '../time.ts';
import { isReadable, isSameDecision, unreportedOf } from '../world/records.ts';
import { type CheckRule, type Event, eventsOf, lastWrite, modeOf, ofCall, ofWrites, releaseOf } from './events.ts';

/** Rules about who may write what into the ledger. */

export const ledgerRules: Record<string, CheckRule> = {
  'a preview leaves the ledger alone': ofWrites(
    ({ previous, next, invocation }, history) =>
      modeOf(history, invocation) === 'preview' &&
      // It marks only what has been reported.
      !(unreportedOf(previous) && !unreportedOf(next)) &&
      'written by a preview',
  ),

  *'a preview neither counts nor judges what is unresolved'(history) {
    for (const { at, index, invocation } of eventsOf(history, 'dry-run')) {
      if (modeOf(history, invocation) !== 'preview') continue;
      const last = lastWrite(history, index, at);
      // A preview may have read the record before a write that came after it began.
      if (!last || last.at >= invocation.startedAt || !isUnresolved(last.next)) continue;
      yield { at, text: `${index}: counted by ${invocation.runId}` };
    }
  },

  'what is unreadable, or unresolved at another address, is left alone': ofWrites((event, history) => {
    const { previous, next, invocation } = event;
    if (!previous || releaseOf(history, invocation)) return undefined;
    if (!isReadable(previous)) return 'an unreadable record was written over';
    const isElsewhere = isReadable(next) && previous.server !== next.server;
    return isElsewhere && (previous.state !== 'idle' || previous.unreported) && 'a record of another address';
  }),

  'fields of newer versions are kept': ofWrites(({ previous, stored = {}, next }) => {
    if (!isReadable(previous) || !isReadable(next) || !('future' in stored)) return undefined;
    return !('future' in next) && 'a field that is not known was dropped';
  }),

  'the last sender is not forgotten': ofWrites(({ at, previous, next }) => {
    const before = senderOf(previous);
    if (!before || before.runStartMillis > at + day) return undefined;
    const now = senderOf(next);
    const isForgotten = !now || now.runStartMillis < before.runStartMillis;
    return isForgotten && `${before.runId} had sent, and the record forgets it`;
  }),

  'only a person ends a quarantine': ofWrites(({ previous, next, invocation }, history) => {
    const isOpened = previous?.state === 'quarantined' && next.state !== 'quarantined';
    return isOpened && !releaseOf(history, invocation) && 'opened without a person';
  }),

  'a release opens what is whole, or what a person has accepted': ofWrites((event, history) => {
    const release = releasing(history, event);
    if (!release || wasTouched(history, event)) return undefined;
    const { expected = 0, found = 0 } = event.truth.window ?? {};
    const missing = expected - found;
    const why = whyUnknown(history, event);
    const { acceptMissing } = release;
    if (why && acceptMissing === undefined) return `released, and nobody accepted that ${why}`;
    // Its counts are of the old index, or there are none.
    if (why && why !== runs) return undefined;
    const accepted = Number(acceptMissing ?? 0);
    return missing > accepted && `released with ${missing} rows missing, ${accepted} accepted`;
  }),

  'what is unresolved is released only 20 h after it may be judged': ofWrites((event, history) => {
    const { at, previous } = event;
    if (!releasing(history, event) || !previous || previous.state === 'quarantined') return undefined;
    const attempt = isReadable(previous)
      ? isUnresolved(previous)
        ? previous.attempt
        : undefined
      : readablePartOf(previous).attempt;
    const early = (attempt?.judgeableAt ?? 0) + 20 * hour - at;
    return early > 0 && `released ${Math.round(early / 60_000)} min too early`;
  }),
};

/** The input of the run that opens an index that was quarantined, unreadable, or had an unresolved truncation. */
function releasing(history: History, { previous, next, invocation }: Event<'ledger'>) {
  const now = unreportedOf(next);
  const before = unreportedOf(previous);
  if (!now || now.last || (before && isSameDecision(now, before))) return undefined;
  return releaseOf(history, invocation);
}

const senderOf = (record: StoredRecord | undefined) =>
  isReadable(record) ? record.lastSender : record && readablePartOf(record).lastSender;

const runs = 'its status says that it runs';

/** Why it cannot be known how many rows are missing. */
function whyUnknown(history: History, { at, previous, next, truth, invocation }: Event<'ledger'>): string | undefined {
  if (!isReadable(previous)) return 'the record cannot be read';
  if (isReadable(next) && previous.server !== next.server) return 'it is of another server';
  const attempt = 'attempt' in previous ? previous.attempt : undefined;
  if (attempt?.method === 'reindex' && truth.oldFound >= attempt.baseline.rowsToDelete / 2) return 'it is not in place';
  const taskId = 'taskId' in previous ? previous.taskId : undefined;
  const status = ofCall(history, 'status', invocation).findLast((one) => one.at <= at && one.taskId === taskId)?.answer;
  const isRunning = typeof status === 'object' && status.kind === 'found' && !status.completed;
  if (attempt?.method === 'reindex' && isRunning) return runs;
  const failed = ofCall(history, 'dry-run', invocation).some((one) => one.at <= at && !one.answer);
  return failed ? 'it cannot be counted' : undefined;
}

/** Rows went or came while the release was being counted and written. */
const wasTouched = ({ world }: History, { at, next: { index }, invocation: { startedAt } }: Event<'ledger'>): boolean =>
  world.journal.some((one) => one.kind === 'others' && one.index === index && one.at >= startedAt && one.at <= at) ||
  world.tracker.tracks.some((one) => one.index === index && one.task && one.task.movedAt >= startedAt);
