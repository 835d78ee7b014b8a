import type { TaskCounters } from '../../../lambda/operations/operations.ts';
import { type CheckRule, type Closing, closings, type Event, eventsOf, runOf } from './events.ts';

/** Rules 7 to 10: when a truncation is judged, and by what. The rules read the counts that the judging run got. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

interface Counts {
  left: number;
  kept: number;
}

export const judgingRules = {
  *'a verdict is what its counts say'(history) {
    for (const closing of closings(history)) {
      const why = whyWrong(history, closing);
      if (why) yield { at: closing.at, text: `${closing.record.index}: ${closing.verdict.outcome}, but ${why}` };
    }
  },

  *'nobody judges before it may be judged'(history) {
    for (const { at, record, track, invocation } of closings(history)) {
      // Not one byte was written, and the function itself says so.
      if (record.state !== 'sending' || isOwnProof(track, invocation, record)) continue;
      const early = record.attempt.judgeableAt - at;
      if (early > 0) yield { at, text: `${record.index}: judged ${Math.round(early / 1000)} s too early` };
    }
  },

  *'what moves, or whose status says that it runs, is not judged'(history) {
    for (const closing of closings(history)) {
      const why = whyTooEarly(history, closing);
      if (why) yield { at: closing.at, text: `${closing.record.index}: ${closing.verdict.outcome}, and ${why}` };
    }
  },

  *'a status that shows how rows are removed is believed'(history) {
    for (const closing of closings(history)) {
      const { created = 0, updated = 0, deleted = 0 } = completedIn(history, closing, 'function') ?? {};
      const shown = created + updated > 0 ? true : deleted > 0 ? false : closing.record.attempt.copies;
      const { at, record } = closing;
      if (record.attempt.copies !== shown) yield { at, text: `${record.index}: it ${shown ? 'copied' : 'deleted'}` };
    }
  },

  *'a verdict other than truncated needs two looks 90 s apart'(history) {
    for (const closing of closings(history)) {
      const { at, record, verdict, track, invocation } = closing;
      if (verdict.outcome === 'truncated' || isOwnProof(track, invocation, record)) continue;
      const looks = looksOf(history, closing);
      const [first, last] = [looks[0], looks.at(-1)];
      const isAgreed = first !== undefined && last !== undefined && last.countedAt - first.countedAt >= 85 * second;
      if (!isAgreed && !isClosedForAge(closing))
        yield { at, text: `${record.index}: ${verdict.outcome} at its first look` };
    }
  },

  *'only an old truncation is closed unjudged, by an enforcing run that began after it'(history) {
    for (const closing of closings(history)) {
      const { at, record, verdict, invocation } = closing;
      const { cause } = verdict;
      if (cause.kind !== 'unsettled' || cause.why === 'copy') continue;
      const { sendingSince } = record.attempt;
      const end = invocation.runStartMillis + invocation.settings.maxRunHours * hour;
      if (end - sendingSince < 20 * hour || invocation.runStartMillis <= sendingSince) {
        yield { at, text: `${record.index}: ${verdict.outcome} after ${Math.round((at - sendingSince) / hour)} h` };
      }
    }
  },

  *'rows-missing and an unknown copy close the index'(history) {
    for (const { at, event, verdict, record } of closings(history)) {
      const isClosed = verdict.outcome === 'rows-missing' || (verdict.outcome === 'unknown' && record.attempt.copies);
      const state = isClosed ? 'quarantined' : 'idle';
      if (event.next.state !== state)
        yield { at, text: `${record.index}: ${verdict.outcome}, and ${event.next.state}` };
    }
  },

  *'a verdict that was counted keeps a window'(history) {
    for (const closing of closings(history)) {
      const { at, event, record, verdict, track, invocation } = closing;
      if (event.next.state !== 'idle' || verdict.cause.kind === 'unsettled') continue;
      const { policyCutoffMillis, runStartMillis } = record.attempt;
      const window = event.next.lastVerdict?.window;
      const after = policyCutoffMillis + (runStartMillis - policyCutoffMillis) / 4;
      const isOwn = window !== undefined && Math.abs(window.afterMillis - after) <= 1;
      const failed = eventsOf(history, 'dry-run').some(
        (asked) => asked.invocation.id === invocation.id && asked.answer === undefined,
      );
      if (!isOwn && !failed && !isOwnProof(track, invocation, record)) yield { at, text: `${record.index}: no window` };
    }
  },

  *'a changed name is told'(history) {
    for (const { at, event, record, verdict, invocation } of closings(history)) {
      const { indexName } = record.attempt.baseline;
      // A function that judges several truncations asks for each.
      const asked = eventsOf(history, 'sizes').filter((one) => one.invocation.id === invocation.id).length;
      const isAsked = asked >= closings(history).filter((one) => one.invocation.id === invocation.id).length;
      const now = event.truth.indexName;
      if (!isAsked || indexName === undefined || now === undefined || now === indexName) continue;
      const movedAt =
        eventsOf(history, 'others').findLast((one) => one.index === record.index && one.at <= at)?.at ?? 0;
      if (verdict.indexNow !== now && at - movedAt > 15 * minute) {
        yield { at, text: `${record.index}: ${indexName} is ${now} now, and the verdict does not say so` };
      }
    }
  },
} satisfies Record<string, CheckRule>;

const isOwnProof = (track: unknown, invocation: Closing['invocation'], { attempt }: Closing['record']): boolean =>
  track === undefined && invocation.step === 'truncate' && runOf(invocation) === runOf(attempt);

/** Counts of rows to delete that the judging run got, oldest first: up to the function that judged. */
function looksOf(history: Parameters<CheckRule>[0], { at, record, invocation }: Closing): Event<'dry-run'>[] {
  const { cutoffMillis } = record.attempt.fields;
  return eventsOf(history, 'dry-run').filter(
    (look) =>
      look.answer !== undefined &&
      look.at <= at &&
      look.at >= record.attempt.sendingSince &&
      look.index === record.index &&
      look.fields.cutoffMillis === cutoffMillis &&
      look.invocation.step === 'poll' &&
      runOf(look.invocation) === runOf(invocation),
  );
}

