import { abandonAfterMillis } from '../facts/limits.ts';
import type { DecidedFacts, EntryFacts } from '../facts/report-schema.ts';
import { isUnresolved, type Unresolved } from '../ledger/record.ts';
import { adoptedIn, settle } from '../ledger/settle.ts';
import { standing } from '../ledger/standing.ts';
import { seenToCopy } from '../ledger/transitions.ts';
import { taskKind } from '../operations/backend.ts';
import { OperationsError } from '../operations/operations.ts';
import { copyingSeen, mayHaveCopied } from './copied.ts';
import { isFinal } from './final.ts';
import { type Evidence, judge, judgeUncountable, type Uncountable } from './judge.ts';
import { planLook, refreshLook } from './next-look.ts';
import { ownTask } from './own-task.ts';
import {
  clocksAgree,
  countAll,
  countProgress,
  countSince,
  type LookServices,
  type Seen,
  serverAnswers,
} from './see.ts';
import { advances, fold, longestStillMillis, mayEnd, unseen, untimed, type Watch, type Watched } from './watch.ts';
import { keptOf } from './windows.ts';

/**
 * One look at one unresolved truncation: see, fold, and, if it can be judged, judge and settle.
 *
 * A look asks only for what it needs to see whether something changes: the task's status, then counts if that is not
 * enough. Only a look that may end the watch counts every window. The sighting is folded into the watch once, and
 * judged at most once.
 */

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
  const { ledger, log } = services;
  const { entry, watch } = target;
  const decided = (outcome: DecidedFacts['outcome'], cause: DecidedFacts['cause']): Looked => ({
    kind: 'decided',
    entry: { ...entry, outcome, cause },
  });
  const record = await ledger.read(target.index);
  if (!record) return decided('unknown', { kind: 'unsettled', why: 'no-record', copied: true });
  const stands = standing(record, services.run, services.clock.now());
  if (stands.kind === 'foreign') return decided(stands.outcome, stands.cause);
  const verdict = record.state === 'other-version' ? undefined : record.lastVerdict;
  if (verdict?.attemptId === watch.attemptId) {
    return { kind: 'decided', entry: { ...verdict.entry, ...adoptedIn(entry) } };
  }
  if (!isUnresolved(record) || record.attemptId !== watch.attemptId) {
    return decided('in-flight', { kind: 'held', state: 'closed' });
  }
  const watched = { ...target, watch: { ...watch, looks: watch.looks + 1 } };
  try {
    return await look(watched, record, services);
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    log.warn('look failed', { index: target.index, error: error.fact });
    return await lookFailed(watched, record, error, services);
  }
}

async function look(target: Target, stored: Unresolved, services: LookServices): Promise<Looked> {
  const { entry, watch: before } = target;
  const { ledger, clock, maxRunHours } = services;
  const seen = await sightingOf(before, stored, services);
  // Our clock measures stillness and age: if the server's clock contradicts it, or it went back, a look proves neither.
  const isTimed = clocksAgree(seen) && seen.seenAt >= seen.at;
  if (!isTimed) return again(untimed(before, seen, clock.now()), services);
  const record = await withCopying(stored, seen, services);
  const watched = watchedOf(record, services, seen.at);
  const { watch, end } = fold(before, seen, watched);
  if (end === undefined) return again(watch, services);
  // What has just turned out to copy was not counted row by row.
  const wasTolerant = mayHaveCopied(record) && !mayHaveCopied(stored);
  const { all } = wasTolerant ? await countAll(record, services) : seen;
  if (all === undefined) {
    const isLast = watched.isLastLook && !watch.rose?.counter;
    if (!isLast) return again(watch, services);
    const others = await serverAnswers(record, services);
    const known = { task: seen.task, indexName: others?.indexName };
    return (await closeUncountable({ ...target, watch }, record, known, services)) ?? again(watch, services);
  }
  const evidence: Evidence = {
    record,
    watch,
    end,
    ...all,
    task: seen.task,
    vanished: seen.vanished,
    isOld: isOld(record.attempt.sendingSince, services, seen.at),
    copied: mayHaveCopied(record, { task: seen.task, indexName: all.indexName, isCounted: true }),
  };
  const judgement = judge(evidence);
  if (!isFinal(judgement, evidence, before, clock, maxRunHours)) return again(watch, services);
  const since = await countSince(judgement, record, evidence.after, services);
  const settled = await settle(ledger, record, entry, { ...judgement, ...since }, clock.now());
  return settled.kind === 'decided' ? settled : again(watch, services);
}

