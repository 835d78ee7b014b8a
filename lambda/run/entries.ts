import { serverAddress } from '../gms/http/base-url.ts';
import { capped } from '../gms/text.ts';
import { addressElsewhere, fencedBy, type Ownership, releasableAt } from '../ledger/ownership.ts';
import {
  type Attempt,
  type DecidedBy,
  type Idle,
  isUnresolved,
  type LastRelease,
  type LastVerdict,
  type Quarantined,
  type StoredRecord,
  type Unreadable,
  type Unresolved,
  type Verdict,
} from '../ledger/record.ts';
import { isSameRun, type Key, markFor } from '../ledger/transitions.ts';
import type { Cause } from '../model/cause.ts';
import type { NoteOf } from '../model/note.ts';
import type { Outcome } from '../model/outcomes.ts';
import type { IndexData } from '../model/report-schema.ts';
import { hourMillis } from '../model/time.ts';
import type { Policy } from '../policy/schema.ts';
import { checkInterval } from '../truncation/next-check.ts';
import { startWatch, type Watch } from '../truncation/watch.ts';
import type { RunSettings } from './services.ts';
import type { DoneEntry, Entry, EntryBase, RunState, WatchedEntry } from './state.ts';

/** Entries of the run state, made from what the ledger's records say. */

/** Gives an entry its final outcome. */
export const doneEntry = (
  from: EntryBase,
  outcome: Outcome,
  cause: Cause,
  more: Partial<IndexData> = {},
): DoneEntry => ({
  index: from.index,
  phase: 'done',
  facts: { ...from.facts, ...more, outcome, cause },
});

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
      const { lastVerdict } = owned.record;
      // A release is reported by a note (`releaseNote`); its policy waits for that.
      return lastVerdict
        ? verdictEntry(from, owned.record, lastVerdict, state)
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
      return doneEntry(from, 'quarantined', quarantinedCause(owned.record), elsewhere(owned.record, state));
    case 'unreadable':
      return unreadableEntry(from, owned.record);
  }
}

/**
 * What keeps an approved truncation from being sent, because its index is not free for this run. A redriven execution,
 * or a second invocation of Truncate, finds what its run did; the index is otherwise left alone.
 * @returns undefined if the index is free for this run
 */
export const takenEntry = (
  target: EntryBase,
  owned: Ownership,
  state: RunState,
  now: number,
): DoneEntry | WatchedEntry | undefined =>
  owned.kind === 'free'
    ? fencedEntry(target, owned.record, state, now)
    : entryOf(target, owned, state, now, owned.kind === 'mine');

/** This run, or one that started no earlier, has sent here before, or may have. */
function fencedEntry(from: EntryBase, record: Idle | undefined, state: RunState, now: number): DoneEntry | undefined {
  const sender = fencedBy(record, state, now);
  if (record === undefined || sender === undefined) return undefined;
  const { lastVerdict } = record;
  if (lastVerdict && isSameRun(lastVerdict, state)) return verdictEntry(from, record, lastVerdict, state);
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
  const { lastVerdict, lastRelease } = record;
  if (lastVerdict && isSameRun(lastVerdict, run)) return verdictEntry(from, record, lastVerdict, state);
  if (lastRelease && lastRelease.decided.atMillis >= sentAt) {
    return doneEntry(from, 'unknown', { kind: 'gone', what: 'released', at: lastRelease.decided.atMillis });
  }
  if (isUnresolved(record) && isSameRun(record.attempt, run)) return leftAloneEntry(from, record, state, now);
  return doneEntry(from, 'unknown', { kind: 'gone', what: 'superseded', runId: capped(record.lastSender.runId) });
}

/** What a record says of its last release. */
export function releaseNote(index: string, { decided, release }: LastRelease): NoteOf<'released'> {
  return { kind: 'released', index, ...release, ...decidedFacts(decided) };
}

/** An entry for a truncation that this run watches. */
export const watchedEntry = (
  from: EntryBase,
  record: Unresolved,
  now: number,
  nextCheckAt: number = firstCheckAt(record, now),
): WatchedEntry => ({
  index: from.index,
  phase: 'watched',
  facts: { ...from.facts, ...attemptFacts(record.attempt), taskId: taskIdOf(record) },
  watch: startWatch(record, now, nextCheckAt),
});

/** A call without a task id is first checked when it can no longer be sent. */
const firstCheckAt = (record: Unresolved, now: number): number =>
  record.state === 'sending' ? Math.max(now, record.attempt.judgeableAt) : now + checkInterval.minMillis;

/** A call without a task id may still be sent until then, and nobody judges it before. */
const mayBeSent = ({ state, attempt }: Unresolved, now: number): boolean =>
  state === 'sending' && now < attempt.judgeableAt;

/** An unresolved truncation that this run does not watch. */
function leftAloneEntry(from: EntryBase, record: Unresolved, state: RunState, now: number): DoneEntry {
  const { attempt } = record;
  const { sendingSince: since, judgeableAt } = attempt;
  const sent = { ...from, facts: { ...from.facts, ...attemptFacts(attempt), taskId: taskIdOf(record) } };
  const address = addressElsewhere(record, state);
  if (address !== undefined) {
    const left = { kind: 'left-alone', why: 'address', address: capped(address), since } as const;
    return doneEntry(sent, 'still-running', { ...left, releasableAt: releasableAt(record) });
  }
  const isPreview = state.mode === 'preview';
  return doneEntry(sent, 'still-running', {
    kind: 'open',
    why: isPreview ? 'preview' : 'another-run',
    since,
    runId: isSameRun(attempt, state) ? undefined : capped(attempt.runId),
    judgeableAt: mayBeSent(record, now) ? judgeableAt : undefined,
    releasableAt: isPreview ? releasableAt(record) : undefined,
  });
}

