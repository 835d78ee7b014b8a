import type { StoredRecord } from '../../lambda/ledger/record.ts';
import { exact, moment } from '../../lambda/report/sentences/numbers.ts';
import { resultLine } from '../events/output.ts';
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
  quarantined: 'QUARANTINED',
  unreadable: 'not readable',
};

const timeOf = (time: string | undefined): string => (time ? moment(Date.parse(time)) : 'an unknown time');

function detailsOf(status: IndexStatus): string[] {
  const { since, taskId, rowsToDelete, releasedAt, unreported, unreadable } = status;
  if (unreadable) return [`fields that cannot be read: ${unreadable.join(', ')}`, 'left alone until it is released'];
  const last = [...lastVerdict(status), ...(releasedAt === undefined ? [] : [`released on ${timeOf(releasedAt)}`])];
  if (unreported) return [...last, 'nothing more is deleted here until a run has reported it'];
  if (rowsToDelete === undefined) return last;
  return [
    `since ${timeOf(since)}`,
    `${exact(rowsToDelete)} rows to delete`,
    ...(taskId === undefined ? [] : [`task ${taskId}`]),
    ...last.map((text) => `before that ${text}`),
  ];
}

function lastVerdict({ lastOutcome, lastDecidedAt, ...counted }: IndexStatus): string[] {
  if (lastOutcome === undefined) return [];
  const { rowsMissing, rowsNotVisible } = counted;
  const isTolerated = lastOutcome !== 'rows-missing';
  const counts = [
    ...(rowsMissing === undefined
      ? []
      : [`${exact(rowsMissing)} ${isTolerated ? 'newer rows gone as well' : 'rows missing'}`]),
    ...(rowsNotVisible === undefined ? [] : [`${exact(rowsNotVisible)} rows not visible`]),
    ...resultLine(counted),
  ];
  return [`${lastOutcome} on ${timeOf(lastDecidedAt)}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`];
}
