import {
  abandonAfterMillis,
  look as lookLimits,
  maxStatusFailures,
  refreshPatienceMillis,
  refreshPatienceRealMillis,
} from '../facts/limits.ts';
import { isForeign } from '../ledger/record.ts';
import { quarantine } from '../ledger/transitions.ts';
import { OperationsError, type TaskCounters, type TaskStatus } from '../operations/operations.ts';
import { closedByOthers, done } from '../run/entries.ts';
import type { RunServices } from '../run/services.ts';
import type { Entry, WatchedEntry } from '../run/state.ts';
import { close, closedEntry } from './closing.ts';
import { gather, type Look } from './evidence.ts';
import { longestStillMillis, noteMovement, noteProgress, planLook } from './looks.ts';
import { judge } from './verdict.ts';
import { watchByCounts } from './watch-by-counts.ts';

/**
 * One look at one unresolved truncation: by the task's status where the server lets us, by counts otherwise. A look
 * that fails proves nothing and counts for no stillness.
 * @returns the entry: decided, or still watched
 */
export async function lookAt(entry: WatchedEntry, services: RunServices, signal: AbortSignal): Promise<Entry> {
  const stored = await services.ledger.read(entry.index);
  if (!stored) return done(entry, 'unknown', noRecord);
  // It may still be sent, or be at work: whoever wrote this goes on with it.
  if (isForeign(stored)) return done(entry, 'still-running', `${stored.foreign}: this run watches it no longer`);
  const closed = closedEntry(entry, stored);
  if (closed) return closed;
  if (stored.attempt?.attemptId !== entry.watch.attemptId || !stored.attempt.baseline) {
    return done(entry, 'in-flight', closedByOthers);
  }
  const look: Look = { entry: structuredClone(entry), record: stored, services, signal, now: services.clock.now() };
  look.entry.watch.looks += 1;
  try {
    const result = await observe(look);
    delete look.entry.watch.lastFailure;
    look.entry.watch.succeededAt = services.clock.now();
    return result ?? again(look);
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    services.log.warn('look failed', { index: entry.index, reason: error.message });
    return (await giveUp(look, error)) ?? again(withoutStillness(look, error));
  }
}

const noRecord = 'the ledger has lost its record of this truncation; look at the index and at its task';

/** @returns a decided entry, or undefined to go on watching */
async function observe(look: Look): Promise<Entry | undefined> {
  const { watch } = look.entry;
  const status = await readStatus(look);
  if (status?.kind === 'found') {
    noteCounters(look, status.counters);
    if (status.completed) {
      watch.completedAt ??= look.services.clock.now();
      watch.completedRealAt ??= look.services.clock.realNow();
    } else if (watch.completedAt === undefined) {
      // A task that says it goes on is never still: whatever stood still before has to stand still anew.
      watch.movedAt = look.services.clock.now();
      return undefined;
    }
  }
  if (watch.completedAt !== undefined) return verifyEnded(look, status);
  return watchByCounts(look);
}

/** Asked at every look, also after a refusal or a failure: what was refused once may be answered the next time. */
async function readStatus({ entry: { watch }, record, services, signal }: Look): Promise<TaskStatus | undefined> {
  const { taskId, pollable } = record.attempt!;
  if (record.state !== 'running' || taskId === undefined || !pollable) return undefined;
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
  const { clock } = look.services;
  const patient =
    clock.now() < watch.completedAt! + refreshPatienceMillis ||
    clock.realNow() < (watch.completedRealAt ?? 0) + refreshPatienceRealMillis;
  const evidence = await gather(look, found?.counters);
  if (!evidence) return undefined;
  const judgement = judge(evidence);
  if (judgement.outcome !== 'truncated' && patient) return undefined;
  const runTime = found?.runTimeMillis;
  return close({ ...look, ...evidence, judgement, endedAt: runTime ? watch.startedAt + runTime : watch.completedAt! });
}

/** Time in which nothing could be seen is not time in which nothing moved. */
function withoutStillness(look: Look, error: OperationsError): Look {
  const { watch } = look.entry;
  watch.lastFailure = error.message;
  if (watch.movedAt !== undefined) watch.movedAt += look.services.clock.now() - watch.lastLookAt;
  return look;
}

/**
 * An index that cannot be counted any more (deleted, or its privilege withdrawn) would keep its record unresolved for
 * ever: when that is 20 h old and no look of this run has succeeded for as long as stillness may take, a person has to look.
 */
async function giveUp({ entry, record, services, now }: Look, error: OperationsError): Promise<Entry | undefined> {
  const { settings, clock, ledger } = services;
  const { attemptId, runId, sendingSince = now } = record.attempt!;
  const blindSince = entry.watch.succeededAt ?? now;
  if (clock.now() - sendingSince < abandonAfterMillis) return undefined;
  if (clock.now() - blindSince < longestStillMillis(settings.maxRunHours)) return undefined;
  const reason = `a truncate may have started, and the index cannot be counted any more (${error.message}); after 20 h it is quarantined until you have looked at it and cleared it`;
  const { entry: reported, ...rest } = done(entry, 'unknown', reason);
  const { adopted: _, ...lasting } = reported;
  const verdict = { attemptId, runId, decidedAt: clock.now(), entry: lasting };
  if (!(await ledger.replace(record, quarantine(record, verdict)))) return undefined;
  return { ...rest, entry: reported };
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
