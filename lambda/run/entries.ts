import type { Cause, CauseOf } from '../facts/cause.ts';
import { hourMillis, longestRunMillis, look } from '../facts/limits.ts';
import type { NoteOf } from '../facts/note.ts';
import { knownOutcome, type Outcome } from '../facts/outcomes.ts';
import type { EntryFacts } from '../facts/report-schema.ts';
import {
  type Attempt,
  type DecidedBy,
  type Decision,
  headOf,
  type LastRelease,
  type LastVerdict,
  type Quarantined,
  type StoredRecord,
  type Unresolved,
  understood,
  type Verdict,
} from '../ledger/record.ts';
import { releasableAt, type Standing, standing, type ThisRun } from '../ledger/standing.ts';
import { isSameRun, type Key } from '../ledger/transitions.ts';
import { serverAddress } from '../operations/http/base-url.ts';
import type { Policy } from '../policy/schema.ts';
import { capped } from '../text/text.ts';
import { startWatch } from '../truncation/watch.ts';
import type { RunSettings } from './services.ts';
import { type DoneEntry, type Entry, type EntryBase, headSchema, type RunState, type WatchedEntry } from './state.ts';

/** Small constructors for the run state's entries. */

/** Gives an entry its final outcome. */
export const done = (from: EntryBase, outcome: Outcome, cause: Cause, more: Partial<EntryFacts> = {}): DoneEntry => ({
  index: from.index,
  phase: 'done',
  entry: { ...from.entry, ...more, outcome, cause },
});

/** An entry for a truncation whose verdict would be in the ledger. */
export function decided(from: EntryBase, { outcome, cause, ...facts }: Verdict): DoneEntry {
  return done(from, outcome, cause, facts);
}

/** An entry for a verdict that is in the ledger, whichever run gave it. */
export function concluded(from: EntryBase, { verdict, decided: by }: LastVerdict): DoneEntry {
  const entry = decided(from, verdict);
  return { ...entry, entry: { ...entry.entry, ...decidedFacts(by) } };
}

const decidedFacts = ({ runId, atMillis }: DecidedBy) => ({
  decidedAt: new Date(atMillis).toISOString(),
  decidedBy: capped(runId),
});

/** Whether another run decided it, which may still be at work. */
function untoldBy(by: DecidedBy, thisRun: ThisRun, now: number): EntryFacts['untold'] {
  if (isSameRun(by, thisRun)) return undefined;
  return now < by.runStartMillis + longestRunMillis ? 'may-come' : 'no-report';
}

/**
 * An entry for a verdict that nobody is known to have been told of (rule 15): its decision goes with it to the
 * report, and is marked once that is published. Where a release is to be told with it, Plan adds both (`untoldIn`): a run
 * that finds it later tells the verdict, and marks nothing.
 * @returns undefined where only a release is to be told, which a note does (`releaseNote`)
 */
export function judgedEntry(
  from: EntryBase,
  { record, decision }: Judgement,
  thisRun: ThisRun,
  now: number,
): DoneEntry | undefined {
  if (decision.outcome === undefined) return undefined;
  const { server } = headOf(record);
  const elsewhere = server === thisRun.server ? undefined : server && capped(server);
  if (record.state === 'other-version' || record.lastVerdict === undefined) {
    const by = decision.verdictBy ?? decision;
    const version = decision.verdictBy?.version ?? headOf(record).version;
    const cause: Cause = { kind: 'decided-by-version', version };
    const entry = done(from, knownOutcome(decision.outcome), cause, {
      rowsMissing: decision.rowsMissing,
      // Of what ends as unknown, reindexes alone are quarantined (rule 9).
      ...(decision.outcome === 'unknown' && decision.becomes === 'quarantined' && { reindexes: true }),
      ...decidedFacts(by),
      untold: untoldBy(by, thisRun, now),
      released: decision.released,
      server: elsewhere,
      resumed: true,
    });
    return { ...entry, ...marking(decision) };
  }
  const { attempt, taskId, lastVerdict } = record;
  const untold = untoldBy(lastVerdict.decided, thisRun, now);
  const more = { taskId, server: elsewhere, untold, released: decision.released };
  const facts = { ...from.entry, ...(attempt && attemptFacts(attempt)), ...more };
  const resumed = isSameRun(lastVerdict, thisRun) ? from.entry.resumed : true;
  return { ...concluded({ index: from.index, entry: { ...facts, resumed } }, lastVerdict), ...marking(decision) };
}

