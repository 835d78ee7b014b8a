import type { Cause } from '../facts/cause.ts';
import type { Outcome } from '../facts/outcome.ts';
import type { DecidedFacts, EntryFacts } from '../facts/report-schema.ts';
import type { Quarantined, Reserved, Unresolved } from '../ledger/record.ts';
import type { Asking } from '../ledger/standing.ts';
import type { Key } from '../ledger/transitions.ts';
import { serverAddress } from '../operations/http/base-url.ts';
import type { Policy } from '../policy/schema.ts';
import { recoveryFacts } from '../truncation/recovery.ts';
import type { RunSettings } from './services.ts';
import type { DoneEntry, Entry, RunState, WatchedEntry } from './state.ts';

/** Small makers of the run state's entries. */

/** Decides an entry for good. */
export function done(
  from: Pick<Entry, 'index' | 'entry'>,
  outcome: Outcome,
  cause: Cause,
  more: Partial<EntryFacts> = {},
): DoneEntry {
  // An entry that was decided before is decided anew: its old cause goes with it.
  return { index: from.index, phase: 'done', entry: { ...from.entry, ...more, outcome, cause } };
}

export function replaceEntry(state: RunState, old: Entry, next: Entry): RunState {
  return { ...state, entries: state.entries.map((entry) => (entry === old ? next : entry)) };
}

/** The entry of a truncation that this run watches. */
export function watched(
  from: Pick<Entry, 'index' | 'entry'>,
  record: Unresolved,
  now: number,
  nextLookAt: number,
): WatchedEntry {
  return {
    index: from.index,
    phase: 'watched',
    entry: { ...from.entry, ...attemptFacts(record) },
    watch: {
      attemptId: record.attemptId,
      startedAt: record.attempt.sendingSince,
      succeededAt: now,
      lastLookAt: now,
      nextLookAt,
      looks: 0,
    },
  };
}

/** What the report says of a truncation, from the ledger's record: also where the run that sent it is long gone. */
export function attemptFacts({ attempt }: Unresolved): EntryFacts {
  const { fields, baseline, retentionDays, policyCutoffMillis, strategy } = attempt;
  return {
    entityType: fields.entityType,
    aspect: fields.aspect,
    ...(retentionDays !== undefined && { retentionDays }),
    cutoffMillis: fields.endTimeMillis,
    ...(policyCutoffMillis !== undefined && { policyCutoffMillis }),
    strategy,
    rowsTotal: baseline.rowsTotal,
    rowsToDelete: baseline.rowsToDelete,
    ...(baseline.indexName !== undefined && { indexName: baseline.indexName }),
    ...(baseline.sizeMb !== undefined && { sizeBeforeMb: baseline.sizeMb }),
    ...('taskId' in attempt && { taskId: attempt.taskId }),
  };
}

/** What the report says of a policy's index before anything is known of it. */
export const policyFacts = ({ entityType, aspect, retentionDays, owner, note }: Policy): EntryFacts => ({
  entityType,
  aspect,
  retentionDays,
  ...(owner !== undefined && { owner }),
  ...(note !== undefined && { note }),
});

/** The run, as the ledger asks who it is. */
export const askingOf = ({ runId, startedAt, server }: Pick<RunState, 'runId' | 'startedAt' | 'server'>): Asking => ({
  runId,
  runStartMillis: Date.parse(startedAt),
  server,
});

/** The ledger's key of an entry. */
export const keyOf = ({ index, entry }: Pick<Entry, 'index' | 'entry'>, { server }: Pick<RunState, 'server'>): Key => ({
  index,
  entityType: entry.entityType,
  aspect: entry.aspect,
  server,
});

/** The moment from which this run sends and watches nothing more, epoch milliseconds of the run's clock. */
export const endOf = (state: Pick<RunState, 'startedAt'>, settings: RunSettings): number =>
  Date.parse(state.startedAt) + settings.maxRunHours * 3_600_000;

export const addressOf = (settings: RunSettings): string => serverAddress(settings.gmsUrl);

/** Why an index is not free, for a run that leaves it alone. */
export function held({ state, attempt, judgeableAt, server }: Reserved | Unresolved, run: Asking, now: number): Cause {
  const until = judgeableAt > now ? { until: judgeableAt } : {};
  return { kind: 'held', state, runId: attempt.runId, ...until, ...addressesOf(server, run) };
}

/** Why an index is closed, for every report until a person clears it. */
export function quarantinedCause({ lastVerdict: { entry, decidedAt }, server }: Quarantined, run: Asking): Cause {
  const { outcome, rowsMissing } = entry;
  return {
    kind: 'quarantined',
    since: decidedAt,
    outcome,
    ...(rowsMissing !== undefined && { rowsMissing }),
    ...whereRowsAre(entry),
    ...addressesOf(server, run),
  };
}

/** Whatever the cause of a verdict was, an index that still holds the rows is what a person needs to know. */
export function whereRowsAre({ cause, indexName }: DecidedFacts): {
  rowsIn?: string;
  indexNow?: string;
  deadline?: number;
  unseen?: boolean;
} {
  const indexNow = indexName === undefined ? {} : { indexNow: indexName };
  if (cause.kind === 'not-refreshed') return { ...indexNow, unseen: true };
  const found = cause as { rowsIn?: unknown; movedBy?: unknown; indexBefore?: unknown };
  const rowsIn = found.rowsIn ?? (found.movedBy === 'us' ? found.indexBefore : undefined);
  return typeof rowsIn === 'string' ? { ...recoveryFacts(rowsIn, indexName), ...indexNow } : {};
}

const addressesOf = (server: string, run: Asking) =>
  server === run.server ? {} : { address: server, ourAddress: run.server };