/** The last counts of the function that judged. */
function countsOf(history: Parameters<CheckRule>[0], { at, record, invocation }: Closing): Counts | undefined {
  const { fields, policyCutoffMillis, baseline } = record.attempt;
  const own = eventsOf(history, 'dry-run').filter(
    (event) => event.invocation.id === invocation.id && event.index === record.index && event.at <= at,
  );
  const rowsUntil = (cutoff: number): number | undefined => {
    const last = own.findLast((event) => event.fields.cutoffMillis === cutoff);
    // An index that the search engine does not know has no rows.
    return last && (last.answer ? last.answer.rowsToDelete : 0);
  };
  const [left, before, until] = [
    rowsUntil(fields.cutoffMillis),
    rowsUntil(policyCutoffMillis),
    rowsUntil(baseline.countedAtMillis),
  ];
  if (left === undefined || before === undefined || until === undefined) return undefined;
  return { left, kept: Math.max(0, until - before) };
}

/** The completed status that the judging function saw, or another one of its run: what that one saw may be lost. */
function completedIn(
  history: Parameters<CheckRule>[0],
  { at, record, invocation }: Closing,
  by: 'function' | 'run',
): TaskCounters | undefined {
  if (record.state !== 'running') return undefined;
  const { taskId } = record;
  const told = eventsOf(history, 'status').flatMap((event) => {
    const { answer } = event;
    const isSame = by === 'run' ? runOf(event.invocation) === runOf(invocation) : event.invocation.id === invocation.id;
    const isOwn = event.taskId === taskId && event.at <= at && isSame;
    return isOwn && typeof answer === 'object' && answer.kind === 'found' && answer.completed ? [answer.counters] : [];
  });
  return told.findLast(({ total }) => total !== undefined);
}