const marking = ({ id, released }: Decision) => (released ? {} : { decision: id });

/**
 * What a run says of a truncation of its own, or that it has watched, which its record no longer holds (rule 5):
 * its verdict, or why nobody watches it any more.
 */
export function heldNoMore(
  from: WatchedEntry,
  record: StoredRecord | undefined,
  thisRun: ThisRun,
  now: number,
): DoneEntry {
  if (record === undefined) return done(from, 'unknown', { kind: 'record-gone' });
  const stands = standing(record, thisRun, now);
  if (stands.kind === 'foreign') return foreignEntry(from, stands);
  const { lastVerdict: last, lastRelease: release } = understood(record) ?? {};
  const isOfThis = last !== undefined && isSameRun(last, from.watch.run);
  if (stands.kind === 'judged' && (isOfThis || record.state === 'other-version')) {
    const entry = judgedEntry(from, stands, thisRun, now);
    if (entry) return entry;
  }
  if (isOfThis) return concluded(from, last);
  if (release && release.decided.atMillis >= from.watch.sentAt) {
    return done(from, 'unknown', { kind: 'released-meanwhile', releasedAt: release.decided.atMillis });
  }
  return done(from, 'unknown', { kind: 'superseded' });
}

type Judgement = Pick<Extract<Standing, { kind: 'judged' }>, 'record' | 'decision'>;

/** A policy whose index waits until people have been told of its last verdict or release. */
export const untoldEntry = (from: EntryBase, what: CauseOf<'untold'>['what']): DoneEntry =>
  done(from, 'in-flight', { kind: 'untold', what });

/** What a record tells of its last release. */
export function releaseNote(index: string, { decided, release }: LastRelease): NoteOf<'released'> {
  return { kind: 'released', index, ...release, ...decidedFacts(decided) };
}

export const replaceEntry = (state: RunState, old: Entry, next: Entry): RunState => ({
  ...state,
  entries: state.entries.map((entry) => (entry === old ? next : entry)),
});

/** An entry for a truncation that this run watches. */
export const watched = (
  from: EntryBase,
  record: Unresolved,
  now: number,
  nextCheckAt: number = firstLookAt(record, now),
): WatchedEntry => ({
  index: from.index,
  phase: 'watched',
  entry: { ...from.entry, ...attemptFacts(record.attempt), taskId: 'taskId' in record ? record.taskId : undefined },
  watch: startWatch(record, now, nextCheckAt),
});

/** A call without a task id is first looked at when it can no longer be sent. */
const firstLookAt = (record: Unresolved, now: number): number =>
  record.state === 'sending' ? Math.max(now, record.attempt.judgeableAt) : now + look.minMillis;

/**
 * The entry of an approved truncation whose index is not free: a redriven execution, or a Poll after a failed Truncate,
 * finds what its run did; anything else leaves the index alone.
 */
export function notFree(
  target: EntryBase,
  stands: Exclude<Standing, { kind: 'free' }>,
  thisRun: ThisRun,
  now: number,
): DoneEntry | WatchedEntry {
  switch (stands.kind) {
    case 'mine':
      return watched(target, stands.record, now);
    case 'judged':
      return judgedEntry(target, stands, thisRun, now) ?? untoldEntry(target, 'release');
    case 'decided':
      return concluded(target, stands.verdict);
    case 'spent':
      return done(target, 'not-started', { kind: 'stopped', by: 'spent', runId: stands.sender.runId });
    case 'foreign':
      return foreignEntry(target, stands);
    case 'quarantined':
      return done(target, 'quarantined', quarantinedCause(stands.record));
    case 'theirs':
      return done(target, 'in-flight', held(stands.record, now));
  }
}

