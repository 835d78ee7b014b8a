import { serverAddress } from '../../../lambda/gms/http/base-url.ts';
import type { TaskCounters, TaskStatus } from '../../../lambda/gms/operations.ts';
import type { Outcome } from '../../../lambda/model/outcomes.ts';
import type { History } from '../histories/history.ts';
import { hour, minute, second } from '../time.ts';
import {
  about,
  type CheckRule,
  type Event,
  type GivenVerdict,
  givenVerdicts,
  ofCall,
  ofRun,
  ofVerdicts,
  runOf,
  statusesOfTask,
} from './events.ts';

/**
 * Rules 5 and 7 to 11: when a truncation is judged, and by what. The rules read the counts that the judging run got.
 *
 * What they let pass, and why:
 *   isOwnProof       Truncate itself says that not one byte was written: nothing was watched, and nothing counted.
 *   isUncounted      judged for its age, where nothing could be counted (rule 10); a rule of its own checks the age.
 *   isForAge         judged for its age at the end of a run: one check is enough, and it made no progress for rule 10's time.
 *   known            the journal does not show which answers reached the function that judged: some were lost with a
 *                    function that ended. A verdict passes if one of four sets of answers explains all of it.
 *   margins          a few seconds of 90, a minute of a window without progress, 20 minutes of a status: a function may
 *                    stop between an answer and what it writes.
 */

interface Counts {
  left: number;
  kept: number;
  /** No row of any age was counted. */
  isEmpty: boolean;
  /** The search engine did not know the index. */
  isAbsent: boolean;
}

export const judgingRules: Record<string, CheckRule> = {
  'a verdict is what its counts say': ofVerdicts((given, history) => whyWrong(history, given)),

  'nobody judges before it may be judged': ofVerdicts((given) => {
    const early = given.record.attempt.judgeableAt - given.at;
    // Not one byte was written, and the function itself says so.
    if (given.record.state !== 'sending' || isOwnProof(given)) return undefined;
    return early > 0 && `judged ${Math.round(early / 1000)} s too early`;
  }),

  'nobody judges by the counts of another address': ofVerdicts(({ record, invocation }) => {
    const { gmsUrl } = invocation.settings;
    return serverAddress(gmsUrl) !== record.server && `judged at ${gmsUrl}`;
  }),

  'what makes progress, or whose status says that it runs, is not judged': ofVerdicts((given, history) =>
    whyTooEarly(history, given),
  ),

  'a status that shows how rows are removed is believed': ofVerdicts((given, history) => {
    if (isOwnProof(given) || isUncounted(given)) return undefined;
    const left = countsOf(history, given)?.left;
    const shown = known.map((by) => reindexed(history, given, left, by));
    const reindexes = given.verdict.method === 'reindex';
    return !shown.includes(reindexes) && `it ${reindexes ? 'deleted' : 'reindexed'}`;
  }),

  'a verdict other than truncated, or with rows missing, needs two checks 90 s apart': ofVerdicts((given, history) => {
    const { outcome, rowsMissing, rowsNotVisible } = given.verdict;
    const isWhole = outcome === 'truncated' && !rowsMissing && !rowsNotVisible;
    if (isWhole || isOwnProof(given) || isForAge(given)) return undefined;
    const checks = checksOf(history, given);
    const [first, last] = [checks[0]?.countedAt ?? 0, checks.at(-1)?.countedAt ?? 0];
    return last - first < 85 * second && 'at its first check';
  }),

  'only an old truncation gets a verdict without a count, in an enforcing run that began after it': ofVerdicts(
    (given) => {
      const { record, invocation, at } = given;
      if (!isUncounted(given)) return undefined;
      const { sendingSince } = record.attempt;
      const isOld = endOf(invocation) - sendingSince >= 20 * hour && invocation.runStartMillis > sendingSince;
      return !isOld && `after ${Math.round((at - sendingSince) / hour)} h`;
    },
  ),

  'lost rows, and a reindex that is not proven, quarantine the index': ofVerdicts((given) => {
    const { state, verdict } = given;
    const isUnproven = verdict.method === 'reindex' && verdict.outcome !== 'truncated' && !isOwnProof(given);
    const isQuarantined = verdict.outcome === 'rows-missing' || isUnproven;
    return state !== (isQuarantined ? 'quarantined' : 'idle') && `and it becomes ${state}`;
  }),

  'a verdict that was counted keeps a window': ofVerdicts((given, history) => {
    const { state, event, record, invocation } = given;
    if (state !== 'idle' || isUncounted(given) || isOwnProof(given)) return undefined;
    const { policyCutoffMillis, runStartMillis } = record.attempt;
    const after = policyCutoffMillis + (runStartMillis - policyCutoffMillis) / 4;
    const window = 'window' in event.next ? event.next.window : undefined;
    if (Math.abs((window?.afterMillis ?? 0) - after) <= 1) return undefined;
    const asked = ofCall(history, 'dry-run', invocation);
    // An index that the search engine does not know gets no window.
    return asked.every(({ answer }) => answer && answer.rowsTotal > 0) && 'no window';
  }),

  'a changed name is reported': ofVerdicts((given, history) => {
    const { at, event, record, verdict, invocation } = given;
    // A call that was never made has changed nothing, and nobody checks.
    if (isOwnProof(given)) return undefined;
    const { indexName } = record.attempt.baseline;
    // A function that judges several truncations asks for each.
    const answers = ofCall(history, 'sizes', invocation).filter((answer) => answer.at <= at);
    const isAsked =
      answers.length >= givenVerdicts(history).filter((one) => one.invocation.id === invocation.id).length;
    // Some servers report a name that never changes.
    const now = answers.some(({ names }) => names.includes(record.index)) ? undefined : event.truth.indexName;
    if (!isAsked || indexName === undefined || now === undefined || now === indexName) return undefined;
    // A function that stood still before its write may have asked before the new index was put in place.
    if (!answers.some(({ names }) => names.includes(now))) return undefined;
    const moved = about(history, 'others', record.index).findLast((one) => one.at <= at);
    return verdict.indexNow !== now && at - (moved?.at ?? 0) > 15 * minute && `${indexName} is ${now} now, unreported`;
  }),
};

