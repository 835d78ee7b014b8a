import type { LastVerdict, LedgerRecord, StoredRecord } from '../../lambda/ledger/record.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { exact, iso, moment } from '../../lambda/words/numbers.ts';
import { table } from '../outputs/table.ts';

/** What the ledger knows of one index. Times are ISO 8601 UTC. */
export interface IndexStatus {
  /** As policies name it; the search index where the record does not say that. */
  name: string;
  state: StoredRecord['state'];
  /** Since when it has been in this state, where that is known. */
  since?: string | undefined;
  server?: string | undefined;
  taskId?: string | undefined;
  rowsToDelete?: number | undefined;
  rowsMissing?: number | undefined;
  lastOutcome?: string | undefined;
  lastDecidedAt?: string | undefined;
  rowsDeleted?: number | undefined;
}

export function statusOf(record: StoredRecord): IndexStatus {
  if (record.state === 'other-version') {
    const { entityType, aspect, server } = record.head;
    const name = entityType && aspect ? dottedName({ entityType, aspect }) : record.index;
    return { name, state: record.state, server };
  }
  const { server, state, lastVerdict } = record;
  const now = { name: dottedName(record), state, server, since: sinceOf(record) };
  const taskId = 'taskId' in record ? record.taskId : undefined;
  const isUnderWay = state === 'sending' || state === 'running';
  const rowsToDelete = isUnderWay ? record.attempt.baseline.rowsToDelete : undefined;
  const rowsMissing = state === 'quarantined' ? lastVerdict?.verdict.rowsMissing : undefined;
  return { ...now, taskId, rowsToDelete, rowsMissing, ...(lastVerdict && last(lastVerdict)) };
}

function sinceOf(record: LedgerRecord): string | undefined {
  if (record.state === 'quarantined') return iso(record.since);
  return record.state === 'idle' ? undefined : iso(record.attempt.sendingSince);
}

const last = ({ decidedAtMillis, verdict }: LastVerdict) => ({
  lastOutcome: verdict.outcome,
  lastDecidedAt: iso(decidedAtMillis),
  rowsDeleted: verdict.rowsDeleted,
});

/** `status --json`. */
export const statusJson = (records: readonly StoredRecord[]): string =>
  `${JSON.stringify({ version: 1, indices: records.map(statusOf) }, null, 2)}\n`;

/** The same for people. @param folder the ledger's, for where nothing is in it */
export function statusText(records: readonly StoredRecord[], folder: string): string {
  if (records.length === 0)
    return `The ledger ${folder} has no record: no run of this machine has truncated anything yet.\n`;
  const rows = records.map((record) => {
    const status = statusOf(record);
    const { name, since, lastOutcome, lastDecidedAt, rowsDeleted } = status;
    const deleted = rowsDeleted === undefined ? '' : `, ${exact(rowsDeleted)} rows deleted`;
    const before = lastOutcome === undefined ? '-' : `${lastOutcome}${deleted}, ${timeOf(lastDecidedAt)}`;
    return [name, stateText(status), since === undefined ? '-' : timeOf(since), before];
  });
  return `${table([{ title: 'Index' }, { title: 'Now' }, { title: 'Since' }, { title: 'Last verdict' }], rows)}\n`;
}

const timeOf = (time: string | undefined): string => (time ? moment(Date.parse(time)) : 'at an unknown time');

function stateText({ state, taskId, rowsToDelete, rowsMissing }: IndexStatus): string {
  switch (state) {
    case 'idle':
      return 'idle';
    case 'sending':
      return `being sent (${exact(rowsToDelete)} rows to delete)`;
    case 'running':
      return `under way: task ${taskId} (${exact(rowsToDelete)} rows to delete)`;
    case 'quarantined':
      return `QUARANTINED${rowsMissing ? `, ${exact(rowsMissing)} rows missing` : ''}`;
    case 'other-version':
      return 'written by another version';
  }
}
