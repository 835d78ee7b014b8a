import { capped } from '../gms/text.ts';
import { addressElsewhere, fencedBy, type Ownership, releasableAt } from '../ledger/ownership.ts';
import {
  type Attempt,
  type Idle,
  isUnresolved,
  type LastRelease,
  type LedgerRecord,
  namesOfRecord,
  type Quarantined,
  type StoredRecord,
  type Unreadable,
  type Unresolved,
} from '../ledger/record.ts';
import { isSameRun, type Mark, markFor, type RecordKey } from '../ledger/transitions.ts';
import type { Cause } from '../model/cause.ts';
import type { NoteOf } from '../model/note.ts';
import type { Outcome } from '../model/outcomes.ts';
import { hourMillis } from '../model/time.ts';
import { dottedName } from '../policy/aspects.ts';
import { checkInterval } from '../truncation/next-check.ts';
import { mayBeSent, startWatch, type Watch } from '../truncation/watch.ts';
import type { RunSettings } from './services.ts';
import {
  type DecidedEntry,
  type Decision,
  type DoneEntry,
  type Entry,
  type EntryBase,
  type JudgedEntry,
  maxEntries,
  type RunState,
  type WatchedEntry,
} from './state.ts';

/** Entries of the run state, made from what the ledger's records say. */

export const doneEntry = (from: EntryBase, outcome: Outcome, cause: Cause): DecidedEntry => ({
  ...baseOf(from),
  phase: 'done',
  decision: { outcome, cause },
});

const baseOf = ({ index, names, policy, plan, record, resumed }: EntryBase): EntryBase => ({
  index,
  names,
  policy,
  plan,
  record,
  resumed,
});

export function decisionOf(entry: DoneEntry): Decision {
  if (entry.decision) return entry.decision;
  const { outcome, cause = { kind: 'unread' } } = entry.record.lastVerdict.verdict;
  return { outcome, cause };
}

/**
 * The truncation that an entry is about, if one was sent or may have been. A quarantined index is reported by its
 * cause: what was counted then is not what is there today. A verdict is about the attempt of its own run.
 */
export function sentAttempt(entry: Entry): Attempt | undefined {
  const { attempt } = entry.record ?? {};
  if (attempt === undefined || entry.phase !== 'done') return attempt;
  if (entry.decision) return entry.decision.outcome === 'quarantined' ? undefined : attempt;
  return isSameRun(attempt, entry.record.lastVerdict) ? attempt : undefined;
}

/** The decision in the ledger that an entry reports, where it is unreported: marked once the report is published. */
export const markOf = (entry: DoneEntry): Mark | undefined => (entry.decision ? undefined : markFor(entry.record));

/**
 * The entry of an index that is not free, by its record: one case for each kind of ownership.
 * @param watches the run watches what is unresolved; otherwise it leaves that alone
 */
export function entryOf(
  from: EntryBase,
  owned: Exclude<Ownership, { kind: 'free' }>,
  state: RunState,
  now: number,
  watches: boolean,
): DoneEntry | WatchedEntry {
  switch (owned.kind) {
    case 'unreported': {
      const { record } = owned;
      // A release is reported by a note (`withRelease`); its policy waits for that.
      return hasVerdict(record)
        ? judgedEntry(from, record)
        : doneEntry(from, 'not-started', { kind: 'stopped', by: 'release' });
    }
    case 'mine':
    case 'theirs': {
      const { record } = owned;
      const isMine = owned.kind === 'mine';
      // Another server's counts say nothing about this truncation.
      const isSameServer = addressElsewhere(record, state) === undefined;
      if (!watches || !isSameServer || (!isMine && mayBeSent(record, now)))
        return leftAloneEntry(from, record, state, now);
      return watchedEntry(from, record, now, isMine ? undefined : now);
    }
    case 'quarantined':
      return doneEntry({ ...from, record: owned.record }, 'quarantined', quarantinedCause(owned.record));
    case 'unreadable':
      return unreadableEntry(from, owned.record);
  }
}

/** This run, or one that started no earlier, has sent here before, or may have. @returns undefined if none has */
export function fencedEntry(
  from: EntryBase,
  record: Idle | undefined,
  state: RunState,
  now: number,
): DoneEntry | undefined {
  const sender = fencedBy(record, state, now);
  if (record === undefined || sender === undefined) return undefined;
  if (hasVerdict(record) && isSameRun(record.lastVerdict, state)) return judgedEntry(from, record);
  return doneEntry(from, 'not-started', { kind: 'gone', what: 'fenced', runId: capped(sender.runId) });
}

/**
 * The entry of a truncation that this run has sent or watched, once the run no longer watches it (rule 5): its verdict,
 * or what has become of its record.
 */