const isOwnProof = ({ track, invocation, record }: GivenVerdict): boolean =>
  track === undefined && invocation.step === 'truncate' && runOf(invocation) === runOf(record.attempt);

/** Nothing could be counted at its end (rule 10). */
const isUncounted = ({ verdict }: GivenVerdict): boolean =>
  verdict.outcome === 'unknown' && verdict.rowsRemaining === undefined;

/** When a run ends at the latest. */
const endOf = ({ runStartMillis, settings }: GivenVerdict['invocation']): number =>
  runStartMillis + settings.maxRunHours * hour;

/** An index that is gone has no rows. A server that does not know the index says the same. */
const noRows = { rowsToDelete: 0, rowsTotal: 0, method: 'delete' } as const;

/** Counts of rows to delete that the judging run got, oldest first: up to the function that judged. */
function checksOf(history: History, { at, record, invocation }: GivenVerdict): Event<'dry-run'>[] {
  const { fields, policyCutoffMillis, baseline } = record.attempt;
  const { cutoffMillis } = fields;
  const cutoffs = [cutoffMillis, policyCutoffMillis, baseline.countedAtMillis];
  const counted = new Set<string>();
  // If one function counts a cutoff twice, the second count is for the next runs' window.
  const asked = about(history, 'dry-run', record.index).filter(
    ({ invocation: { id }, fields: { cutoffMillis: at } }) => {
      const isFirst = cutoffs.includes(at) && !counted.has(`${id} ${at}`);
      return isFirst && counted.add(`${id} ${at}`);
    },
  );
  // A check that failed half-way shows nothing; but if the index is gone, the answer of another server says the same.
  const isGone = (id: number) =>
    asked.some(({ answer, invocation }) => answer?.rowsTotal === 0 && invocation.id === id) &&
    asked.every(({ answer, invocation }) => invocation.id !== id || (answer?.rowsTotal ?? 0) === 0);
  const failed = new Set(asked.flatMap(({ answer, invocation: { id } }) => (answer || isGone(id) ? [] : [id])));
  // A function that stood still before it wrote its verdict did not see what others have counted since.
  const until = asked.findLast((one) => one.at <= at && one.invocation.id === invocation.id)?.at ?? at;
  const checks = asked.filter(
    (check) =>
      !failed.has(check.invocation.id) &&
      check.at <= until &&
      check.at >= record.attempt.sendingSince &&
      check.fields.cutoffMillis === cutoffMillis &&
      check.invocation.step === 'poll' &&
      runOf(check.invocation) === runOf(invocation),
  );
  return checks.map((check) => ({ ...check, answer: check.answer ?? noRows }));
}

