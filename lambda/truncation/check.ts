import { isDeepStrictEqual } from 'node:util';
import { asResult, type Operations } from '../gms/operations.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { overdueAfterMillis } from '../ledger/ownership.ts';
import { isUnresolved, type RunId, type StoredRecord, type Unresolved, type Verdict } from '../ledger/record.ts';
import { isSameRun, recordStatus, recordVerdict } from '../ledger/transitions.ts';
import { concernsServer, type ServerError } from '../model/server-error.ts';
import type { Clock } from './clock.ts';
import { countTruncation, countWindow, dryRunnerOf, type TruncationCounts } from './counts.ts';
import { isFinal, judge, judgeUncountable, stateAfter } from './judge.ts';
import { nextCheckAt } from './next-check.ts';
import { physicalIndex, readSizes } from './sizes.ts';
import { endCounters, hasEnded, hasHigherCounter, methodShown, type Observation, reduce, type Watch } from './watch.ts';

export interface CheckServices {
  operations: Operations;
  ledger: Ledger;
  clock: Pick<Clock, 'now'>;
  signal: AbortSignal;
  run: RunId;
  /** This is the run's last check, at the end of its time or of its polls. */
  isLastCheck(now: number): boolean;
}

type CheckResult =
  | { kind: 'watching'; record: Unresolved; watch: Watch }
  /**
   * The record as it is now: it has this truncation's verdict, or no longer holds this truncation, whichever run wrote
   * it.
   */
  | { kind: 'resolved'; record: StoredRecord | undefined };

/**
 * Checks once, and records the verdict if the truncation has ended. Throws LedgerError, but never because of the server.
 */
export async function check(record: Unresolved, watch: Watch, services: CheckServices): Promise<CheckResult> {
  const { clock, ledger, isLastCheck } = services;
  const observation = await observe(record, watch, services);
  const updated = withStatus(record, observation, watch);
  if (updated !== record && !(await ledger.replace(updated))) return keepWatching(record, watch, clock.now());
  const after = reduce(watch, observation, updated.attempt);
  if (observation.error && !observation.counts)
    return checkFailed(updated, { ...after, lastCheckAt: clock.now() }, services);
  // A truncation too old to wait for is judged at the run's end by what can be counted.
  const isOverdue = isLastCheck(clock.now()) && isOld(record, services) && after.isStuck === true;
  const { counts } = observation;
  if (!counts || !(isOverdue || hasEnded(after, observation, updated))) {
    return keepWatching(updated, { ...after, pending: undefined }, clock.now());
  }
  const verdict = judge(updated, after, counts);
  const pending = agreement(after, verdict, observation.until);
  if (!isFinal(verdict, { ...observation, counts }, { before: watch, agreesSince: pending.since, isOverdue })) {
    return keepWatching(updated, { ...after, pending }, clock.now());
  }
  return resolve(updated, { ...after, pending }, withDuration(verdict, after, observation), services, counts);
}

/** The record with what this check's status has shown; the same record if that is nothing new. */
function withStatus(record: Unresolved, observation: Observation, watch: Watch): Unresolved {
  const { attempt } = record;
  const method = methodShown(record, observation, watch.hasWritten ?? false);
  // The verdict of a delete needs counts alone.
  const end = method === 'reindex' ? (endCounters(observation.status) ?? attempt.end) : attempt.end;
  const isKnown = method === attempt.method && isDeepStrictEqual(end, attempt.end);
  return isKnown ? record : recordStatus(record, { method, end });
}

/**
 * Asks in this order: the task's status, rows to delete, the end of the rows to keep. A status that says running, with
 * a higher counter, completes the check, unless it is the run's last. A failed check carries its error.
 */
async function observe(record: Unresolved, watch: Watch, services: CheckServices): Promise<Observation> {
  const { clock, isLastCheck } = services;
  const at = clock.now();
  const { status, statusError, failure } = await readStatus(record, watch, services);
  if (failure && (concernsServer(failure) || failure.kind === 'aborted'))
    return { at, until: clock.now(), error: failure };
  // A run's last check always counts: its report must not show numbers that are hours old.
  if (hasHigherCounter(watch, status) && !isLastCheck(at)) return { at, until: clock.now(), status };
  const { attempt } = record;
  const { countedAtMillis } = attempt.baseline;
  const counted = await asResult(() => countTruncation(dryRunnerOf(services), { ...attempt, countedAtMillis }));
  const until = clock.now();
  if (counted.kind === 'failed') return { at, until, status, statusError, error: counted.error };
  return { at, until, status, statusError, counts: counted.value, error: failure };
}

