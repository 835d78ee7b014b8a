import type { Cause } from '../../../lambda/facts/cause.ts';
import { functionTimeoutSeconds } from '../../../lambda/facts/limits.ts';
import {
  isUnresolved,
  LEDGER_VERSION,
  type LedgerRecord,
  type StoredRecord,
  type Unresolved,
} from '../../../lambda/ledger/record.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { Track } from '../truth/track.ts';
import { type CheckRule, countsIn, type Event, eventsOf, runOf, wasTaken } from './events.ts';

/** Rules about truncations whose end is unknown, and about who may close them (safety rules 4 to 6, 8 and 9). */

const hour = 3_600_000;

/** A record that held a truncation, and the write that closed it with a verdict. */
export interface Closing {
  at: number;
  event: Event<'ledger'>;
  record: Unresolved;
  verdict: NonNullable<LedgerRecord['lastVerdict']>;
  track: Track | undefined;
}

export const isOurs = (record: StoredRecord | undefined): record is LedgerRecord =>
  record !== undefined && record.state !== 'other-version' && record.version === LEDGER_VERSION;

/** Every verdict about a truncation. */
export function closings(history: Parameters<CheckRule>[0]): Closing[] {
  const tracks = new Map(eventsOf(history, 'truncate').map(({ track }) => [track.attemptId, track]));
  return eventsOf(history, 'ledger').flatMap((event) => {
    const { at, previous, next } = event;
    const verdict = next.lastVerdict;
    if (!isOurs(previous) || !isUnresolved(previous) || verdict?.attemptId !== previous.attemptId) return [];
    if (previous.lastVerdict?.attemptId === verdict.attemptId) return [];
    return [{ at, event, record: previous, verdict, track: tracks.get(previous.attemptId) }];
  });
}

/** A delete that had deleted nothing when it was judged, but perhaps its first batch while that Poll continued. */
export function hasNotBegun({ at, event, record }: Closing): boolean {
  const { oldTaken, movedAt = 0 } = event.truth;
  const isFirst = oldTaken <= (record.attempt.fields.batchSize ?? 0);
  return oldTaken === 0 || (isFirst && movedAt >= at - functionTimeoutSeconds.poll * 1000);
}

/** How the function that decided read the status of its task. */
const statusesRead = (history: Parameters<CheckRule>[0], { record, event }: Closing) =>
  eventsOf(history, 'read').filter(
    ({ action, task, invocation }) =>
      record.state === 'running' &&
      action === 'getEsTaskStatus' &&
      task === record.attempt.taskId &&
      invocation.id === event.invocation?.id,
  );

const hasStatus = (history: Parameters<CheckRule>[0], closing: Closing): boolean =>
  statusesRead(history, closing).some(({ tells }) => tells === true);

/** A reindex in place of a delete, where the deciding function learned neither the index's name nor what the task did. */
export function wasSilent(history: Parameters<CheckRule>[0], closing: Closing): boolean {
  const { strategy, baseline } = closing.record.attempt;
  const isAsked = strategy !== 'delete-by-query' || closing.track?.acted?.as !== 'reindex';
  const isCounted = statusesRead(history, closing).some(({ deleted }) => deleted !== undefined);
  return !isAsked && baseline.indexName === undefined && !isCounted;
}

/** Planned rows that may be left, or whose deletion may go unseen. */
export const limitOf = (planned: number): number => Math.max(10, planned * 0.01);

/** Late old rows make up for those that a delete removed, and the deciding run never saw fewer. */
export function isHidden(history: Parameters<CheckRule>[0], closing: Closing): boolean {
  const { rowsToDelete: planned } = closing.record.attempt.baseline;
  return closing.event.truth.oldFound >= planned - limitOf(planned) && !hasSeenFewer(history, closing);
}

/** Whether a look of the deciding run showed that rows were deleted; what a function saw before it died is forgotten. */
function hasSeenFewer(history: Parameters<CheckRule>[0], { at, record, event }: Closing): boolean {
  const { fields, baseline, sendingSince } = record.attempt;
  return eventsOf(history, 'dry-run').some(
    (look) =>
      look.at >= sendingSince &&
      look.at <= at &&
      event.invocation !== undefined &&
      runOf(look.invocation) === runOf(event.invocation) &&
      searchIndex(look.fields) === record.index &&
      look.fields.endTimeMillis === fields.endTimeMillis &&
      (countsIn(look.sentence)?.rows ?? 0) < baseline.rowsToDelete - limitOf(baseline.rowsToDelete) &&
      (look.invocation.id === event.invocation.id || wasTaken(history, look.invocation)),
  );
}

