import type { Cause, CauseOf } from '../facts/cause.ts';
import { hourMillis } from '../facts/limits.ts';
import type { Outcome } from '../facts/outcomes.ts';
import type { EntryFacts } from '../facts/report-schema.ts';
import { capped } from '../facts/text.ts';
import type { Attempt, Quarantined, Unresolved, Verdict } from '../ledger/record.ts';
import type { Asking, Standing } from '../ledger/standing.ts';
import type { Key } from '../ledger/transitions.ts';
import { serverAddress } from '../operations/http/base-url.ts';
import type { Policy } from '../policy/schema.ts';
import { startWatch } from '../truncation/watch.ts';
import type { RunSettings } from './services.ts';
import type { DoneEntry, Entry, RunState, WatchedEntry } from './state.ts';

/** Small constructors for the run state's entries. */

type From = Pick<Entry, 'index' | 'entry'>;

/** Gives an entry its final outcome. */
export const done = (from: From, outcome: Outcome, cause: Cause, more: Partial<EntryFacts> = {}): DoneEntry => ({
  index: from.index,
  phase: 'done',
  entry: { ...from.entry, ...more, outcome, cause },
});

/** An entry for a truncation whose verdict is in the ledger, or would be. */
export function decided(from: From, { outcome, cause, ...facts }: Verdict): DoneEntry {
  return done(from, outcome, cause, facts);
}

export const replaceEntry = (state: RunState, old: Entry, next: Entry): RunState => ({
  ...state,
  entries: state.entries.map((entry) => (entry === old ? next : entry)),
});

/** An entry for a truncation that this run watches. */
export const watched = (from: From, record: Unresolved, now: number, nextLookAt: number): WatchedEntry => ({
  index: from.index,
  phase: 'watched',
  entry: { ...from.entry, ...attemptFacts(record.attempt), taskId: 'taskId' in record ? record.taskId : undefined },
  watch: startWatch(record, now, nextLookAt),
});

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
  strategy: attempt.announcesCopy ? 'reindex' : 'delete-by-query',
  copies: attempt.copies,
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

/** The run's identity, as the ledger needs it. */
export const askingOf = ({ runId, startedAt, server }: Pick<RunState, 'runId' | 'startedAt' | 'server'>): Asking => ({
  runId,
  runStartMillis: Date.parse(startedAt),
  server,
});

/** The ledger's key of an entry. */
export const keyOf = ({ index, entry }: From, { server }: Pick<RunState, 'server'>): Key => ({
  index,
  entityType: entry.entityType,
  aspect: entry.aspect,
  server,
});

/** From this moment on the run sends and watches nothing, epoch milliseconds. */
export const endOf = (state: Pick<RunState, 'startedAt'>, settings: RunSettings): number =>
  Date.parse(state.startedAt) + settings.maxRunHours * hourMillis;

export const addressOf = (settings: RunSettings): string => serverAddress(settings.gmsUrl);

/** What the report says about an index whose record is foreign. */
export const foreignEntry = (from: From, { outcome, cause }: Extract<Standing, { kind: 'foreign' }>): DoneEntry =>
  done(from, outcome, cause);

/** Why an index is not free, for a run that leaves it alone. */
export const held = ({ state, attempt }: Unresolved, now: number): Cause => ({
  kind: 'held',
  runId: capped(attempt.runId),
  since: attempt.sendingSince,
  until: state === 'sending' && attempt.judgeableAt > now ? attempt.judgeableAt : undefined,
});

/** Why an index is quarantined; in every report until a person releases it. */
export function quarantinedCause({ since, lastVerdict: { verdict }, attempt }: Quarantined): CauseOf<'quarantined'> {
  return {
    kind: 'quarantined',
    since,
    outcome: verdict.outcome,
    rowsMissing: verdict.rowsMissing,
    copied: verdict.copies || undefined,
    indexBefore: attempt?.baseline.indexName,
    indexNow: verdict.indexNow,
    cutoffMillis: attempt?.policyCutoffMillis,
  };
}