export function resolvedEntry(
  from: EntryBase,
  { run, sentAt }: Pick<Watch, 'run' | 'sentAt'>,
  record: StoredRecord | undefined,
  state: RunState,
  now: number,
): DoneEntry {
  if (record === undefined) return doneEntry(from, 'unknown', { kind: 'gone', what: 'deleted' });
  if (record.state === 'unreadable') return unreadableEntry(from, record);
  const { lastRelease } = record;
  if (hasVerdict(record) && isSameRun(record.lastVerdict, run)) return judgedEntry(from, record);
  if (lastRelease && lastRelease.decided.atMillis >= sentAt) {
    return doneEntry(from, 'unknown', { kind: 'gone', what: 'released', at: lastRelease.decided.atMillis });
  }
  if (isUnresolved(record) && isSameRun(record.attempt, run)) return leftAloneEntry(from, record, state, now);
  return doneEntry(from, 'unknown', { kind: 'gone', what: 'superseded', runId: capped(record.lastSender.runId) });
}

/**
 * Notes and marks with the release that a record holds, if no report has included it yet (rule 15). If the run state is
 * full, the next run reports it.
 */
export function withRelease(
  { notes, releases }: Pick<RunState, 'notes' | 'releases'>,
  owned: Ownership,
): Pick<RunState, 'notes' | 'releases'> {
  if (owned.kind !== 'unreported' || owned.record.lastVerdict) return { notes, releases };
  const { record } = owned;
  const mark = markFor(record);
  if (!record.lastRelease || !mark || releases.length >= maxEntries) return { notes, releases };
  const note = releaseNote(dottedName(namesOfRecord(record)), record.lastRelease);
  return { notes: [...notes, note], releases: [...releases, mark] };
}

function releaseNote(index: string, { by, decided, release }: LastRelease): NoteOf<'released'> {
  const decidedAt = new Date(decided.atMillis).toISOString();
  return { kind: 'released', index, ...release, by: by && capped(by), decidedAt, decidedBy: capped(decided.runId) };
}

export const watchedEntry = (
  from: EntryBase,
  record: Unresolved,
  now: number,
  nextCheckAt: number = firstCheckAt(record, now),
): WatchedEntry => ({
  ...baseOf(from),
  phase: 'watched',
  record,
  watch: startWatch(record, now, nextCheckAt),
});

/** A call without a task id is first checked when it can no longer be sent. */
const firstCheckAt = (record: Unresolved, now: number): number =>
  record.state === 'sending' ? Math.max(now, record.attempt.judgeableAt) : now + checkInterval.minMillis;

function leftAloneEntry(from: EntryBase, record: Unresolved, state: RunState, now: number): DoneEntry {
  const { sendingSince: since, judgeableAt, ...attempt } = record.attempt;
  const sent = { ...from, record };
  const address = addressElsewhere(record, state);
  if (address !== undefined) {
    const left = { kind: 'left-alone', why: 'address', address: capped(address), since } as const;
    return doneEntry(sent, 'still-running', { ...left, releasableAt: releasableAt(record) });
  }
  const isPreview = state.mode === 'preview';
  return doneEntry(sent, 'still-running', {
    kind: 'unresolved',
    why: isPreview ? 'preview' : 'another-run',
    since,
    runId: isSameRun(attempt, state) ? undefined : capped(attempt.runId),
    judgeableAt: mayBeSent(record, now) ? judgeableAt : undefined,
    releasableAt: isPreview ? releasableAt(record) : undefined,
  });
}

const unreadableEntry = (from: EntryBase, record: Unreadable): DoneEntry =>
  doneEntry(from, 'unknown', {
    kind: 'left-alone',
    why: 'unreadable',
    fields: record.fields.map((name) => capped(name)),
    releasableAt: releasableAt(record),
  });

const judgedEntry = (from: EntryBase, record: JudgedEntry['record']): JudgedEntry => ({
  ...baseOf(from),
  phase: 'done',
  record,
});

const hasVerdict = (record: LedgerRecord): record is JudgedEntry['record'] => record.lastVerdict !== undefined;

/** Why an index is quarantined; in every report until a person releases it. */
const quarantinedCause = ({ lastVerdict: { verdict, decided }, attempt }: Quarantined): Cause => ({
  kind: 'quarantined',
  since: decided.atMillis,
  outcome: verdict.outcome,
  rowsMissing: verdict.rowsMissing,
  rowsNotVisible: verdict.rowsNotVisible,
  method: verdict.method,
  indexBefore: attempt.baseline.indexName,
  indexNow: verdict.indexNow,
  noIndex: verdict.noIndex,
  cutoffMillis: attempt.policyCutoffMillis,
});

export const keyOf = ({ index, names }: EntryBase, { server }: Pick<RunState, 'server'>): RecordKey => ({
  index,
  entityType: names.entityType,
  aspect: names.aspect,
  server,
});

export const replaceEntry = (state: RunState, old: Entry, next: Entry): RunState => ({
  ...state,
  entries: state.entries.map((entry) => (entry === old ? next : entry)),
});

/** From this moment on the run sends and watches nothing; epoch milliseconds. */
export const endOf = (state: Pick<RunState, 'runStartMillis'>, settings: RunSettings): number =>
  state.runStartMillis + settings.maxRunHours * hourMillis;