export const unresolvedRules = {
  *'none while another of the index is unresolved'(history) {
    const unresolved = new Map<string, Track>();
    for (const event of history.world.journal) {
      if (event.kind === 'ledger') {
        const { index, state, lastVerdict } = event.next;
        const open = unresolved.get(index);
        const closed = state === 'idle' || state === 'quarantined' || lastVerdict?.attemptId === open?.attemptId;
        if (open && closed) unresolved.delete(index);
      }
      if (event.kind !== 'truncate') continue;
      const { index, track, invocation } = event;
      const open = unresolved.get(index);
      if (open) yield { at: event.at, text: `${index}: ${invocation.runId} sent, that of ${open.runId} is unresolved` };
      unresolved.set(index, track);
    }
  },

  *'never two of ours at work on an index at once'(history) {
    const before: Track[] = [];
    // docs/testing.md, `slow-first-batch` and `hidden-delete`.
    const slow = new Set(
      closings(history)
        .filter((closing) => closing.verdict.entry.outcome === 'failed' || !hasStatus(history, closing))
        .filter((closing) => hasNotBegun(closing) || isHidden(history, closing))
        .map(({ track }) => track),
    );
    for (const { at, track } of eventsOf(history, 'truncate')) {
      for (const earlier of before) {
        if (earlier.index !== track.index || earlier.server !== track.server || slow.has(earlier)) continue;
        // docs/testing.md, `day-long-hang`.
        const isOld = at - earlier.sentAt >= 20 * hour;
        if (isOld && (earlier.acted?.as === 'delete' || wasCleared(history, earlier, at))) continue;
        const acts = earlier.acted !== undefined && earlier.acted.at > at;
        const works = history.world.servers[track.server]?.truth
          .tasksOf(earlier)
          .some(({ startedAt, completedAt = Number.POSITIVE_INFINITY }) => startedAt < at && completedAt > at);
        if (works || acts) {
          yield { at, text: `${track.index}: ${track.runId} sent while that of ${earlier.runId} was at work` };
        }
      }
      before.push(track);
    }
  },

  *'nobody judges before it may be judged'(history) {
    for (const { at, event, record, track } of closings(history)) {
      if (record.state !== 'sending' || event.truth.deceived || isBlind(event)) continue;
      const { invocation } = event;
      // Not one byte was written, and the function itself says so.
      if (track === undefined && invocation?.step === 'truncate' && runOf(invocation) === runOf(record.attempt))
        continue;
      // docs/testing.md, `clock-across-looks`: a smaller jump ahead looks like time that has passed.
      const least = (track?.sentAt ?? 0) + functionTimeoutSeconds.truncate * 1000 - event.truth.aheadMillis;
      if (at < least) yield { at, text: `${record.index}: judged ${Math.round((least - at) / 1000)} s too early` };
    }
  },

  *'what nobody saw end is kept for 20 h, a reindex for good'(history) {
    const sending = eventsOf(history, 'ledger').filter(({ next }) => next.state === 'sending');
    // It is written again with an answer that is not a task id: the first write counts.
    const began = new Map(sending.reverse().map(({ at, next }) => [next.attemptId, at]));
    for (const closing of closings(history)) {
      const { at, event, record, verdict } = closing;
      const { outcome } = verdict.entry;
      if (outcome !== 'unknown') continue;
      const age = at - (began.get(record.attemptId) ?? 0);
      const isHarmless = isBlind(event) || event.truth.deceived;
      if (age < 20 * hour && !isHarmless) yield { at, text: `${record.index}: ${outcome} before 20 h` };
      const { acted, onSource } = event.truth;
      // docs/testing.md, `silent-reindex`.
      if (acted === 'reindex' && !onSource && event.next.state !== 'quarantined' && !wasSilent(history, closing)) {
        yield { at, text: `${record.index}: ${outcome} after a reindex, and open again` };
      }
    }
  },

  *'rows-missing closes the index until a person clears it'(history) {
    for (const { at, next, previous, invocation } of eventsOf(history, 'ledger')) {
      if (!isOurs(previous)) continue;
      const isNew = next.lastVerdict && next.lastVerdict.attemptId !== previous.lastVerdict?.attemptId;
      if (isNew && next.lastVerdict?.entry.outcome === 'rows-missing' && next.state !== 'quarantined') {
        yield { at, text: `${next.index}: rows-missing, and ${next.state}` };
      }
      if (previous.state !== 'quarantined' || next.state === 'quarantined') continue;
      if (!invocation || !clearsOf(history, invocation)) {
        yield { at, text: `${next.index}: no longer quarantined, without a person` };
      }
    }
  },

  *'a person who clears gets what is whole, or what was accepted'(history) {
    for (const { at, next, previous, invocation, truth } of eventsOf(history, 'ledger')) {
      if (!isClosing(history, { previous, next, invocation })) continue;
      const accepted = acceptedBy(history, invocation);
      const missing = Math.max(0, ...truth.windows.map(({ recorded, found }) => recorded - found));
      // If its count fails but other requests are answered, any number opens it.
      const isUncounted = accepted > 0 && hasFailedToCount(history, invocation, at);
      if (missing > accepted && !isUncounted)
        yield { at, text: `${next.index}: released with ${missing} rows missing, ${accepted} accepted` };
      if (truth.windows.length === 0 && accepted === 0) yield { at, text: `${next.index}: released uncounted` };
    }
  },

  *'a person clears what is unresolved only 20 h after it may be judged'(history) {
    for (const { at, next, previous, invocation, truth } of eventsOf(history, 'ledger')) {
      if (!isClosing(history, { previous, next, invocation }) || truth.deceived) continue;
      const { state, judgeableAt = 0 } = recordOf(previous);
      if (state !== 'sending' && state !== 'running') continue;
      const early = judgeableAt + 20 * hour - truth.aheadMillis - at;
      // A person may overrule a time that no correct clock can have written.
      if (early <= 0 || (acceptedBy(history, invocation) > 0 && early > 47 * hour)) continue;
      yield { at, text: `${next.index}: cleared ${Math.round(early / 60_000)} min too early` };
    }
  },

  *'a preview leaves the ledger alone'(history) {
    const executions = new Map(eventsOf(history, 'execution').map((event) => [runOf(event), event]));
    for (const { at, invocation, next } of eventsOf(history, 'ledger')) {
      if (invocation && executions.get(runOf(invocation))?.input['mode'] === 'preview') {
        yield { at, text: `${next.index}: written by a preview` };
      }
    }
  },

  *'what another version holds is left alone'(history) {
    for (const { at, previous, next, invocation, truth } of eventsOf(history, 'ledger')) {
      const foreign = previous !== undefined && !isOurs(previous);
      const { state, judgeableAt = Number.POSITIVE_INFINITY } = recordOf(previous ?? next);
      // Nothing is under way in it, and nothing can be sent under it any more.
      if (state === 'idle' || (state === 'reserved' && at >= judgeableAt - truth.aheadMillis)) continue;
      if (foreign && !(invocation && clearsOf(history, invocation))) {
        yield { at, text: `${next.index}: a record of another version was written over` };
      }
    }
  },
} satisfies Record<string, CheckRule>;

