import type { Outcome } from '../facts/outcome.ts';
import type { PolicyEntry } from '../facts/report-schema.ts';
import type { Attempt, LedgerRecord } from '../ledger/record.ts';
import { percentOf } from '../policy/percentage.ts';
import type { DoneEntry, Entry, RunState, WatchedEntry } from './state.ts';

/** Small makers of the run state's entries. */

/** Decides an entry for good. */
export function done(
  from: Pick<Entry, 'index' | 'entry'>,
  outcome: Outcome,
  reason: string,
  more: Partial<PolicyEntry> = {},
): DoneEntry {
  return { index: from.index, phase: 'done', entry: { ...from.entry, ...more, outcome, reason } };
}

export function replaceEntry(state: RunState, old: Entry, next: Entry): RunState {
  return { ...state, entries: state.entries.map((entry) => (entry === old ? next : entry)) };
}

/** The entry of a truncation that this run watches. */
export function watched(
  from: Pick<Entry, 'index' | 'entry'>,
  attempt: Attempt,
  now: number,
  nextLookAt: number,
): WatchedEntry {
  return {
    index: from.index,
    phase: 'watched',
    entry: { ...from.entry, ...attemptFields(attempt) },
    watch: {
      attemptId: attempt.attemptId,
      startedAt: attempt.sendingSince ?? now,
      succeededAt: now,
      lastLookAt: now,
      nextLookAt,
      looks: 0,
    },
  };
}

/** What the report says of a truncation, from the ledger's attempt: also where the run that sent it is long gone. */
export function attemptFields(attempt: Attempt): Omit<PolicyEntry, 'outcome' | 'reason'> {
  const { fields, baseline } = attempt;
  return {
    entityType: fields.entityType,
    aspect: fields.aspect,
    ...(attempt.retentionDays !== undefined && { retentionDays: attempt.retentionDays }),
    ...cutoffFields(fields.endTimeMillis),
    strategy: attempt.strategy,
    ...(baseline && countFields(baseline.rowsToDelete, baseline.rowsTotal)),
    ...(baseline?.indexName !== undefined && { indexName: baseline.indexName }),
    ...(baseline?.sizeMb !== undefined && { sizeBeforeMb: baseline.sizeMb }),
    ...(attempt.taskId !== undefined && { taskId: attempt.taskId }),
  };
}

export const cutoffFields = (cutoffMillis: number) => ({
  cutoff: new Date(cutoffMillis).toISOString(),
  cutoffMillis,
});

export const countFields = (rowsToDelete: number, rowsTotal: number) => ({
  rowsTotal,
  rowsToDelete,
  percent: percentOf(rowsToDelete, rowsTotal),
});

/** The reason where a run comes back to its own truncation too late. */
export const closedByOthers = 'another run has closed this truncation and gone on with the index; see its report';

/** A truncation may be running, or may have been sent. */
export const isUnresolved = (record: LedgerRecord): boolean => record.state === 'sending' || record.state === 'running';

/** From when on an unresolved record may be judged, epoch milliseconds of the run's clock. */
export function judgeableAt(record: LedgerRecord): number {
  return record.state === 'running' ? 0 : (record.attempt?.judgeableAt ?? Number.POSITIVE_INFINITY);
}
