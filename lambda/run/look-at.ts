import { isForeign, type LedgerRecord } from '../ledger/record.ts';
import { OperationsError, type TaskCounters, type TaskStatus } from '../operations/operations.ts';
import { close, closedEntry } from './closing.ts';
import { countWindow, physicalIndex, type WindowCounts } from './counting.ts';
import { done, judgeableAt } from './entries.ts';
import { abandonAfterMillis, look as lookLimits, maxStatusFailures, refreshPatienceMillis } from './limits.ts';
import { isStill, noteMovement, noteProgress, planLook } from './looks.ts';
import type { RunServices } from './services.ts';
import type { Entry, WatchedEntry } from './state.ts';
import { type Evidence, judge } from './verdict.ts';

/**
 * One look at one unresolved truncation: by the task's status where the server lets us, by counts otherwise. A look
 * that fails changes nothing but the time of the next one.
 * @returns the entry: decided, or still watched
 */
export async function lookAt(entry: WatchedEntry, services: RunServices, signal: AbortSignal): Promise<Entry> {
  const stored = await services.ledger.read(entry.index);
  if (!stored)
    return done(
      entry,
      'unknown',
      'the ledger has lost its record of this truncation; look at the index and at its task',
    );
  if (isForeign(stored)) return done(entry, 'in-flight', `${stored.foreign}: left alone`);
  const closed = closedEntry(entry, stored);
  if (closed) return closed;
  if (stored.attempt?.attemptId !== entry.watch.attemptId || !stored.attempt.baseline) {
    return done(
      entry,
      'in-flight',
      'another run has closed this truncation and gone on with the index; see its report',
    );
  }
  const look: Look = { entry: structuredClone(entry), record: stored, services, signal, now: services.clock.now() };
  look.entry.watch.looks += 1;
  try {
    const result = await observe(look);
    delete look.entry.watch.lastFailure;
    return result ?? again(look);
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    look.entry.watch.lastFailure = error.message;
    services.log.warn('look failed', { index: entry.index, reason: error.message });
    return again(look);
  }
}

interface Look {
  /** A copy: what this look learns is noted here. */
  entry: WatchedEntry;
  record: LedgerRecord;
  services: RunServices;
  signal: AbortSignal;
  now: number;
}

/** @returns a decided entry, or undefined to go on watching */
async function observe(look: Look): Promise<Entry | undefined> {
  const { watch } = look.entry;
  const status = await readStatus(look);
  if (status?.kind === 'found') {
    noteCounters(look, status.counters);
    if (status.completed) watch.completedAt ??= look.services.clock.now();
    else if (watch.completedAt === undefined) return undefined; // a task that says it goes on is never still
  }
  if (watch.completedAt !== undefined) return verifyEnded(look, status);
  return watchByCounts(look);
}

async function readStatus({ entry: { watch }, record, services, signal }: Look): Promise<TaskStatus | undefined> {
  const { taskId, pollable } = record.attempt!;
  if (record.state !== 'running' || taskId === undefined || !pollable || watch.statusRefused) return undefined;
  try {
    const status = await services.operations.taskStatus(taskId, { signal });
    watch.vanished = status.kind === 'vanished';
    delete watch.statusFailures;
    return status;
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    const refused = ['bad-request', 'unauthorized', 'forbidden'].includes(error.kind);
    watch.statusFailures = (watch.statusFailures ?? 0) + 1;
    // A status that fails look after look (managed clusters forbid the tasks API with a 500) must not hide the end.
    const persistent = watch.statusFailures >= maxStatusFailures && !error.concernsServer && error.kind !== 'aborted';
    if (!refused && !persistent) throw error;
    if (refused) watch.statusRefused = true;
    services.log.warn('no status to go by, so counts are watched', { index: record.index, reason: error.message });
    return undefined;
  }
}

function noteCounters({ entry: { watch }, record, now }: Look, counters: TaskCounters): void {
  const { strategy, baseline } = record.attempt!;
  const { deleted = 0, created = 0, updated = 0, total } = counters;
  const rowsDone = strategy === 'delete-by-query' ? deleted : created + updated;
  const planned =
    strategy === 'delete-by-query' ? baseline!.rowsToDelete : baseline!.rowsTotal - baseline!.rowsToDelete;
  noteProgress(watch, rowsDone, total || planned, now);
  noteMovement(watch, { counter: rowsDone }, now);
}

/** The task has ended, which proves nothing: counts decide, after waiting for the search engine's refresh. */
async function verifyEnded(look: Look, status: TaskStatus | undefined): Promise<Entry | undefined> {
  const found = status?.kind === 'found' ? status : undefined;
  const { watch } = look.entry;
  // By the time before the counts: what they missed because no refresh had come is not made up for by a slow answer.
  const patient = look.services.clock.now() < watch.completedAt! + refreshPatienceMillis;
  const evidence = await gather(look, found?.counters);
  if (!evidence) return undefined;
  const judgement = judge(evidence);
  if (judgement.outcome !== 'truncated' && patient) return undefined;
  const runTime = found?.runTimeMillis;
  return close({ ...look, ...evidence, judgement, endedAt: runTime ? watch.startedAt + runTime : watch.completedAt! });
}

/**
 * No status to go by. Rows-to-delete tell of a delete by query; for a reindex only the kept rows do, because a swapped
 * alias shows "0 to delete" at once. It has ended only when it is still.
 */