/** An uncountable index is closed for a person to look at; a wrong clock may do so too early, which does no harm. */
const isBlind = ({ next, truth }: Event<'ledger'>): boolean =>
  isUncountable(next.lastVerdict?.entry.cause) && truth.clockWrong;

const isUncountable = (cause: Cause | undefined): boolean => cause?.kind === 'unsettled' && cause.why === 'uncountable';

/** A person has released the index of a truncate by its counts. */
const wasCleared = (history: Parameters<CheckRule>[0], { index, sentAt }: Track, before: number): boolean =>
  eventsOf(history, 'ledger').some(({ at, previous, next, invocation }) => {
    const isOfIt = next.index === index && at > sentAt && at < before;
    return isOfIt && isClosing(history, { previous, next, invocation });
  });

/** The write by which a clearing run releases an index that was closed or had an unresolved truncation. */
const isClosing = (
  history: Parameters<CheckRule>[0],
  { previous, next, invocation }: Pick<Event<'ledger'>, 'previous' | 'next' | 'invocation'>,
): boolean =>
  previous !== undefined &&
  !['idle', 'reserved'].includes(recordOf(previous).state) &&
  next.state === 'idle' &&
  invocation !== undefined &&
  clearsOf(history, invocation) !== undefined;

/** What the record's head says, whichever version wrote it. */
const recordOf = (record: StoredRecord | undefined) => record as unknown as { state: string; judgeableAt?: number };

const acceptedBy = (history: Parameters<CheckRule>[0], run: Event<'ledger'>['invocation']): number =>
  run === undefined ? 0 : Number(clearsOf(history, run)?.['acceptMissing'] ?? 0);

/** A clearing run asks for sizes only after a count has failed, to see whether the server answers at all. */
const hasFailedToCount = (
  history: Parameters<CheckRule>[0],
  run: Event<'ledger'>['invocation'],
  before: number,
): boolean =>
  eventsOf(history, 'read').some(
    ({ at, action, invocation }) => at <= before && action === 'getIndexSizes' && invocation.id === run?.id,
  );

/** The input of a clearing run. */
function clearsOf(history: Parameters<CheckRule>[0], run: { runId: string; runStartMillis: number }) {
  const execution = eventsOf(history, 'execution').find((event) => runOf(event) === runOf(run));
  return execution?.input['clear'] === undefined ? undefined : execution.input;
}
