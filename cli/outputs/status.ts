import type { StoredRecord } from '../../lambda/ledger/record.ts';
import { exact, moment } from '../../lambda/words/numbers.ts';
import { type IndexStatus, statusOf } from '../ledgers/status.ts';
import { table } from './table.ts';

/** What the ledger says of each index, for people. @param folder the ledger's, for where nothing is in it */
export function statusText(records: readonly StoredRecord[], folder: string): string {
  if (records.length === 0)
    return `The ledger ${folder} has no record: no run of this machine has truncated anything yet.\n`;
  const rows = records.map((record) => {
    const status = statusOf(record);
    const { name, since } = status;
    return [name, stateText(status), since === undefined ? '-' : timeOf(since), lastText(status)];
  });
  return `${table([{ title: 'Index' }, { title: 'Now' }, { title: 'Since' }, { title: 'Last verdict' }], rows)}\n`;
}

function lastText({ lastOutcome, lastDecidedAt = '', rowsDeleted, releasedAt = '' }: IndexStatus): string {
  if (releasedAt > lastDecidedAt) return `released on ${timeOf(releasedAt)}`;
  const deleted = rowsDeleted === undefined ? '' : `, ${exact(rowsDeleted)} rows deleted`;
  return lastOutcome === undefined ? '-' : `${lastOutcome}${deleted}, ${timeOf(lastDecidedAt)}`;
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
    case 'judged':
      return `judged, not reported yet${rowsMissing ? `: ${exact(rowsMissing)} rows missing` : ''}`;
    case 'quarantined':
      return `QUARANTINED${rowsMissing ? `, ${exact(rowsMissing)} rows missing` : ''}`;
    case 'other-version':
      return 'written by another version';
  }
}