/** What shows whether something changes; everything, if this look may end the watch. */
async function sightingOf(watch: Watch, record: Unresolved, services: LookServices): Promise<Seen> {
  const { clock } = services;
  const status = await statusOf(record, services);
  const task = status && ownTask(status, record, clock.now());
  // Another task's status is useless.
  const known = {
    at: clock.now(),
    realAt: clock.realNow(),
    task,
    vanished: status !== undefined && task === undefined,
  };
  const done = () => ({ seenAt: clock.now(), realAt: clock.realNow() });
  if (mayEnd(watch, known, watchedOf(record, services, known.at))) {
    const counts = await countAll(record, services);
    // After its end, rows that still arrive show that another process is copying (`isFinal`).
    const isKeptShown = mayHaveCopied(record) || watch.completedAt !== undefined;
    return { ...known, ...counts, ...(isKeptShown && keptIn(counts)), ...done() };
  }
  const counts = task && advances(watch, task) ? {} : await countProgress(record, services);
  return { ...known, ...counts, ...done() };
}

const keptIn = ({ all }: Pick<Seen, 'all'>) => (all ? { kept: keptOf(all.after.windows)?.rows } : {});

async function statusOf(record: Unresolved, { reads, run, clock, signal }: LookServices) {
  if (record.state !== 'running' || taskKind(record.attempt.taskId) !== 'search-engine') return undefined;
  try {
    // Without a status a copy cannot be proven.
    return await reads.status(record.attempt.taskId, { signal, insist: mayHaveCopied(record) });
  } catch (error) {
    // No later look of this run asks again, so counts decide.
    if (!(error instanceof OperationsError) || !run.isOver(clock.now())) throw error;
    return undefined;
  }
}

/** Recorded at once: by the time of the verdict, late rows may have refilled the index, or its status may be gone. */
async function withCopying(
  record: Unresolved,
  { task, rowsTotal, all }: Seen,
  { ledger }: LookServices,
): Promise<Unresolved> {
  const copied = copyingSeen(record, { task, rowsTotal, indexName: all?.indexName });
  if (copied === undefined) return record;
  const noted = seenToCopy(record, copied);
  return (await ledger.replace(record, noted)) ? noted : record;
}

/** @param now epoch milliseconds: one reading for the whole look */
export function watchedOf(record: Unresolved, services: LookServices, now: number): Watched {
  const { run, maxRunHours } = services;
  return {
    mayHaveCopied: mayHaveCopied(record),
    rowsToDelete: record.attempt.baseline.rowsToDelete,
    rowsKept: keptOf(record.windows)?.rows ?? 0,
    judgeableAt: record.judgeableAt,
    longestStill: longestStillMillis(maxRunHours),
    isLastLook: run.isOver(now) && isOld(record.attempt.sendingSince, services, now),
  };
}

/**
 * Every run that starts 20 h or more after the call closes what it finds still, hung or uncountable. A start in the
 * future means nothing: such a run began now.
 */
export const isOld = (sendingSince: number, { run }: Pick<LookServices, 'run'>, now: number): boolean =>
  Math.min(run.runStartMillis, now) - sendingSince >= abandonAfterMillis;

/**
 * An index that can no longer be counted would keep its record unresolved forever: an old one is closed once no look of
 * this run has succeeded for as long as stillness may take, although the server answers about other things.
 */
async function lookFailed(
  target: Target,
  record: Unresolved,
  error: OperationsError,
  services: LookServices,
): Promise<Looked> {
  const { clock, maxRunHours, run } = services;
  const { watch } = target;
  const { fact } = error;
  const isTooOld = (now: number): boolean => {
    const isLong = run.isOver(now) || now - watch.succeededAt >= longestStillMillis(maxRunHours);
    return isLong && isOld(record.attempt.sendingSince, services, now);
  };
  // A status or sizes that failed say nothing about counts, and a task that has made progress in this run is not given up.
  const isCount = fact.operation === 'dry-run' && !watch.rose?.counter;
  if (isCount && clocksAgree(error) && isTooOld(clock.now())) {
    const others = await serverAnswers(record, services);
    // Another count may have shown that our clock is right now, not that it was before.
    const isConfirmed = others && isTooOld(clock.now());
    const closed = isConfirmed && (await closeUncountable(target, record, { error: fact, ...others }, services));
    if (closed) return closed;
  }
  return again(unseen(watch, fact, clock.now()), services);
}

/**
 * @param known why its counts fail, or, if they contradict each other to the end, the status of its task
 * @returns undefined if another run was first
 */
async function closeUncountable(
  { entry, watch }: Target,
  record: Unresolved,
  known: Uncountable,
  services: LookServices,
): Promise<Looked | undefined> {
  const judgement = judgeUncountable(record, watch, known);
  const settled = await settle(services.ledger, record, entry, judgement, services.clock.now());
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
