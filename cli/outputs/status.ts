import type { StoredRecord } from '../../lambda/ledger/record.ts';
import type { RunSummary } from '../../lambda/ledger/runs.ts';
import { exact, moment, rows as rowsText } from '../../lambda/report/sentences/numbers.ts';
import { oneLine } from '../../lambda/report/sentences/text.ts';
import { resultLine } from '../events/run-listener.ts';
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
  const { since, taskId, rowsToDelete, unreported, unreadable } = status;
  if (unreadable) return [`fields that cannot be read: ${unreadable.join(', ')}`, 'left alone until it is released'];
  const last = [...lastVerdict(status), ...releaseOf(status)];
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
  const counts = resultLine(lastOutcome, counted);
  return [`${lastOutcome} on ${timeOf(lastDecidedAt)}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`];
}

/** Until the next truncation of the index: who released it, and what was accepted as lost. */
function releaseOf({ releasedAt, releasedBy, releasedUnproven, acceptedMissing }: IndexStatus): string[] {
  if (releasedAt === undefined) return [];
  const by = releasedBy === undefined ? '' : ` by ${oneLine(releasedBy, 100)}`;
  return [`released${by} on ${timeOf(releasedAt)}${acceptedText(acceptedMissing, releasedUnproven)}`];
}

const acceptedText = (accepted = 0, unproven = false): string =>
  (accepted > 0 ? `, with up to ${rowsText(accepted, 'exact')} accepted as lost` : '') +
  (unproven ? ', without proof that no row is missing' : '');

/** The last runs that enforced or released, the newest first. @param width of its lines, characters */
export function runsText(runs: readonly RunSummary[], width: number): string {
  const columns = [{ title: 'When' }, { title: 'By' }, { title: 'Result' }, { title: 'What' }];
  const rows = runs.map(({ finishedAt, by = '-', result, indices, released = [], notReleased = [] }) => [
    timeOf(finishedAt),
    oneLine(by, 60),
    result,
    [
      ...indices.map(indexText),
      ...released.map(releasedText),
      ...notReleased.map((name) => oneLine(`${name} not released`, 300)),
    ].join('; ') || (result === 'ok' ? 'nothing to do' : 'no index was touched: its report says why'),
  ]);
  return `${table(columns, rows, width)}\n`;
}

function indexText({ name, outcome, approvedRows, run, by, ...counts }: RunSummary['indices'][number]): string {
  const approved = approvedRows === undefined ? [] : [`${exact(approvedRows)} approved`];
  return withDetails(`${name} ${outcome}`, [...resultLine(outcome, counts), ...approved], { run, by });
}

const releasedText = ({ name, accepted, unproven, ...earlier }: NonNullable<RunSummary['released']>[number]): string =>
  withDetails(`${name} released${acceptedText(accepted, unproven)}`, [], earlier);

/** @param earlier what an earlier run has done, and this one was the first to report */
function withDetails(what: string, details: string[], { run, by }: Pick<RunSummary['indices'][number], 'run' | 'by'>) {
  if (by !== undefined) details.push(`asked for by ${oneLine(by, 100)}`);
  if (run !== undefined) details.push(`decided by run ${run}`);
  return oneLine(details.length === 0 ? what : `${what} (${details.join(', ')})`, 300);
}
