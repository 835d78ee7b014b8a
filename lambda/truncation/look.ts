import type { Clock } from '../facts/clock.ts';
import {
  abandonAfterMillis,
  maxClockSkewMillis,
  refreshPatienceMillis,
  refreshPatienceRealMillis,
  still,
} from '../facts/limits.ts';
import type { DecidedFacts, EntryFacts } from '../facts/report-schema.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { isUnresolved, mayBeJudged, type Unresolved } from '../ledger/record.ts';
import { adoptedIn, type Judgement, settle } from '../ledger/settle.ts';
import { seenToCopy } from '../ledger/transitions.ts';
import { taskKind } from '../operations/backend.ts';
import { type DryRun, type Operations, OperationsError, type TruncateFields } from '../operations/operations.ts';
import { sinceMillis, windowSince } from './gone-since.ts';
import { judge } from './judge.ts';
import { planLook, refreshLook } from './looks.ts';
import type { OptionalReads } from './optional-reads.ts';
import { type OwnTask, ownTask } from './origin.ts';
import { advances, fold, longestStillMillis, type Sighting, unseen, type Watch, type Watched } from './watch.ts';
import { type Counts, countWindows, isMissing, keptOf, physicalIndex } from './windows.ts';

/** One look at one unresolved truncation: see, fold, and if it can be judged, count again, judge, settle. */

export interface LookServices {
  operations: Operations;
  reads: OptionalReads;
  ledger: Ledger;
  clock: Clock;
  maxRunHours: number;
  signal: AbortSignal;
  log: { warn(message: string, fields?: Record<string, unknown>): void };
}

export interface Target {
  index: string;
  entry: EntryFacts;
  watch: Watch;
}

export type Looked = { kind: 'watching'; watch: Watch } | { kind: 'decided'; entry: DecidedFacts };

/**
 * A failed look proves nothing and does not count towards stillness. Throws LedgerError, and anything that is not an
 * OperationsError.
 * @param target `watch` is not changed
 */
export async function lookAt(target: Target, services: LookServices): Promise<Looked> {
  const { ledger, clock, log } = services;
  const { entry, watch } = target;
  const decided = (outcome: DecidedFacts['outcome'], cause: DecidedFacts['cause']): Looked => ({
    kind: 'decided',
    entry: { ...entry, outcome, cause },
  });
  const record = await ledger.read(target.index);
  if (!record) return decided('unknown', { kind: 'no-record' });
  // It may still be sent, or be running: it belongs to whoever wrote this record.
  if (record.state === 'other-version') return decided('still-running', { kind: 'watching', why: 'other-version' });
  if (record.lastVerdict?.attemptId === watch.attemptId) {
    return { kind: 'decided', entry: { ...record.lastVerdict.entry, ...adoptedIn(entry) } };
  }
  if (!isUnresolved(record) || record.attemptId !== watch.attemptId) {
    return decided('in-flight', { kind: 'taken', closed: true });
  }
  const counted = { ...watch, looks: watch.looks + 1 };
  try {
    return await look({ ...target, watch: counted }, record, services);
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    log.warn('look failed', { index: target.index, error: error.fact });
    const given = await giveUp({ ...target, watch: counted }, record, error, services);
    return given ?? again(unseen(counted, error.fact, clock.now()), services);
  }
}

async function look(target: Target, stored: Unresolved, services: LookServices): Promise<Looked> {
  const { clock, maxRunHours } = services;
  const watched = watchedOf(stored);
  const { clockIsWrong, rowsTotal, ...sighting } = await see(target.watch, stored, watched, services);
  const record = await withCopying(stored, { task: sighting.task, rowsTotal }, watched, services);
  // Stillness and age are measured by our clock: if the server's clock contradicts it, they prove nothing.
  if (clockIsWrong) return again(unseen(target.watch, undefined, clock.now()), services);
  const longestStill = longestStillMillis(maxRunHours);
  const { watch, step } = fold(target.watch, sighting, watched, longestStill);
  if (step === 'again') return again(watch, services);
  // A truncation that may still be sent is not judged.
  if (step === 'still' && !mayBeJudged(record, sighting.at)) return again(watch, services);
  const counted = await countAgain(record, services);
  if (!counted) return again(watch, services);
  const { after, indexGone } = counted;
  const kept = keptOf(after.windows)?.rows;
  const { rowsToDelete: toDelete } = after;
  if (step === 'still') {
    // It may have made progress between the two counts.
    const seenAt = clock.now();
    const keptSeen = watch.highestKept === undefined ? {} : { kept };
    const later = { at: seenAt, seenAt, realAt: clock.realNow(), task: undefined, vanished: watch.vanished ?? false };
    const once = fold(watch, { ...later, toDelete, ...keptSeen }, watched, longestStill);
    if (once.watch.movedAt !== watch.movedAt) return again(once.watch, services);
  }
  const judgement = judge({
    record,
    after,
    indexGone,
    ...(await physical(record, services)),
    task: sighting.task,
    end: step === 'ended' ? 'task' : step,
    vanished: watch.vanished ?? false,
    lowestToDelete: watch.lowestToDelete,
    lastMovedAt: watch.movedAt,
    startedAt: watch.startedAt,
    endedAt: endOf(watch, sighting.task, step === 'ended'),
    now: clock.now(),
  });
  // For a task that reports its own end nothing was counted before; giving up because of age depends on this clock as
  // well.
  const isGivenUp = judgement.outcome === 'unknown' || judgement.outcome === 'lost';
  if (isGivenUp && Math.abs(after.dryRun.clockSkewMillis ?? 0) > maxClockSkewMillis) return again(watch, services);
  const noted: Watch = { ...watch, lowestToDelete: Math.min(toDelete, watch.lowestToDelete ?? toDelete) };
  if (
    step === 'ended' &&
    (goesOn(judgement, sighting.task) || !isFinal(judgement, watch, { toDelete, kept }, services))
  ) {
    return again(grown(noted, kept, clock.now()), services);
  }
  const since = await countedSince(judgement, record, after, services);
  const settled = await settle(services.ledger, record, target.entry, { ...judgement, ...since }, clock.now());
  if (settled.kind === 'overtaken') return again(noted, services);
  return { kind: 'decided', entry: settled.entry };
}