function whyWrong(history: Parameters<CheckRule>[0], closing: Closing): string | undefined {
  const { record, verdict, track, invocation } = closing;
  const { baseline, copies } = record.attempt;
  const { outcome, cause } = verdict;
  if (isOwnProof(track, invocation, record)) return undefined;
  if (cause.kind === 'unsettled' && cause.why === 'uncountable') return undefined;
  const counts = countsOf(history, closing);
  if (!counts) return 'its function has not counted';
  const { left, kept } = counts;
  const lost = baseline.rowsKept - kept;
  const isUntouched = record.state === 'sending' && left >= baseline.rowsToDelete && lost <= 0;
  const expected = (['function', 'run'] as const).map((by) => {
    const end = completedIn(history, closing, by);
    const { total, created = 0, updated = 0 } = end ?? {};
    const copied = created + updated;
    const isWhole = total !== undefined && copied >= total && total >= baseline.rowsKept;
    const isShort = left < baseline.rowsToDelete && total !== undefined && copied < total;
    const isMissing = lost > Math.max(10, baseline.rowsKept * 0.02) || (copies && ((lost >= 1 && !isWhole) || isShort));
    const remains = left > Math.max(10, baseline.rowsToDelete * 0.01) || left >= baseline.rowsToDelete / 2;
    if (isUntouched) return 'failed';
    if (isMissing) return 'rows-missing';
    if (copies && end === undefined) return 'unknown';
    return remains ? 'incomplete' : 'truncated';
  });
  if (expected.some((one) => one === outcome)) return undefined;
  return `${left} of ${baseline.rowsToDelete} are left, ${lost} of ${baseline.rowsKept} are missing (${expected[0]})`;
}

function whyTooEarly(history: Parameters<CheckRule>[0], closing: Closing): string | undefined {
  const { at, record, track, invocation } = closing;
  if (isOwnProof(track, invocation, record)) return undefined;
  const looks = looksOf(history, closing);
  const last = looks.at(-1);
  if (!last?.answer) return isClosedForAge(closing) ? undefined : 'nothing was counted';
  const left = last.answer.rowsToDelete;
  const { copies, baseline, sendingSince, judgeableAt } = record.attempt;
  const status = eventsOf(history, 'status').findLast(
    (event) =>
      event.invocation.id === invocation.id &&
      record.state === 'running' &&
      event.taskId === record.taskId &&
      event.at <= at,
  )?.answer;
  const found = typeof status === 'object' && status.kind === 'found' ? status : undefined;
  if (found?.completed && (!copies || left < baseline.rowsToDelete)) return undefined;
  if (!copies && left === 0) return undefined;
  const least = Math.min(...looks.map(({ answer }) => answer?.rowsToDelete ?? Number.POSITIVE_INFINITY));
  const since = looks.find(({ answer }) => answer?.rowsToDelete === least)?.countedAt ?? at;
  const stillMillis = last.countedAt - since;
  if (isClosedForAge(closing)) return stillMillis < 9 * minute ? 'it was still for less than 10 min' : undefined;
  if (found && !found.completed) return 'its status says that it runs';
  const age = last.countedAt - sendingSince;
  const window = Math.min(2 * hour, Math.max(10 * minute, 0.2 * age));
  if (last.countedAt <= judgeableAt) return 'it may not be judged by stillness yet';
  return stillMillis < window - minute ? `it was still for ${Math.round(stillMillis / second)} s only` : undefined;
}

/** Rule 10: a run that ends 20 h or more after the call closes what it has not seen move. */
function isClosedForAge({ at, record, invocation }: Closing): boolean {
  const { sendingSince } = record.attempt;
  const end = invocation.runStartMillis + invocation.settings.maxRunHours * hour;
  const isOver = at >= end - 40 * minute;
  return isOver && end - sendingSince >= 20 * hour && invocation.runStartMillis > sendingSince;
}
