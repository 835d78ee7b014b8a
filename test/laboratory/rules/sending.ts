import { isUnresolved, type StoredRecord } from '../../../lambda/ledger/record.ts';
import type { History } from '../histories/history.ts';
import { day, hour, minute } from '../time.ts';
import type { WrittenPolicy } from '../truth/policies.ts';
import type { Track } from '../truth/track.ts';
import type { JournalEvent } from '../world/journal.ts';
import {
  type CheckRule,
  compared,
  type Event,
  modeOf,
  ofCall,
  ofSends,
  releaseOf,
  runOf,
  type Send,
  unreportedAt,
} from './events.ts';

/** Rules 1 to 5: what must be so when a real truncate is sent. */

/** A small difference between two counts of a delete. */
const slack = (rows: number): number => Math.max(10, rows * 0.01);

/**
 * Others have deleted half of what a reindex leaves behind, or replaced the index, so that it looks as if it were in
 * place: same-rows.
 */
function isHidden({ owed, cutoffMillis, sentAt }: Track, since: readonly JournalEvent[]): boolean {
  const replacing = ['reindexed by datahub-gc', 'reindexed by hand', 'upgraded', 'index deleted'];
  if (since.some((event) => event.kind === 'others' && event.at >= sentAt && replacing.includes(event.what)))
    return true;
  const rows = [...(owed?.source.rows.values() ?? [])];
  const old = rows.filter(({ timestamp, writtenAt }) => timestamp <= cutoffMillis && writtenAt <= sentAt);
  // The baseline is a little older than the call.
  const found = old.filter(({ removed }) => removed === undefined || removed.at >= sentAt - minute);
  const gone = found.filter(({ removed }) => removed?.by === 'others');
  return gone.length > 0 && gone.length >= found.length / 2;
}