/** The counts of the check that judged: the first of its function, which may count again for the next runs' window. */
function countsOf(history: History, { at, record, invocation }: GivenVerdict): Counts | undefined {
  const { fields, policyCutoffMillis, baseline } = record.attempt;
  const own = ofCall(history, 'dry-run', invocation).filter((event) => event.index === record.index && event.at <= at);
  const totals = own.map(({ answer }) => answer?.rowsTotal ?? 0);
  const rowsUntil = (cutoff: number): number | undefined => {
    const first = own.find((event) => event.fields.cutoffMillis === cutoff);
    // An index that the search engine does not know has no rows.
    return first && (first.answer ? first.answer.rowsToDelete : 0);
  };
  const [left, before, until] = [
    rowsUntil(fields.cutoffMillis),
    rowsUntil(policyCutoffMillis),
    rowsUntil(baseline.countedAtMillis),
  ];
  if (left === undefined || before === undefined || until === undefined) return undefined;
  const isEmpty = totals.every((total) => total === 0);
  return {
    left,
    kept: Math.max(0, until - before),
    isEmpty,
    isAbsent: own.every((one) => one.isAbsent || !one.answer),
  };
}

type By = 'function' | 'run' | 'anybody';

/**
 * What the judging function may have known: its own answers, those of its run, and what earlier functions had seen,
 * some of which ended before they wrote it down. The checker cannot tell which, so it accepts a verdict that one of
 * these explains.
 */
const known = [
  { by: 'function', earlier: true },
  { by: 'run', earlier: true },
  { by: 'function', earlier: false },
  { by: 'run', earlier: false },
] as const;

/**
 * Statuses of the task that the judging function got, or any function of its run, or anybody: what one function has
 * seen may be lost with it, unless its run has gone on with its state.
 */
function statusesOf(
  history: History,
  { at, record, invocation }: GivenVerdict,
  by: By,
): (TaskStatus & { kind: 'found' })[] {
  if (record.state !== 'running') return [];
  const { taskId } = record;
  return statusesOfTask(history, taskId).flatMap(({ at: answeredAt, answer, invocation: asker }) => {
    if (answeredAt > at) return [];
    const isOwn = {
      function: asker.id === invocation.id || isTakenOver(history, asker, invocation),
      run: runOf(asker) === runOf(invocation),
      anybody: true,
    }[by];
    return isOwn && typeof answer === 'object' && answer.kind === 'found' ? [answer] : [];
  });
}

/** Whether a function's run went on with its state before a later one began: it was the only one in between. */
function isTakenOver(history: History, asker: GivenVerdict['invocation'], later: GivenVerdict['invocation']): boolean {
  if (runOf(asker) !== runOf(later)) return false;
  const taken = ofRun(history, 'taken', later).map(({ at }) => at);
  const before = taken.findLast((at) => at <= asker.startedAt);
  const after = taken.find((at) => at > asker.startedAt && at <= later.startedAt);
  const calls = ofRun(history, 'invocation', later).filter(
    ({ at }) => before !== undefined && after !== undefined && at >= before && at <= after,
  );
  return calls.length === 1;
}

type Counters = TaskCounters & { noops?: number };

/** The counters of the task's completed status. */
const completedIn = (history: History, given: GivenVerdict, by: By): Counters | undefined =>
  statusesOf(history, given, by).findLast(({ completed, counters }) => completed && Object.keys(counters).length > 0)
    ?.counters;

/** It was announced as a reindex, or any status has shown that it writes rows. @param left rows to delete */
function reindexed(
  history: History,
  given: GivenVerdict,
  left: number | undefined,
  { by, earlier }: (typeof known)[number],
): boolean {
  const { announced, baseline } = given.record.attempt;
  const writes = ({ created = 0, updated = 0 }: Counters) => created + updated > 0;
  const shown = statusesOf(history, given, 'anybody').some(({ counters }) => writes(counters));
  const isDelete = (end: Counters | undefined, left: number | undefined): boolean => {
    const { deleted = 0, total = deleted } = end ?? {};
    const isAll = total <= Math.max(deleted, baseline.rowsToDelete);
    const isShown = deleted > 0 && isAll && baseline.rowsToKeep > 0 && isInPlace(left, baseline);
    return end !== undefined && !writes(end) && isShown;
  };
  // An earlier run may have seen that it deleted; old rows that came in since do not change that.
  const wasDelete = earlier && earlierChecks(history, given).some(({ end, left }) => isDelete(end, left));
  return (announced === 'reindex' && !isDelete(completedIn(history, given, by), left) && !wasDelete) || shown;
}

