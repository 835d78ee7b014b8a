import type { StoredRecord } from '../../lambda/ledger/record.ts';
import { exact, moment } from '../../lambda/message/numbers.ts';
import { type IndexStatus, statusOf } from '../ledgers/status.ts';
import { table } from './table.ts';

/**
 * What a ledger says of each index, for people: a table for each server.
 * @param width of its lines, characters
 */
export function statusText(records: readonly StoredRecord[], width: number): string {
  const all = records.map(statusOf);
  const servers = [...new Set(all.map(({ server }) => server))];
  return servers
    .map((server) => {
      const rows = all
        .filter((status) => status.server === server)
        .map((status) => [status.name, states[status.state], detailsOf(status).join('; ')]);
      const columns = [{ title: 'Index' }, { title: 'Now' }, { title: 'What is known' }];
      return `Server  ${server ?? 'not known'}\n\n${table(columns, rows, width)}\n`;
    })
    .join('\n');
}

const states: Record<IndexStatus['state'], string> = {
  idle: 'idle',
  sending: 'being sent',
  running: 'under way',
  judged: 'not reported',
  quarantined: 'QUARANTINED',
  'other-version': 'not readable',
};

const timeOf = (time: string | undefined): string => (time ? moment(Date.parse(time)) : 'an unknown time');

function detailsOf(status: IndexStatus): string[] {
  const { state, since, taskId, rowsToDelete, releasedAt = '', lastDecidedAt = '', unreported = [] } = status;
  const waits = 'nothing more is deleted here until a run has reported it';
  if (state === 'other-version') {
    const decided = unreported.map((what) =>
      what === 'verdict' ? `${status.lastOutcome} on ${timeOf(since)}` : 'released',
    );
    return ['written by another version', ...decided, ...(decided.length > 0 ? [waits] : [])];
  }
  // A release closes what was judged before it, once people have been told of that.
  const isReleased = releasedAt > lastDecidedAt;
  const last = [
    ...(isReleased && !(unreported.includes('verdict') && unreported.includes('release')) ? [] : lastVerdict(status)),
    ...(isReleased ? [`released on ${timeOf(releasedAt)}`] : []),
  ];
  if (state === 'judged') return [...last, waits];
  if (rowsToDelete === undefined) return last;
  return [
    `since ${timeOf(since)}`,
    `${exact(rowsToDelete)} rows to delete`,
    ...(taskId === undefined ? [] : [`task ${taskId}`]),
    ...last.map((text) => `before that ${text}`),
  ];
}

function lastVerdict({ lastOutcome, lastDecidedAt, rowsDeleted, rowsMissing }: IndexStatus): string[] {
  if (lastOutcome === undefined) return [];
  const counts = [
    ...(rowsMissing === undefined ? [] : [`${exact(rowsMissing)} rows missing`]),
    ...(rowsDeleted === undefined ? [] : [`${exact(rowsDeleted)} rows deleted`]),
  ];
  return [`${lastOutcome} on ${timeOf(lastDecidedAt)}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`];
}