/** A record that a person has to release. */
const unreadableEntry = (from: EntryBase, record: Unreadable): DoneEntry =>
  doneEntry(from, 'unknown', {
    kind: 'left-alone',
    why: 'unreadable',
    fields: record.fields.map((name) => capped(name)),
    releasableAt: releasableAt(record),
  });

/** A verdict that is in the ledger, whichever run gave it; with its mark while it is unreported. */
function verdictEntry(
  from: EntryBase,
  record: Exclude<StoredRecord, { state: 'unreadable' }>,
  { verdict, decided, ...run }: LastVerdict,
  state: RunState,
): DoneEntry {
  const { attempt } = record;
  const isOfAttempt = attempt !== undefined && isSameRun(attempt, run);
  const entry = doneEntry(from, verdict.outcome, causeOf(verdict, attempt), {
    ...(isOfAttempt && { ...attemptFacts(attempt), taskId: taskIdOf(record) }),
    ...knownFacts(verdict),
    ...decidedFacts(decided),
    ...elsewhere(record, state),
    resumed: isSameRun(run, state) ? from.facts.resumed : true,
  });
  const mark = markFor(record);
  return mark ? { ...entry, mark } : entry;
}

/** The fields of a verdict that a report shows. A record may hold others, which this version does not know. */
const verdictFields = [
  'rowsDeleted',
  'rowsLeftBehind',
  'rowsRemaining',
  'rowsMissing',
  'reindexes',
  'noIndex',
  'indexNow',
  'durationSeconds',
] as const satisfies ReadonlyArray<keyof Verdict & keyof IndexData>;

const knownFacts = (verdict: Verdict): Partial<IndexData> =>
  Object.fromEntries(verdictFields.map((field) => [field, verdict[field]]));

/** The cause of a verdict; if it could not be read, the usual one for its outcome. */
function causeOf({ cause, outcome, rowsMissing = 0 }: Verdict, attempt: Attempt | undefined): Cause {
  if (cause) return cause;
  switch (outcome) {
    case 'rows-missing': {
      const expected = attempt?.baseline.rowsToKeep ?? rowsMissing;
      return { kind: 'missing', expected, found: Math.max(0, expected - rowsMissing) };
    }
    case 'truncated':
      return { kind: 'verified' };
    case 'incomplete':
      return { kind: 'remains' };
    case 'failed':
      return { kind: 'unchanged' };
    case 'not-started':
      return { kind: 'stopped', by: 'run-time' };
    case 'unknown':
      return { kind: 'unproven' };
  }
}

const decidedFacts = ({ runId, atMillis }: DecidedBy) => ({
  decidedAt: new Date(atMillis).toISOString(),
  decidedBy: capped(runId),
});

const elsewhere = (record: StoredRecord, state: RunState): Pick<IndexData, 'server'> => {
  const address = addressElsewhere(record, state);
  return address === undefined ? {} : { server: capped(address) };
};

const taskIdOf = (record: object): string | undefined =>
  'taskId' in record && typeof record.taskId === 'string' ? record.taskId : undefined;

/** Why an index is quarantined; in every report until a person releases it. */
const quarantinedCause = ({ lastVerdict: { verdict, decided }, attempt }: Quarantined): Cause => ({
  kind: 'quarantined',
  since: decided.atMillis,
  outcome: verdict.outcome,
  rowsMissing: verdict.rowsMissing,
  reindexed: verdict.reindexes || undefined,
  indexBefore: attempt.baseline.indexName,
  indexNow: verdict.indexNow,
  cutoffMillis: attempt.policyCutoffMillis,
});

/**
 * What the report says about a truncation, taken from the ledger's record, so it works even if the run that sent it is
 * long gone.
 */
export const attemptFacts = ({ fields, baseline, ...attempt }: Attempt): IndexData => ({
  entityType: fields.entityType,
  aspect: fields.aspect,
  retentionDays: attempt.retentionDays,
  cutoffMillis: fields.cutoffMillis,
  policyCutoffMillis: attempt.policyCutoffMillis === fields.cutoffMillis ? undefined : attempt.policyCutoffMillis,
  strategy: attempt.announcesReindex ? 'reindex' : 'delete-by-query',
  reindexes: attempt.reindexes,
  rowsTotal: baseline.rowsTotal,
  rowsToDelete: baseline.rowsToDelete,
  indexName: baseline.indexName,
});

/** What the report says about a policy's index before anything is known about it. */
export const policyFacts = ({ entityType, aspect, retentionDays, owner, note }: Policy): IndexData => ({
  entityType,
  aspect,
  retentionDays,
  owner,
  note,
});

/** The ledger's key of an entry. */
export const keyOf = ({ index, facts }: EntryBase, { server }: Pick<RunState, 'server'>): Key => ({
  index,
  entityType: facts.entityType,
  aspect: facts.aspect,
  server,
});

export const replaceEntry = (state: RunState, old: Entry, next: Entry): RunState => ({
  ...state,
  entries: state.entries.map((entry) => (entry === old ? next : entry)),
});

/** From this moment on the run sends and watches nothing; epoch milliseconds. */
export const endOf = (state: Pick<RunState, 'runStartMillis'>, settings: RunSettings): number =>
  state.runStartMillis + settings.maxRunHours * hourMillis;

export const addressOf = (settings: RunSettings): string => serverAddress(settings.gmsUrl);