export const sendingRules: Record<string, CheckRule> = {
  'a real truncate follows a passed dry run of the same fields': ofSends(({ sent, asked }) => {
    if (!asked?.answer) return 'its last dry run has no answer';
    if (JSON.stringify(asked.fields) !== JSON.stringify(sent.fields)) return 'its last dry run has other fields';
    if (sent.at - asked.at > minute) return `its last dry run is ${Math.round((sent.at - asked.at) / 1000)} s old`;
    const { rowsToDelete, rowsTotal, method } = asked.answer;
    if (rowsToDelete <= 0 || rowsToDelete > rowsTotal) return `its last dry run says ${rowsToDelete} of ${rowsTotal}`;
    if (sent.record?.state !== 'sending') return undefined;
    const { baseline, announced, method: recorded } = sent.record.attempt;
    if (announced !== method || recorded !== announced) return 'the ledger does not say that it reindexes';
    const difference = Math.abs(baseline.rowsToDelete - rowsToDelete);
    const isFar = difference > (method === 'delete' ? slack(Math.max(baseline.rowsToDelete, rowsToDelete)) : 0);
    return isFar && `the baseline says ${baseline.rowsToDelete}, the last dry run ${rowsToDelete}`;
  }),

  'the request is what the policy says': ofSends(({ sent, policy, asked, execution }) => {
    const { fields, invocation, record } = sent;
    if (!policy?.enabled) return 'no policy of Plan is for it';
    const whole = invocation.runStartMillis - policy.retentionDays * day;
    const { cutoffMillis, batchSize, timeoutSeconds } = fields;
    if (batchSize !== policy.batchSize || timeoutSeconds !== policy.timeoutSeconds)
      return 'other fields than in the policy';
    if (record?.state === 'sending' && record.attempt.policyCutoffMillis !== whole)
      return 'another cutoff in the ledger';
    if (record?.state === 'sending' && record.attempt.maxMissingPercent !== policy.maxMissingPercent)
      return 'another tolerance in the ledger';
    const indices = execution?.input['indices'] as string[] | undefined;
    const name = `${policy.entityType}.${policy.aspect}`.toLowerCase();
    if (indices && !indices.some((one) => one.toLowerCase() === name)) return 'the run is about other policies';
    const { maxRowsPerRun = Number.POSITIVE_INFINITY } = policy;
    const most = Math.max(maxRowsPerRun, Number(execution?.input['approveRows'] ?? 0));
    const { rowsToDelete = 0, method = 'delete' } = asked?.answer ?? {};
    if (method === 'delete' && rowsToDelete > most) return `${rowsToDelete} rows, at most ${most}`;
    if (cutoffMillis === whole) return undefined;
    const isLimited = policy.maxRowsPerRun !== undefined && cutoffMillis < whole && (whole - cutoffMillis) % hour === 0;
    return !isLimited && 'another cutoff';
  }),

  'neither far more rows than Plan counted are sent, nor in another way than it announced': ofSends(
    ({ sent, asked, before, execution }) => {
      const run = runOf(sent.invocation);
      const planned = before.findLast(
        (event) =>
          event.kind === 'dry-run' &&
          event.invocation.step === 'plan' &&
          event.index === sent.index &&
          runOf(event.invocation) === run &&
          event.fields.cutoffMillis === sent.fields.cutoffMillis &&
          event.answer !== undefined,
      );
      if (planned?.kind !== 'dry-run' || !planned.answer) return undefined;
      const { rowsToDelete: was, method } = planned.answer;
      const { rowsToDelete: now = 0 } = asked?.answer ?? {};
      if (asked?.answer && asked.answer.method !== method) return `a ${method} was announced`;
      const isApproved = now <= Number(execution?.input['approveRows'] ?? 0);
      return !isApproved && now - was > Math.max(10, was) && `${was} when the run began, ${now} now`;
    },
  ),

  'guards are judged by the last dry run': ofSends(({ sent, asked, policy }) => {
    const { runStartMillis, settings } = sent.invocation;
    const { clockSkewMillis = 0, method } = asked?.answer ?? {};
    if (Math.abs(clockSkewMillis) > 10 * minute) return `the clocks differ by ${clockSkewMillis} ms`;
    if (runStartMillis - sent.at > minute) return 'the run starts in the future';
    const present = Math.min(runStartMillis, sent.at, sent.at + clockSkewMillis + 10 * minute);
    if (present - sent.fields.cutoffMillis < settings.minRetentionDays * day) return 'the cutoff is too young';
    return policy?.refuseReindex && method === 'reindex' && 'its policy refuses reindexes';
  }),

  'threshold and ceiling hold in Plan': ofSends((send) => !isWorthIt(send) && 'no dry run of Plan makes it due'),

  'threshold and ceiling hold in the last dry run, unless it is of a limited part': ofSends((send) => {
    const { sent, asked, policy, execution } = send;
    const isLimited =
      policy && sent.fields.cutoffMillis !== sent.invocation.runStartMillis - policy.retentionDays * day;
    if (!policy || !asked?.answer || isLimited) return undefined;
    const { rowsToDelete, rowsTotal } = asked.answer;
    return !isDue(policy, rowsToDelete, rowsTotal, execution) && `${rowsToDelete} of ${rowsTotal} rows`;
  }),

  'the settings are read again just before': ofSends(({ sent, before, policy, now }) => {
    const paused = before.findLast(
      (event): event is Event<'settings'> =>
        event.kind === 'settings' && event.paused !== undefined && event.invocation.id === sent.invocation.id,
    );
    if (paused?.paused !== false) return 'the pause was not read, or it was on';
    return compared(now) !== compared(policy) && 'the policy is not the one that Plan decided on';
  }),

  'a reindex is sent only where statuses may be read': ofSends(({ sent, asked, before }) => {
    if (asked?.answer?.method !== 'reindex') return undefined;
    const run = runOf(sent.invocation);
    const isAnswered = before.some(
      (event) => event.kind === 'status' && runOf(event.invocation) === run && event.answer !== 'denied',
    );
    return !isAnswered && 'no status was asked for, or all were denied';
  }),

  'sending is in the ledger, and its time is not over': ofSends(({ sent }) => {
    const { at, record, invocation, fields } = sent;
    // It has been damaged since.
    if (record?.state === 'unreadable') return undefined;
    if (record?.state !== 'sending' || runOf(record.attempt) !== runOf(invocation)) return `it is ${record?.state}`;
    const { sendBy, judgeableAt, fields: written } = record.attempt;
    if (at >= sendBy) return `sent ${Math.round((at - sendBy) / 1000)} s after sendBy`;
    if (judgeableAt < sendBy + 10 * minute) return 'it may be judged before its function has ended';
    if (sendBy > invocation.endsAt - 2 * minute) return 'sendBy leaves no time for the answer';
    return JSON.stringify(written) !== JSON.stringify(fields) && 'other fields in the ledger';
  }),

  'at most one real truncate per index and run, and by no run older than the last sender': ofSends(
    ({ sent, before }) => {
      const { track, index } = sent;
      const later = tracksIn(before, index).find(
        ({ runStartMillis, sentAt }) => runStartMillis >= track.runStartMillis && runStartMillis <= sentAt + day,
      );
      return later && `${track.runId} sent after ${later.runId}`;
    },
  ),

  'none while another of the index is unresolved': ofSends(({ sent, before }) => {
    const last = before.findLast((event) => event.kind === 'truncate' && event.index === sent.index);
    const isClosed = before.some(
      (event) =>
        event.kind === 'ledger' &&
        event.next.index === sent.index &&
        !isUnresolved(event.next) &&
        event.at >= (last?.at ?? 0),
    );
    return last && !isClosed && 'the one before is unresolved';
  }),

  'never beside a reindex of ours that runs, or is still to be put in place': ofSends(({ sent, before }, history) => {
    const beside = sent.beside.find((track) => {
      const attempts = before.filter(
        (event): event is Event<'truncate'> => event.kind === 'truncate' && event.track === track,
      );
      // Only a reindex that was announced as one counts; the assumption about others is silent-reindex.
      const isKnown = attempts.some(
        ({ record }) => record?.state === 'sending' && record.attempt.announced === 'reindex',
      );
      // One that a person has released does not count; the assumption is released-reindex.
      const isAccepted = before.some(
        (event) =>
          event.kind === 'ledger' &&
          event.next.index === sent.index &&
          event.at >= track.sentAt &&
          releaseOf(history, event.invocation) !== undefined &&
          (releaseOf(history, event.invocation)?.['acceptMissing'] !== undefined || hasNoTask(history, event)),
      );
      const ofIndex = before.filter((event) => 'index' in event && event.index === sent.index);
      return isKnown && !isAccepted && !isHidden(track, ofIndex);
    });
    return beside && `the reindex of ${beside.runId} was at work`;
  }),

  'only an enforcing run sends': ofSends(({ sent, execution }, history) => {
    const isEnforcing = modeOf(history, sent.invocation) === 'enforce';
    return (!isEnforcing || 'release' in (execution?.input ?? {})) && 'sent by a run that may not';
  }),

  'nothing is sent after bad news of the same run': ofSends(({ sent, before }) => {
    const run = runOf(sent.invocation);
    for (const event of before) {
      if (event.kind !== 'taken' || runOf(event) !== run) continue;
      const bad = event.state.entries.find(
        (entry) => entry.phase === 'done' && !entry.decision && isBad(entry.record.lastVerdict.verdict),
      );
      if (bad) return `sent after ${bad.index} was ${bad.phase}`;
    }
    // Only what came before this function began: it cannot know what another function of its run does beside it, nor
    // what could not be recorded, was damaged since, or has given way to the truncation of another run.
    const known = before.filter(({ at }) => at <= sent.invocation.startedAt);
    const without = known.filter(
      (event) => event.kind === 'answered' && runOf(event.invocation) === run && !event.isTaskId,
    );
    const isLost = (index: string, since: number) =>
      known.some(
        (event) =>
          (event.kind === 'damaged' && event.index === index && event.at >= since) ||
          (event.kind === 'ledger' && event.next.index === index && event.at >= since && isOfAnother(event.next, run)),
      );
    // If one call began two functions, the execution has taken over what the other one decided.
    const state = known.findLast((event) => event.kind === 'taken' && runOf(event) === run);
    const isOverlooked = (index: string) =>
      state?.kind === 'taken' &&
      state.state.entries.some((entry) => entry.index === index && entry.phase === 'done' && entry.decision);
    const isRefused = known.some(
      (event) =>
        event.kind === 'ledger' &&
        !isLost(event.next.index, event.at) &&
        !isOverlooked(event.next.index) &&
        event.next.state === 'sending' &&
        runOf(event.next.attempt) === run &&
        [401, 403].includes(event.next.attempt.callError?.status ?? 0),
    );
    return (without.length >= 2 || isRefused) && `sent after ${without.length} calls without a task id`;
  }),

  'nothing is sent by a run that has found bad news which was not reported': ofSends(({ sent, before }, history) => {
    const run = runOf(sent.invocation);
    const listed = before.find((event) => event.kind === 'listed' && runOf(event.invocation) === run);
    const bad = unreportedAt(history, listed?.at ?? 0).find(({ last }) => last && isBad(last.verdict));
    return bad && `${bad.index} was judged by ${bad.by.runId}`;
  }),

  'a run that has given an index up does not send for it': ofSends(({ sent, before }) => {
    const run = runOf(sent.invocation);
    const isGivenUp = before.some(
      (event) =>
        event.kind === 'taken' &&
        runOf(event) === run &&
        event.state.entries.some(
          (entry) =>
            entry.index === sent.index && entry.phase === 'done' && entry.decision?.cause.kind === 'step-failed',
        ),
    );
    return isGivenUp && 'its Truncate had failed, and Poll had said so';
  }),
};