async function watchByCounts(look: Look): Promise<Entry | undefined> {
  const { entry, record, services, signal } = look;
  const { watch } = entry;
  const attempt = record.attempt!;
  const baseline = attempt.baseline!;
  const badRequest = attempt.answer?.kind === 'bad-request';
  if (attempt.strategy === 'delete-by-query' && !badRequest) {
    const { rowsToDelete } = await services.operations.dryRun(attempt.fields, { signal });
    noteMovement(watch, { toDelete: rowsToDelete }, services.clock.now());
    noteProgress(watch, Math.max(0, baseline.rowsToDelete - rowsToDelete), baseline.rowsToDelete, look.now);
  } else {
    const evidence = await gather(look, undefined);
    if (!evidence) return undefined;
    if (badRequest && look.now >= attempt.answer!.receivedAt + refreshPatienceMillis && nothingChanged(evidence)) {
      const reason = `${attempt.answer!.reason}; nothing has changed since (same index, same counts)`;
      return close({ ...look, ...evidence, judgement: { outcome: 'failed', reason }, endedAt: look.now });
    }
    const { rowsKept, rowsToDelete } = evidence.after;
    noteMovement(watch, { kept: rowsKept, toDelete: rowsToDelete }, services.clock.now());
    noteProgress(watch, Math.min(rowsKept, baseline.rowsKept), baseline.rowsKept, look.now);
  }
  const lookedAt = services.clock.now();
  if (!isStill(watch, lookedAt, services.settings.maxRunHours) || lookedAt < judgeableAt(record)) return undefined;
  return judgeStill(look);
}

/** After a 400: the same physical index, which must be known, and no row gone. */
function nothingChanged({ attempt, after, indexName }: Evidence): boolean {
  const { baseline } = attempt;
  const sameIndex = indexName !== undefined && indexName === baseline.indexName;
  return sameIndex && after.rowsKept >= baseline.rowsKept && after.rowsToDelete >= baseline.rowsToDelete;
}

/** Nothing moves any more. Proven by counts it is closed; otherwise it stays unresolved until it is 20 h old. */
async function judgeStill(look: Look): Promise<Entry | undefined> {
  const { entry, record, services } = look;
  const evidence = await gather(look, undefined);
  if (!evidence) return undefined;
  const judgement = judge(evidence);
  const endedAt = entry.watch.movedAt ?? look.now;
  if (judgement.outcome !== 'incomplete') return close({ ...look, ...evidence, judgement, endedAt });
  const { baseline, answer, strategy, sendingSince = look.now } = record.attempt!;
  const outcome = entry.watch.vanished ? 'lost' : 'unknown';
  const left = `${evidence.after.rowsToDelete} of ${baseline!.rowsToDelete} rows to delete are still there and nothing moves`;
  const reason = entry.watch.vanished
    ? `the server no longer knows the task (a node of the search engine may have restarted); ${left}`
    : `${answer ? `${answer.reason}; ` : ''}a truncate may have started; ${left}`;
  if (services.clock.now() - sendingSince < abandonAfterMillis) {
    return done(
      entry,
      outcome,
      `${reason}; nothing is started for this index until a later run sees an end`,
      afterFields(evidence),
    );
  }
  const closing =
    strategy === 'delete-by-query'
      ? 'after 20 h this truncation is given up; the next run may truncate the index again'
      : 'after 20 h the index is quarantined until you have looked at it and cleared it';
  return close({ ...look, ...evidence, judgement: { outcome, reason: `${reason}; ${closing}` }, endedAt });
}

const afterFields = ({ attempt, after, indexName }: Evidence) => ({
  rowsDeleted: Math.max(0, attempt.baseline.rowsToDelete - after.rowsToDelete),
  rowsRemaining: after.rowsToDelete,
  ...(indexName !== undefined && { indexName }),
});

/** Counts again and asks for the physical index; undefined when the counts keep moving. */
async function gather(
  { record, services, signal }: Look,
  counters: TaskCounters | undefined,
): Promise<(Evidence & { after: WindowCounts; sizeMb: number | undefined }) | undefined> {
  const { operations } = services;
  const attempt = record.attempt! as Evidence['attempt'];
  const after = await countWindow(
    (fields) => operations.dryRun(fields, { signal }),
    attempt.fields,
    attempt.runStartMillis,
  );
  if (!after) return undefined;
  const sizes = await operations.indexSizes({ signal }).catch((error) => {
    if (error instanceof OperationsError) return undefined;
    throw error;
  });
  const size = physicalIndex(sizes, attempt.fields.entityType, attempt.fields.aspect);
  return {
    attempt,
    after,
    indexName: size?.indexName,
    sizeMb: size?.sizeMb,
    shrunkBefore: record.shrunkRows ?? 0,
    counters,
  };
}

function again({ entry, services }: Look): WatchedEntry {
  const now = services.clock.now();
  const { watch } = entry;
  const { seconds, early } =
    watch.completedAt === undefined ? planLook(watch, now) : refreshLook(watch.completedAt, now);
  if (early) watch.earlyLooks = (watch.earlyLooks ?? 0) + 1;
  watch.lastLookAt = now;
  watch.nextLookAt = now + seconds * 1000;
  return entry;
}

/** After the end, counts that a refresh has not shown yet: every 10 s while it may come, then ever more seldom. */
function refreshLook(completedAt: number, now: number): { seconds: number; early: boolean } {
  const patience = completedAt + refreshPatienceMillis - now;
  const seconds = Math.max(lookLimits.minSeconds, ((now - completedAt) / 1000) * lookLimits.share);
  return { seconds: patience > 0 ? Math.min(seconds, patience / 1000) : seconds, early: false };
}
