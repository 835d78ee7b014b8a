import pLimit from 'p-limit';
import { signalAt } from '../facts/clock.ts';
import { deadlineMarginMillis, longestToSendMillis, pollConcurrency } from '../facts/limits.ts';
import type { Note } from '../facts/note.ts';
import { capped } from '../facts/text.ts';
import { isUnresolved } from '../ledger/record.ts';
import { standing } from '../ledger/standing.ts';
import { fence } from '../ledger/transitions.ts';
import type { Night } from '../memory/night.ts';
import { dottedName } from '../policy/aspects.ts';
import { isOld, lookAt } from '../truncation/look.ts';
import { isDue } from '../truncation/next-look.ts';
import { optionalReads } from '../truncation/optional-reads.ts';
import { afterCallWithoutTask, withBreaker } from './breaker.ts';
import { askingOf, done, endOf, foreignEntry, held, keyOf, quarantinedCause, replaceEntry } from './entries.ts';
import { nightOf, troubledSince, unavailable, verdictNight } from './memory.ts';
import { proceed, whyOver } from './next.ts';
import { fromHead, isOurs } from './other-version.ts';
import { resumeOwn } from './resume.ts';
import type { RunServices } from './services.ts';
import type { ApprovedEntry, DoneEntry, Entry, RunState } from './state.ts';

/**
 * Poll: looks at every unresolved truncation that is due, verifies those that have ended by counting again, and closes
 * their ledger records. After a failed Truncate it first finds out what that one did. It only reads and makes
 * conditional transitions, so it may be repeated at any time: a verdict that is already in the ledger is final.
 */
export async function poll(state: RunState, services: RunServices): Promise<RunState> {
  if (!isOurs(state, services)) return fromHead(state, services);
  const { clock, settings } = services;
  // A failed Truncate returned no state, so its turn is counted here, by the first Poll after it.
  const failedNow = state.failure && state.failure.sendsUntil === undefined;
  const turns = { truncate: state.turns.truncate + (failedNow ? 1 : 0), poll: state.turns.poll + 1 };
  const settled = await settleTruncate({ ...state, turns }, services);
  const looked = await lookAtAll(settled, services);
  return rememberedEnds(looked, proceed(withBreaker(looked), settings, clock.now()), services);
}

async function lookAtAll(state: RunState, services: RunServices): Promise<RunState> {
  const { clock, settings } = services;
  const end = services.deadline() - deadlineMarginMillis;
  const { signal, release } = signalAt(clock, end);
  const reads = optionalReads(services.operations, state.refused);
  const limit = pLimit(pollConcurrency);
  const one = async (entry: Entry): Promise<Entry> => {
    const now = clock.now();
    if (entry.phase !== 'watched' || now >= end) return entry;
    const isOver = (at: number) => whyOver(state, settings, at) !== undefined;
    const run = { ...askingOf(state), isOver };
    const isLast = isOver(now) && isOld(entry.watch.startedAt, { run }, now);
    if (!isLast && !isDue(entry.watch, now)) return entry;
    const others = state.entries.filter((other) => other !== entry).map((other) => other.entry);
    const { maxRunHours } = settings;
    const looked = await lookAt(entry, { ...services, reads, signal, maxRunHours, run, others });
    if (looked.kind === 'watching') return { ...entry, watch: looked.watch };
    services.log.info('verdict', { index: entry.index, ...looked.entry });
    const { index } = entry;
    const decided: DoneEntry = { index, phase: 'done', entry: looked.entry };
    return remembered(decided, verdictNight(index, looked.entry, state), state, services);
  };
  try {
    const entries = await Promise.all(state.entries.map((entry) => limit(() => one(entry))));
    return { ...state, entries, refused: reads.failures() };
  } finally {
    release();
  }
}

/** Records the night of a decided entry; if that fails, only estimates and dates are lost. */
async function remembered(entry: DoneEntry, night: Night, state: RunState, services: RunServices): Promise<DoneEntry> {
  const { nights, log } = services;
  if (!nights) return entry;
  let since = {};
  const failed = await unavailable(async () => {
    since = await troubledSince(entry, state, nights);
    await nights.write(night);
  });
  if (failed) log.warn('the memory of nights cannot be used', { index: entry.index, problem: failed });
  return { ...entry, entry: { ...entry.entry, ...since } };
}