/** There is no task to ask, or the server does not know it any more. */
function hasNoTask(history: History, { at, previous, invocation }: Event<'ledger'>): boolean {
  if (!previous || !('taskId' in previous)) return true;
  const asked = ofCall(history, 'status', invocation).findLast((one) => one.taskId === previous.taskId && one.at <= at);
  return typeof asked?.answer === 'object' && asked.answer.kind === 'vanished';
}

const tracksIn = (events: Send['before'], index: string): Track[] =>
  events.flatMap((event) => (event.kind === 'truncate' && event.index === index ? [event.track] : []));

function isWorthIt({ sent, before, policy, execution }: Send): boolean {
  if (!policy) return true;
  const cutoffMillis = sent.invocation.runStartMillis - policy.retentionDays * day;
  return before.some((event) => {
    const isOfPlan = event.kind === 'dry-run' && event.invocation.step === 'plan';
    if (!isOfPlan || !event.answer || event.index !== sent.index) return false;
    if (runOf(event.invocation) !== runOf(sent.invocation) || event.fields.cutoffMillis !== cutoffMillis) return false;
    return isDue(policy, event.answer.rowsToDelete, event.answer.rowsTotal, execution);
  });
}

function isDue(
  { minDeletePercent, maxDeletePercent }: WrittenPolicy,
  rowsToDelete: number,
  rowsTotal: number,
  execution: Send['execution'],
): boolean {
  const approved = Number(execution?.input['approveRows'] ?? 0);
  const percent = (rowsToDelete / rowsTotal) * 100;
  const isBelow = maxDeletePercent === undefined ? percent < 100 : percent <= maxDeletePercent;
  return percent >= minDeletePercent && (isBelow || rowsToDelete <= approved);
}

/** Whether a record no longer says anything of this run's call. */
const isOfAnother = (record: StoredRecord, run: string): boolean =>
  record.state !== 'unreadable' && (record.attempt === undefined || runOf(record.attempt) !== run);

/** Rows are missing, or nobody knows what a reindex did. */
const isBad = ({ outcome, method }: { outcome: string; method?: string | undefined }): boolean =>
  outcome === 'rows-missing' || (outcome === 'unknown' && method === 'reindex');
