import pLimit from 'p-limit';
import { signalAt } from '../facts/clock.ts';
import { deadlineMarginMillis, pollConcurrency } from '../facts/limits.ts';
import { capped } from '../facts/text.ts';
import { isUnresolved, type StoredRecord } from '../ledger/record.ts';
import { standing } from '../ledger/standing.ts';
import { isSameRun } from '../ledger/transitions.ts';
import { dottedName } from '../policy/aspects.ts';
import { type LookServices, look } from '../truncation/look.ts';
import { isDue } from '../truncation/next-look.ts';
import { optionalReads } from '../truncation/optional-reads.ts';
import { afterCallWithoutTask, withBreaker } from './breaker.ts';
import { askingOf, decided, done, foreignEntry, replaceEntry } from './entries.ts';
import { proceed, whyOver } from './next.ts';
import { assertOurs } from './other-version.ts';
import { resume } from './resume.ts';
import type { RunServices } from './services.ts';
import type { Entry, RunState, WatchedEntry } from './state.ts';

/**
 * Poll: looks at every unresolved truncation that is due, verifies those that have ended by counting again, and writes
 * their verdicts. After a failed Truncate it first finds out what that one did. It only reads and makes conditional
 * transitions, so it may be repeated at any time: a verdict that is already in the ledger is final.
 */
export async function poll(state: RunState, services: RunServices): Promise<RunState> {
  const { clock, settings } = services;
  assertOurs(state, settings);
  const resumed = await afterFailure({ ...state, looks: state.looks + 1 }, services);
  const looked = await lookAtAll(resumed, services);
  return proceed(withBreaker(looked), settings, clock.now());
}

async function lookAtAll(state: RunState, services: RunServices): Promise<RunState> {
  const { clock, settings } = services;
  const end = services.deadline() - deadlineMarginMillis;
  const { signal, release } = signalAt(clock, end);
  const reads = optionalReads(services.operations, state, signal);
  const isOver = (now: number) => whyOver(state, settings, now) !== undefined;
  const runStartMillis = Date.parse(state.startedAt);
  const limit = pLimit(pollConcurrency);
  const one = async (entry: Entry): Promise<Entry> => {
    const now = clock.now();
    if (entry.phase !== 'watched' || now >= end || !(isOver(now) || isDue(entry.watch, now))) return entry;
    return lookAt(entry, state, { ...services, reads, signal, runStartMillis, isOver });
  };
  try {
    const entries = await Promise.all(state.entries.map((entry) => limit(() => one(entry))));
    return { ...state, entries, ...reads.without };
  } finally {
    release();
  }
}

async function lookAt(entry: WatchedEntry, state: RunState, services: LookServices & RunServices): Promise<Entry> {
  const { ledger, clock, log } = services;
  const now = clock.now();
  const record = await ledger.read(entry.index);
  const stands = standing(record, askingOf(state), now);
  if (stands.kind === 'foreign') return foreignEntry(entry, stands);
  const isThere = record !== undefined && isUnresolved(record) && isSameRun(record.attempt, entry.watch.run);
  if (!isThere) return judgedByAnother(entry, record);
  // A look at another truncation may come before this one can have been sent.
  if (record.state === 'sending' && now < record.attempt.judgeableAt) return entry;
  const looked = await look(record, entry.watch, services);
  switch (looked.kind) {
    case 'watching':
      return { ...entry, entry: { ...entry.entry, copies: looked.copies }, watch: looked.watch };
    case 'settled': {
      const settled = decided(entry, looked.verdict);
      log.info('verdict', { ...settled.entry, index: entry.index });
      return settled;
    }
    case 'overtaken':
      return done(entry, 'unknown', { kind: 'unsettled', why: 'judged' });
  }
}

/** The record no longer holds this truncation: its verdict, if the record still has that. */
function judgedByAnother(entry: WatchedEntry, record: StoredRecord | undefined): Entry {
  const verdict = record && record.state !== 'other-version' ? record.lastVerdict : undefined;
  if (verdict && isSameRun(verdict, entry.watch.run)) return decided(entry, verdict.verdict);
  return done(entry, 'unknown', { kind: 'unsettled', why: 'judged' });
}

/** Truncate ended without returning a state: the ledger says what it did. */
async function afterFailure(state: RunState, { ledger, clock, log }: RunServices): Promise<RunState> {
  const { failure, ...rest } = state;
  const target = state.entries.find((entry) => entry.phase === 'approved');
  if (!failure || !target) return rest;
  const entry = await resume(target, state, ledger, clock.now());
  log.warn('truncate failed', { index: target.index, error: failure.error, phase: entry.phase });
  const notes: RunState['notes'] = [
    ...state.notes,
    { kind: 'truncate-failed', index: dottedName(target.entry), error: capped(failure.error) },
  ];
  // A call whose answer could not be recorded, or that returned no task id, counts like any such call.
  const isWithout = entry.phase === 'watched' && entry.entry.taskId === undefined;
  const record = isWithout ? await ledger.read(target.index) : undefined;
  const status = record?.state === 'sending' ? record.attempt.answer?.status : undefined;
  return { ...replaceEntry(rest, target, entry), notes, ...(isWithout && afterCallWithoutTask(rest, status)) };
}
