import type { Cause } from '../facts/cause.ts';
import type { Outcome } from '../facts/outcomes.ts';
import type { DecidedFacts, EntryFacts } from '../facts/report-schema.ts';
import { capped } from '../facts/text.ts';
import type { Quarantined, Reserved, Unresolved } from '../ledger/record.ts';
import type { Asking, Standing } from '../ledger/standing.ts';
import type { Key } from '../ledger/transitions.ts';
import { serverAddress } from '../operations/http/base-url.ts';
import type { Policy } from '../policy/schema.ts';
import { recoveryFacts } from '../truncation/recovery.ts';
import type { RunSettings } from './services.ts';
import type { DoneEntry, Entry, RunState, WatchedEntry } from './state.ts';

/** Small constructors for the run state's entries. */

/** Gives an entry its final outcome. */
export function done(
  from: Pick<Entry, 'index' | 'entry'>,
  outcome: Outcome,
  cause: Cause,
  more: Partial<EntryFacts> = {},
): DoneEntry {
  // Drops the old cause of an entry that already had an outcome.
  return { index: from.index, phase: 'done', entry: { ...from.entry, ...more, outcome, cause } };
}

export function replaceEntry(state: RunState, old: Entry, next: Entry): RunState {
  return { ...state, entries: state.entries.map((entry) => (entry === old ? next : entry)) };
}

/** An entry for a truncation that this run watches. */
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

/**
 * What the report says about a truncation, taken from the ledger's record, so it works even if the run that sent it is
 * long gone.
 */
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

/** What the report says about a policy's index before anything is known about it. */
export const policyFacts = ({ entityType, aspect, retentionDays, owner, note }: Policy): EntryFacts => ({
  entityType,
  aspect,
  retentionDays,
  ...(owner !== undefined && { owner }),
  ...(note !== undefined && { note }),
});

/** The run's identity, as the ledger needs it. */
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

/** From this moment on the run sends and watches nothing, epoch milliseconds of the run's clock. */
export const endOf = (state: Pick<RunState, 'startedAt'>, settings: RunSettings): number =>
  Date.parse(state.startedAt) + settings.maxRunHours * 3_600_000;

export const addressOf = (settings: RunSettings): string => serverAddress(settings.gmsUrl);

/** What the report says about an index whose record is foreign. */
export const foreignEntry = (
  from: Pick<Entry, 'index' | 'entry'>,
  { outcome, cause }: Extract<Standing, { kind: 'foreign' }>,
): DoneEntry => done(from, outcome, cause);

/** Why an index is not free, for a run that leaves it alone. */
export function held({ state, attempt, judgeableAt }: Reserved | Unresolved, now: number): Cause {
  const until = judgeableAt > now ? { until: judgeableAt } : {};
  return { kind: 'held', state, runId: capped(attempt.runId), ...until };
}

/** Why an index is closed; in every report until an operator clears it. */
export function quarantinedCause({ lastVerdict: { entry, decidedAt } }: Quarantined): Cause {
  const { outcome, rowsMissing } = entry;
  return {
    kind: 'quarantined',
    since: decidedAt,
    outcome,
    ...(rowsMissing !== undefined && { rowsMissing }),
    ...whereRowsAre(entry),
  };
}

/** Whatever caused the verdict, the operator needs to know which index still holds the rows. */
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