/** Completed statuses of the task, each with the rows to delete that the same function counted after it. */
function earlierChecks(history: History, { at, record }: GivenVerdict) {
  if (record.state !== 'running') return [];
  const { cutoffMillis } = record.attempt.fields;
  return statusesOfTask(history, record.taskId).flatMap(({ at: answeredAt, answer, invocation }) => {
    if (answeredAt > at || typeof answer !== 'object' || answer.kind !== 'found' || !answer.completed) return [];
    const counted = ofCall(history, 'dry-run', invocation).find(
      ({ index, fields }) => index === record.index && fields.cutoffMillis === cutoffMillis,
    );
    return counted?.answer ? [{ end: answer.counters, left: counted.answer.rowsToDelete }] : [];
  });
}

type Baseline = GivenVerdict['record']['attempt']['baseline'];
/** With the tolerance of its policy when it was sent. */
type Base = Baseline & { percent: number };

/** Fewer than half of the rows to delete are left. */
const isInPlace = (left: number | undefined, { rowsToDelete }: Baseline): boolean =>
  left !== undefined && left < rowsToDelete / 2;

/** The completed status of a reindex accounts for every row. */
function accountsFor(end: Counters | undefined, { rowsToKeep, rowsToDelete, rowsTotal }: Baseline): boolean {
  if (!end || end.cancelled) return false;
  const { total, created = 0, updated = 0, deleted = 0, noops = 0, versionConflicts = 0 } = end;
  const written = created + updated;
  // A total of all rows has those to delete, too; without one, all others have to be written.
  if (total === undefined || total === rowsTotal) return written >= rowsTotal - rowsToDelete;
  return written + deleted + noops + versionConflicts >= total && total >= rowsToKeep;
}

/** More than is gone on ordinary days. */
function isFar(lost: number, { rowsToKeep, percent }: Pick<Base, 'rowsToKeep' | 'percent'>): boolean {
  return lost > Math.max(percent === 0 ? 0 : 10, (rowsToKeep * percent) / 100);
}

/** Rows to keep that its status does not show as written, as many as it leaves possible. */
function unwritten(end: Counters, { rowsToKeep, rowsToDelete, rowsTotal }: Baseline): number {
  const { total = 0, created = 0, updated = 0, deleted = 0, noops = 0 } = end;
  const others = deleted + noops;
  const leftOut = total === rowsTotal ? rowsToDelete : others >= rowsToDelete ? others : 0;
  return Math.max(total - leftOut, rowsToKeep) - created - updated;
}

function verdictOfReindex(counts: Counts, end: Counters | undefined, baseline: Base): Outcome {
  const { left, kept, isEmpty, isAbsent } = counts;
  const lost = baseline.rowsToKeep - kept;
  const isAccounted = accountsFor(end, baseline);
  if (!isInPlace(left, baseline)) {
    const isDenied = isAccounted && kept < baseline.rowsToKeep / 10;
    return isFar(lost, baseline) && !isDenied ? 'rows-missing' : 'unknown';
  }
  // Old rows that are left may be those of the old index with a shard away.
  const isMoved = !remains(left, baseline) || (lost <= 0 && baseline.rowsToKeep > 10);
  if (lost <= 0) return isAccounted && isMoved ? 'truncated' : 'unknown';
  if (end === undefined) return isEmpty && !isAbsent ? 'unknown' : 'rows-missing';
  // Written is not visible: what was not written is missing, the rest may only be unrefreshed.
  if (!isAccounted || isFar(Math.min(lost, unwritten(end, baseline)), baseline)) return 'rows-missing';
  return kept === 0 || isFar(lost, baseline) || !isMoved ? 'unknown' : 'truncated';
}

const remains = (left: number, { rowsToDelete }: Pick<Base, 'rowsToDelete'>): boolean =>
  left > Math.max(10, rowsToDelete * 0.01) || (left > 0 && left >= rowsToDelete / 2);

function verdictOfDelete({ left, kept }: Counts, state: string, baseline: Base): Outcome {
  const { rowsToDelete, rowsToKeep, percent } = baseline;
  const lost = rowsToKeep - kept;
  if (state === 'sending' && left >= rowsToDelete && lost <= 0) return 'failed';
  if (isFar(lost, { rowsToKeep, percent })) return 'rows-missing';
  return remains(left, baseline) ? 'incomplete' : 'truncated';
}