type StatusRead = Pick<Observation, 'status' | 'statusError'> & { failure?: ServerError };

/**
 * The task's status, if there is a task. Asked each time: an expired token or a gateway refuses once, and the next
 * answer may say that the task runs.
 */
async function readStatus(
  record: Unresolved,
  { hasStatus }: Watch,
  { operations, signal }: CheckServices,
): Promise<StatusRead> {
  if (record.state !== 'running') return {};
  const asked = await asResult(() => operations.taskStatus(record.taskId, { signal, attempts: 1 }));
  if (asked.kind === 'done') return { status: asked.value };
  // Where a status was read before, a failure is no sign that nothing runs.
  return hasStatus || asked.error.kind === 'aborted' ? { failure: asked.error } : { statusError: asked.error };
}

const keepWatching = (record: Unresolved, watch: Watch, now: number): CheckResult => ({
  kind: 'watching',
  record,
  watch: { ...watch, nextCheckAt: nextCheckAt(record, watch, now) },
});

/** The verdict that waits for a second check to agree: the one before, or a new one. */
function agreement({ pending }: Watch, { outcome: verdict }: Verdict, since: number): NonNullable<Watch['pending']> {
  return pending?.verdict === verdict ? pending : { verdict, since };
}

/** Whether this run started after the call, and the call was sent at least 20 h ago (rule 10). */
const isOld = ({ attempt: { sendingSince } }: Unresolved, { run, clock }: CheckServices): boolean =>
  run.runStartMillis > sendingSince && clock.now() - sendingSince >= overdueAfterMillis;

/**
 * An index that can no longer be counted would keep its record unresolved forever: an old one is judged at the run's
 * end, if this run has seen nothing of it or seen it stuck, and the server answers at all.
 */
async function checkFailed(record: Unresolved, watch: Watch, services: CheckServices): Promise<CheckResult> {
  const now = services.clock.now();
  const { error, noOwnProgressSince, isStuck } = watch;
  const isCount = error?.operation === 'dry-run' && !concernsServer(error) && error.kind !== 'aborted';
  const mayProgress = noOwnProgressSince !== undefined && !isStuck;
  if (!isCount || mayProgress || !services.isLastCheck(now) || !isOld(record, services))
    return keepWatching(record, watch, now);
  return resolve(record, watch, judgeUncountable(record, watch), services);
}

/** @param counts of the check; undefined where nothing could be counted */
async function resolve(
  record: Unresolved,
  watch: Watch,
  judged: Verdict,
  services: CheckServices,
  counts?: TruncationCounts,
): Promise<CheckResult> {
  const { ledger, clock, run } = services;
  const state = stateAfter(judged);
  const verdict = { ...judged, ...(await indexAfter(record, services)) };
  const window = state === 'idle' && counts ? await nextWindow(record, counts, services) : undefined;
  const now = clock.now();
  const resolved = recordVerdict(record, verdict, { state, window, decided: { ...run, atMillis: now } });
  if (await ledger.replace(resolved)) return { kind: 'resolved', record: resolved };
  const stored = await ledger.read(record.index);
  // The other writer has only fenced a run off, or recorded what a status has shown: there is no verdict yet.
  const isUnresolvedStill = stored !== undefined && isUnresolved(stored) && isSameRun(stored.attempt, record.attempt);
  return isUnresolvedStill ? keepWatching(stored, watch, now) : { kind: 'resolved', record: stored };
}

async function nextWindow({ attempt }: Unresolved, counts: TruncationCounts, services: CheckServices) {
  const counted = await asResult(() => countWindow(dryRunnerOf(services), attempt, counts, services.clock.now()));
  return counted.kind === 'done' ? counted.value : undefined;
}

/** For the entry alone: no verdict depends on it. */
async function indexAfter({ attempt }: Unresolved, services: CheckServices): Promise<Pick<Verdict, 'indexNow'>> {
  const { indexName } = attempt.baseline;
  if (indexName === undefined) return { indexNow: undefined };
  const index = physicalIndex(await readSizes(services.operations, services.signal), attempt.fields);
  return { indexNow: index === undefined || index.indexName === indexName ? undefined : index.indexName };
}

/** From the call to the end, as far as the run saw it. */
function withDuration(verdict: Verdict, { sentAt }: Watch, { at, status }: Observation): Verdict {
  const age = at - sentAt;
  const runTime = status?.kind === 'found' && status.completed ? status.runTimeMillis : undefined;
  // Whatever the server says, no task has run for longer than the time since its request.
  return { ...verdict, durationSeconds: Math.round(Math.min(runTime ?? age, age) / 1000) };
}