/**
 * The server reindexes although it was asked to delete: its task copies, or the index holds fewer rows than should stay,
 * which no deletion of older rows explains. Recorded at once: late rows may have refilled the index by the time of the verdict.
 */
async function withCopying(
  record: Unresolved,
  { task, rowsTotal }: { task: OwnTask | undefined; rowsTotal: number | undefined },
  { rowsKept }: Watched,
  { ledger }: LookServices,
): Promise<Unresolved> {
  const { strategy, copies } = record.attempt;
  if (strategy !== 'delete-by-query' || copies) return record;
  const isEmptied = rowsTotal !== undefined && isMissing(rowsKept - rowsTotal, rowsKept);
  if (task?.works !== 'reindex' && !isEmptied) return record;
  const noted = seenToCopy(record);
  return (await ledger.replace(record, noted)) ? noted : record;
}

/** What a look can see cheaply: the task's status if the server allows it, counts if that shows no progress. */
export async function see(
  watch: Watch,
  record: Unresolved,
  watched: Watched,
  services: LookServices,
): Promise<Sighting & { clockIsWrong: boolean; rowsTotal?: number }> {
  const { clock } = services;
  const status = await statusOf(record, services);
  const task = status && ownTask(status, record, clock.now());
  const at = clock.now();
  const isRunning = task !== undefined && !task.completed;
  const isClear = task?.completed || (isRunning && advances(watch, task, watched));
  const { clockSkewMillis = 0, ...counts } = isClear ? {} : await count(record, services);
  return {
    clockIsWrong: Math.abs(clockSkewMillis) > maxClockSkewMillis,
    at,
    seenAt: clock.now(),
    realAt: clock.realNow(),
    task,
    // Another task's status is as good as none.
    vanished: status !== undefined && task === undefined,
    ...counts,
  };
}

async function statusOf({ state, attempt }: Unresolved, { reads, signal }: LookServices) {
  if (state !== 'running' || taskKind(attempt.taskId) !== 'search-engine') return undefined;
  // Without a status a reindex cannot be proven.
  return reads.status(attempt.taskId, { signal, insist: mayCopy(attempt) });
}

/** A truncation that is, or turned out to be, or may be a reindex. */
const mayCopy = ({ strategy, copies }: Unresolved['attempt']): boolean =>
  strategy !== 'delete-by-query' || copies === true;

/**
 * Rows to delete show the progress of a delete by query; for a reindex only the kept rows do, because a swapped alias
 * shows 0 to delete at once.
 */
async function count(
  record: Unresolved,
  services: LookServices,
): Promise<Pick<Sighting, 'toDelete' | 'kept'> & Pick<DryRun, 'clockSkewMillis' | 'rowsTotal'>> {
  const { fields, runStartMillis } = record.attempt;
  const ask = asker(services);
  const { rowsToDelete: toDelete, rowsTotal, clockSkewMillis } = await ask(fields);
  const seen = { rowsTotal, ...(clockSkewMillis !== undefined && { clockSkewMillis }) };
  if (!mayCopy(record.attempt)) return { toDelete, ...seen };
  const upToStart = await ask({ ...fields, endTimeMillis: runStartMillis });
  return { toDelete, kept: Math.max(0, upToStart.rowsToDelete - toDelete), ...seen };
}

/** A missing index holds no rows: that is an answer, and shows in every count. */
const asker =
  ({ operations, signal }: LookServices, onGone: () => void = () => {}) =>
  async (fields: TruncateFields): Promise<DryRun> => {
    try {
      return await operations.dryRun(fields, { signal });
    } catch (error) {
      if (!(error instanceof OperationsError) || error.fact.kind !== 'no-index') throw error;
      onGone();
      return { rowsToDelete: 0, rowsTotal: 0 };
    }
  };