/**
 * What the report says about a truncation, taken from the ledger's record, so it works even if the run that sent it is
 * long gone.
 */
export const attemptFacts = ({ fields, baseline, ...attempt }: Attempt): EntryFacts => ({
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
  sizeBeforeMb: baseline.sizeMb,
});

/** What the report says about a policy's index before anything is known about it. */
export const policyFacts = ({ entityType, aspect, retentionDays, owner, note }: Policy): EntryFacts => ({
  entityType,
  aspect,
  retentionDays,
  owner,
  note,
});

/** The ledger's key of an entry. */
export const keyOf = ({ index, entry }: EntryBase, { server }: Pick<RunState, 'server'>): Key => ({
  index,
  entityType: entry.entityType,
  aspect: entry.aspect,
  server,
});

/** From this moment on the run sends and watches nothing; epoch milliseconds. */
export const endOf = (state: Pick<RunState, 'runStartMillis'>, settings: RunSettings): number =>
  state.runStartMillis + settings.maxRunHours * hourMillis;

export const addressOf = (settings: RunSettings): string => serverAddress(settings.gmsUrl);

/** What the report says about an index whose record is foreign. */
function foreignEntry(from: EntryBase, { outcome, record }: Extract<Standing, { kind: 'foreign' }>): DoneEntry {
  if (record.state === 'quarantined') {
    return done(from, outcome, {
      ...quarantineFacts(record),
      kind: 'quarantined-elsewhere',
      address: capped(record.server),
    });
  }
  const at = outcome === 'quarantined' ? undefined : releasableAt(record);
  const since = headOf(record).attempt?.sendingSince;
  const cause: Cause =
    record.state === 'other-version'
      ? { kind: 'foreign', why: 'version', since, version: headOf(record).version, releasableAt: at }
      : { kind: 'foreign', why: 'address', since, address: capped(record.server), releasableAt: at };
  return done(from, outcome, cause);
}

/** The entry of an index that a release alone opens again, which every report has (rule 14). */
export function closedEntry(from: EntryBase, stands: Standing): DoneEntry | undefined {
  if (stands.kind === 'foreign') return foreignEntry(from, stands);
  return stands.kind === 'quarantined' ? done(from, 'quarantined', quarantinedCause(stands.record)) : undefined;
}

/** Why an index is not free, for a run that leaves it alone. */
export const held = ({ state, attempt }: Unresolved, now: number): Cause => ({
  kind: 'held',
  runId: capped(attempt.runId),
  since: attempt.sendingSince,
  until: state === 'sending' && attempt.judgeableAt > now ? attempt.judgeableAt : undefined,
});

/** Why an index is quarantined; in every report until a person releases it. */
export const quarantinedCause = (record: Quarantined): CauseOf<'quarantined'> => ({
  kind: 'quarantined',
  ...quarantineFacts(record),
});

function quarantineFacts({ lastVerdict: { verdict, decided: by }, attempt }: Quarantined) {
  return {
    since: by.atMillis,
    outcome: verdict.outcome,
    rowsMissing: verdict.rowsMissing,
    copied: verdict.reindexes || undefined,
    indexBefore: attempt?.baseline.indexName,
    indexNow: verdict.indexNow,
    cutoffMillis: attempt?.policyCutoffMillis,
  };
}

/**
 * A deployment in the middle of a run may change this program's version or the server's address. No step interprets
 * such a state: the execution fails, the alarm ExecutionFailed tells, and the ledger carries running truncations over
 * to the next run.
 */
export class StateUnreadable extends Error {
  override readonly name = 'StateUnreadable';
}

/** @throws StateUnreadable unless the state was written by this version, for this server */
export function assertOurs(state: unknown, settings: RunSettings): asserts state is RunState {
  const head = headSchema.safeParse(state);
  if (!head.success) throw new StateUnreadable('the run state was written by another version of this job');
  if (head.data.server !== addressOf(settings)) throw new StateUnreadable('the run state is about another server');
}
