import pLimit from 'p-limit';
import { signalAt } from '../facts/clock.ts';
import { deadlineMarginMillis, longestToSendMillis, pollConcurrency } from '../facts/limits.ts';
import type { Note } from '../facts/note.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { capped } from '../facts/text.ts';
import { standing } from '../ledger/standing.ts';
import { fence } from '../ledger/transitions.ts';
import type { Night } from '../memory/night.ts';
import { dottedName } from '../policy/aspects.ts';
import { isOld, lookAt } from '../truncation/look.ts';
import { isDue } from '../truncation/next-look.ts';
import { optionalReads } from '../truncation/optional-reads.ts';
import { afterCallWithoutTask, withBreaker } from './breaker.ts';
import { askingOf, done, endOf, foreignEntry, held, keyOf, quarantinedCause, replaceEntry } from './entries.ts';
import { proceed, whyOver } from './next.ts';
import { fromHead, isOurs } from './other-version.ts';
import { unavailable } from './plan/remember.ts';
import { resumeOwn } from './resume.ts';
import type { RunServices } from './services.ts';
import type { ApprovedEntry, Entry, RunState } from './state.ts';

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
  return proceed(withBreaker(looked), settings, clock.now());
}

async function lookAtAll(state: RunState, services: RunServices): Promise<RunState> {
  const { clock, settings } = services;
  const end = services.deadline() - deadlineMarginMillis;
  const { signal, release } = signalAt(clock, end);
  const reads = optionalReads(services.operations, state.refused);
  const limit = pLimit(pollConcurrency);
  const one = async (entry: Entry): Promise<Entry> => {
    const now = clock.now();
    const isOver = whyOver(state, settings, now) !== undefined;
    if (entry.phase !== 'watched' || now >= end) return entry;
    const run = { ...askingOf(state), isOver };
    const isLast = isOver && isOld(entry.watch.startedAt, { run, clock });
    if (!isLast && !isDue(entry.watch, now)) return entry;
    const others = state.entries.filter((other) => other !== entry).map((other) => other.entry);
    const { maxRunHours } = settings;
    const looked = await lookAt(entry, { ...services, reads, signal, maxRunHours, run, others });
    if (looked.kind === 'watching') return { ...entry, watch: looked.watch };
    services.log.info('verdict', { index: entry.index, ...looked.entry });
    await rememberVerdict(entry.index, looked.entry, state, services);
    return { index: entry.index, phase: 'done', entry: looked.entry };
  };
  try {
    const entries = await Promise.all(state.entries.map((entry) => limit(() => one(entry))));
    return { ...state, entries, refused: reads.failures() };
  } finally {
    release();
  }
}

/** What a verdict adds to the memory of this night; without it only estimates are lost. */
async function rememberVerdict(
  index: string,
  entry: DecidedFacts,
  state: RunState,
  services: RunServices,
): Promise<void> {
  const failed = await unavailable(async () => services.nights?.write(verdictNight(index, entry, state)));
  if (failed) services.log.warn('the memory of nights cannot be written', { index, problem: failed });
}

function verdictNight(index: string, entry: DecidedFacts, { startedAt }: RunState): Night {
  const {
    rowsTotal,
    rowsToDelete = 0,
    rowsPastRetention,
    rowsDeleted,
    rowsMissing = 0,
    durationSeconds,
    strategy,
  } = entry;
  // If an earlier run sent it, "rows before" are those of that night.
  const before = !entry.adopted &&
    rowsTotal !== undefined && {
      rows: rowsTotal,
      overdue: rowsPastRetention ?? rowsToDelete,
      ...(entry.sizeBeforeMb !== undefined && { mb: entry.sizeBeforeMb }),
    };
  return {
    index,
    night: startedAt,
    ...before,
    ...(entry.indexName !== undefined && { name: entry.indexName }),
    outcome: entry.outcome,
    deleted: rowsDeleted ?? 0,
    ...(rowsDeleted !== undefined &&
      rowsTotal !== undefined && { rowsLeft: Math.max(0, rowsTotal - rowsDeleted - rowsMissing) }),
    ...(entry.sizeAfterMb !== undefined && { mbLeft: entry.sizeAfterMb }),
    ...(durationSeconds !== undefined && { seconds: durationSeconds }),
    ...(strategy === 'reindex' && rowsTotal !== undefined && { copied: rowsTotal - rowsToDelete }),
  };
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
  // It began before it failed, so this is later than the `sendBy` that it may have.
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
    const record = stands.kind === 'free' ? stands.record : stored;
    if (record && record.state !== 'idle' && record.state !== 'reserved' && record.state !== 'quarantined') continue;
    const fenced = fence(record, keyOf(target, state), asking, newId(), clock.now());
    if (!(await ledger.replace(stored, fenced))) continue;
    if (fenced.state === 'quarantined') return done(target, 'quarantined', quarantinedCause(fenced));
    const after = standing(fenced, asking, now);
    if (after.kind === 'spent' || after.kind === 'decided') return resumeOwn(target, after, state, now);
  }
  throw new Error(`the ledger record of ${target.index} kept changing`); // the workflow tries Poll again
}