export async function countAgain(
  { attempt, windows }: Unresolved,
  services: LookServices,
): Promise<{ after: Counts; indexGone: boolean } | undefined> {
  let indexGone = false;
  const ask = asker(services, () => {
    indexGone = true;
  });
  const after = await countWindows(ask, attempt.fields, windows, attempt.strategy !== 'delete-by-query');
  // These are two counts, not one snapshot: with more rows to delete than there are, neither can be trusted now.
  return after && after.rowsToDelete <= after.rowsTotal ? { after, indexGone } : undefined;
}

/** What the next nights compare with; omitted if it cannot be counted, because the verdict is valid without it. */
async function countedSince(
  { closes }: Judgement,
  { attempt }: Unresolved,
  after: Counts,
  services: LookServices,
): Promise<Pick<Judgement, 'window'>> {
  if (closes !== 'idle') return {};
  try {
    const older = await asker(services)({ ...attempt.fields, endTimeMillis: sinceMillis(attempt) });
    const window = windowSince(attempt, after, older);
    return window ? { window } : {};
  } catch (error) {
    if (error instanceof OperationsError) return {};
    throw error;
  }
}

async function physical(record: Unresolved, { reads, signal }: LookServices) {
  const size = physicalIndex(await reads.sizes({ signal }), record.attempt.fields);
  return { indexName: size?.indexName, sizeMb: size?.sizeMb };
}

/** With rows left to delete, a status that says it goes on is right. */
export const goesOn = ({ outcome }: Judgement, task: OwnTask | undefined): boolean =>
  outcome === 'incomplete' && task?.completed === false;

/** A bad result may still turn good with the next refresh, or while another process is deleting or copying. */
export function isFinal(
  { outcome, cause }: Judgement,
  watch: Watch,
  { toDelete, kept = 0 }: { toDelete: number; kept: number | undefined },
  { clock, maxRunHours }: LookServices,
): boolean {
  if (outcome === 'truncated') return true;
  const { completedAt = 0, completedRealAt = 0, lowestToDelete, highestKept } = watch;
  if (clock.now() < completedAt + refreshPatienceMillis) return false;
  if (clock.realNow() < completedRealAt + refreshPatienceRealMillis) return false;
  if (outcome === 'incomplete') return lowestToDelete === undefined || toDelete >= lowestToDelete;
  if (!('movedBy' in cause) || cause.movedBy !== 'others') return true;
  // Late-arriving rows would also keep this open, so there is a time limit.
  const since = clock.now() - Math.max(completedAt, watch.movedAt ?? 0);
  const isCopying = highestKept === undefined || kept > highestKept || since < still.minMillis;
  return !isCopying || clock.now() >= completedAt + longestStillMillis(maxRunHours);
}

/** Rows that a copy has added since the previous look. */
function grown(watch: Watch, kept: number | undefined, now: number): Watch {
  if (kept === undefined || kept <= (watch.highestKept ?? -1)) return watch;
  return { ...watch, highestKept: kept, movedAt: now };
}

/** When it ended, as far as known; if its status never says so, when progress was last seen. */
function endOf(watch: Watch, task: OwnTask | undefined, ended: boolean): number {
  if (!ended || task?.completed === false) return watch.movedAt ?? watch.lastLookAt;
  const runTime = task?.runTimeMillis;
  return runTime !== undefined ? watch.startedAt + runTime : (watch.completedAt ?? watch.lastLookAt);
}

export function watchedOf({ attempt, windows }: Unresolved): Watched {
  return {
    strategy: attempt.strategy,
    rowsToDelete: attempt.baseline.rowsToDelete,
    rowsKept: keptOf(windows)?.rows ?? 0,
  };
}

/**
 * An index that can no longer be counted would keep its record unresolved forever: once the record is 20 h old and no
 * look of this run has succeeded for as long as stillness may take, an operator has to look.
 */
export async function giveUp(
  { entry, watch }: Target,
  record: Unresolved,
  error: OperationsError,
  { clock, ledger, maxRunHours }: LookServices,
): Promise<Looked | undefined> {
  const now = clock.now();
  if (now - record.attempt.sendingSince < abandonAfterMillis) return undefined;
  if (now - watch.succeededAt < longestStillMillis(maxRunHours)) return undefined;
  const cause = { kind: 'blind', error: error.fact } as const;
  const judgement: Judgement = { outcome: 'unknown', cause, facts: {}, closes: 'quarantined' };
  const settled = await settle(ledger, record, entry, judgement, now);
  return settled.kind === 'decided' ? settled : undefined;
}

function again(watch: Watch, { clock, maxRunHours }: LookServices): Looked {
  const now = clock.now();
  const { seconds, early } =
    watch.completedAt === undefined ? planLook(watch, now) : refreshLook(watch.completedAt, now);
  // A short run needs three looks to see that an old truncation is still: its first may have counted nothing.
  const longest = longestStillMillis(maxRunHours) / 2;
  const next: Watch = {
    ...watch,
    ...(early && { earlyLooks: (watch.earlyLooks ?? 0) + 1 }),
    lastLookAt: now,
    nextLookAt: now + Math.min(seconds * 1000, longest),
  };
  return { kind: 'watching', watch: next };
}