function whyWrong(history: History, given: GivenVerdict): string | undefined {
  const { record, verdict } = given;
  const baseline = { ...record.attempt.baseline, percent: record.attempt.maxMissingPercent ?? 2 };
  if (isOwnProof(given) || isUncounted(given)) return undefined;
  const counts = countsOf(history, given);
  if (!counts) return 'its function has not counted';
  const { left, kept } = counts;
  const lost = baseline.rowsToKeep - kept;
  // What it may have known has to explain both: how rows are removed, and the outcome.
  const fitting = known.filter((what) => reindexed(history, given, left, what) === (verdict.method === 'reindex'));
  // What a completed status of a reindex has counted is in the record, whichever run has read it.
  const expected = fitting.flatMap(({ by }) =>
    verdict.method === 'reindex'
      ? [by, 'anybody' as const].map((who) => verdictOfReindex(counts, completedIn(history, given, who), baseline))
      : verdictOfDelete(counts, record.state, baseline),
  );
  if (expected.length === 0 || expected.some((one) => one === verdict.outcome)) return undefined;
  return `${left} of ${baseline.rowsToDelete} are left, ${lost} of ${baseline.rowsToKeep} are missing (${expected[0]})`;
}

function whyTooEarly(history: History, given: GivenVerdict): string | false | undefined {
  const { at, record, invocation, verdict } = given;
  if (isOwnProof(given) || isUncounted(given)) return undefined;
  const checks = checksOf(history, given);
  const last = checks.at(-1);
  if (!last?.answer) return isForAge(given) ? undefined : 'nothing was counted';
  const left = last.answer.rowsToDelete;
  const { baseline, sendingSince, judgeableAt } = record.attempt;
  const reindexes = verdict.method === 'reindex';
  const status = ofCall(history, 'status', invocation).findLast(
    (event) => record.state === 'running' && event.taskId === record.taskId && event.at <= at,
  )?.answer;
  const found = typeof status === 'object' && status.kind === 'found' ? status : undefined;
  if (found?.completed && (!reindexes || left < baseline.rowsToDelete)) return undefined;
  if (!reindexes && left === 0) return undefined;
  const lastProgressAt = (seen: typeof checks): number => {
    const least = Math.min(...seen.map(({ answer }) => answer?.rowsToDelete ?? Number.POSITIVE_INFINITY));
    return seen.find(({ answer }) => answer?.rowsToDelete === least)?.countedAt ?? at;
  };
  // If one call began two functions, the run goes on with the state of only one.
  const polls = ofRun(history, 'invocation', invocation).map((event) => event.invocation);
  const isAlone = ({ id, startedAt }: GivenVerdict['invocation']) =>
    id === invocation.id || !polls.some((other) => other.id !== id && other.startedAt === startedAt);
  const certain = checks.filter((one) => isAlone(one.invocation));
  const noProgressMillis = last.countedAt - Math.min(lastProgressAt(checks), lastProgressAt(certain));
  if (isForAge(given)) return noProgressMillis < 9 * minute ? 'it made no progress for less than 10 min' : undefined;
  if (found && !found.completed) return 'its status says that it runs';
  const age = last.countedAt - sendingSince;
  const window = Math.min(2 * hour, Math.max(10 * minute, 0.2 * age));
  if (last.countedAt <= judgeableAt) return 'it may not be judged by a lack of progress yet';
  if (noProgressMillis < window - minute)
    return `it made no progress for ${Math.round(noProgressMillis / second)} s only`;
  const ran = statusesOfTask(history, record.state === 'running' ? record.taskId : '').findLast(
    ({ at: answeredAt, answer, invocation: asker }) =>
      answeredAt <= at &&
      runOf(asker) === runOf(invocation) &&
      typeof answer === 'object' &&
      answer.kind === 'found' &&
      !answer.completed,
  );
  // The check that asked may have counted for a while.
  const sinceMillis = last.countedAt - (ran?.at ?? 0);
  return sinceMillis < window - 20 * minute && `its status said ${Math.round(sinceMillis / second)} s ago that it runs`;
}

/** Rule 10: a run that ends 20 h or more after the call closes what it has not seen move. */
function isForAge({ at, record, invocation }: GivenVerdict): boolean {
  const { sendingSince } = record.attempt;
  const end = endOf(invocation);
  const isOver = at >= end - 40 * minute;
  return isOver && end - sendingSince >= 20 * hour && invocation.runStartMillis > sendingSince;
}
