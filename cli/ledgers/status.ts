import { isUnresolved, namesOfRecord, readablePartOf, type StoredRecord } from '../../lambda/ledger/record.ts';
import type { RunSummary } from '../../lambda/ledger/runs.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { iso } from '../../lambda/report/sentences/numbers.ts';
import { taskRowsOf } from '../events/run-listener.ts';
import type { LastRun } from './stored-ledger.ts';

export type IndexStatus = ReturnType<typeof statusOf>;

/** What the ledger knows of one index, by the name that policies have. Times are ISO 8601 UTC. */
export function statusOf(record: StoredRecord) {
  const name = dottedName(namesOfRecord(record));
  const { state } = record;
  if (state === 'unreadable') return { name, state, server: readablePartOf(record).server, unreadable: record.fields };
  const { server, lastVerdict, lastRelease, unreported } = record;
  const isOpen = isUnresolved(record);
  const verdict = lastVerdict?.verdict;
  return {
    name,
    state,
    server,
    /** Since when it has been in this state, where that is known. */
    since: isOpen
      ? iso(record.attempt.sendingSince)
      : state === 'quarantined'
        ? iso(record.lastVerdict.decided.atMillis)
        : undefined,
    taskId: state === 'running' ? record.taskId : undefined,
    rowsToDelete: isOpen ? record.attempt.baseline.rowsToDelete : undefined,
    rowsMissing: verdict?.rowsMissing || undefined,
    rowsNotVisible: verdict?.rowsNotVisible || undefined,
    lastOutcome: verdict?.outcome,
    lastDecidedAt: lastVerdict && iso(lastVerdict.decided.atMillis),
    rowsDeleted: verdict?.rowsDeleted,
    /** What its task says it has deleted, also where the counts do not show it. */
    taskRows: verdict?.method === 'reindex' ? undefined : taskRowsOf(verdict?.cause),
    /** Of a reindex: rows that are still in the old index, and its name. */
    rowsLeftBehind: verdict?.rowsLeftBehind,
    oldIndex: verdict?.rowsLeftBehind && !isOpen ? record.attempt?.baseline.indexName : undefined,
    /** The run that sent last: who asked for it, and the number that a person approved. */
    by: isOpen || verdict ? record.attempt?.by : undefined,
    approvedRows: record.attempt?.approvedRows,
    releasedAt: lastRelease && iso(lastRelease.decided.atMillis),
    releasedBy: lastRelease?.by,
    releasedRun: lastRelease?.decided.runId,
    acceptedMissing: lastRelease?.release.accepted,
    /** How many rows were missing was not known: a person accepted that. */
    releasedUnproven: lastRelease?.release.unknown !== undefined || undefined,
    /** No report is known to have included its last verdict, or its last release. */
    unreported: unreported || undefined,
  };
}

/** `status --json`. */
export const statusJson = (
  records: readonly StoredRecord[],
  lastRun: LastRun | undefined,
  runs: readonly RunSummary[],
): string => `${JSON.stringify({ version: 1, lastRun, indices: records.map(statusOf), runs }, null, 2)}\n`;