/** The same for entries that ended with the run. */
async function rememberedEnds(before: RunState, after: RunState, services: RunServices): Promise<RunState> {
  const one = async (entry: Entry, at: number): Promise<Entry> => {
    const [night] = nightOf(entry, after);
    if (entry.phase !== 'done' || before.entries[at]?.phase === 'done' || !night) return entry;
    return remembered(entry, night, after, services);
  };
  return { ...after, entries: await Promise.all(after.entries.map(one)) };
}

/**
 * Truncate ended without returning a state: the ledger says what it did. If it had not sent anything, it is fenced off,
 * because an abandoned function may still be running. While another run holds the index, fencing is impossible: the
 * failure stays, and nothing else is started, until fencing works or that function can no longer send.
 */
async function settleTruncate(state: RunState, services: RunServices): Promise<RunState> {
  const { failure, ...rest } = state;
  const target = state.entries.find((entry) => entry.phase === 'approved');
  if (!failure) return state;
  if (!target) return rest;
  // It began before it failed, so this is later than any `sendBy` that it has.
  const { sendsUntil = services.clock.now() + longestToSendMillis } = failure;
  const entry = await settled(target, state, Math.min(sendsUntil, endOf(state, services.settings)), services);
  if (!entry) return { ...state, failure: { ...failure, sendsUntil } };
  const name = dottedName(target.entry);
  services.log.warn('truncate failed', { index: target.index, error: failure.error, phase: entry.phase });
  const note: Note = { kind: 'truncate-failed', index: name, error: capped(failure.error) };
  const known = await callWithoutTask(entry, rest, services);
  return { ...replaceEntry({ ...rest, ...known }, target, entry), notes: [...state.notes, note] };
}

/**
 * A call that was sent but whose answer could not be recorded, or that returned no task id, counts like any such call.
 */
async function callWithoutTask(
  { index, phase }: Entry,
  state: RunState,
  { ledger, clock }: RunServices,
): Promise<Partial<Pick<RunState, 'callsWithoutTask' | 'breaker'>>> {
  if (phase !== 'watched') return {};
  const stands = standing(await ledger.read(index), askingOf(state), clock.now());
  if (stands.kind !== 'mine' || stands.record.state !== 'sending') return {};
  return afterCallWithoutTask(state, stands.record.attempt.answer?.error.status);
}

/**
 * @param sendsUntil when the failed Truncate can no longer send, epoch milliseconds of the run's clock
 * @returns the entry according to the ledger; undefined while another run holds the index and ours could still send
 */
async function settled(
  target: ApprovedEntry,
  state: RunState,
  sendsUntil: number,
  { ledger, clock, newId }: RunServices,
): Promise<Entry | undefined> {
  const asking = askingOf(state);
  for (let tries = 0; tries < 3; tries++) {
    const now = clock.now();
    const stored = await ledger.read(target.index);
    const stands = standing(stored, asking, now);
    switch (stands.kind) {
      case 'decided':
        return resumeOwn(target, stands, state, now);
      case 'spent':
        if (!stands.fenced) return resumeOwn(target, stands, state, now);
        break;
      case 'mine':
        if (stands.record.state !== 'reserved') return resumeOwn(target, stands, state, now);
        break;
      case 'theirs':
        if (now < sendsUntil) return undefined;
        return done(target, 'in-flight', held(stands.record, now));
      case 'foreign':
        return now < sendsUntil ? undefined : foreignEntry(target, stands);
      case 'free':
      case 'quarantined':
        break;
    }
    if (stored && isUnresolved(stored)) continue;
    const fenced = fence(stored, keyOf(target, state), asking, newId(), clock.now());
    if (!(await ledger.replace(stored, fenced))) continue;
    if (fenced.state === 'quarantined') return done(target, 'quarantined', quarantinedCause(fenced));
    const after = standing(fenced, asking, now);
    if (after.kind === 'spent') return resumeOwn(target, after, state, now);
  }
  throw new Error(`the ledger record of ${target.index} kept changing`); // the workflow tries Poll again
}
