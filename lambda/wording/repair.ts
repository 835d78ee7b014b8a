import { listTasksRequest, taskPlaceholderRequest } from '../operations/backend.ts';
import type { Command, Instruction } from './instruction.ts';
import { date } from './numbers.ts';

/**
 * The steps that bring rows back. Each says what it does; most have a request to the search cluster in the form that
 * its consoles accept. docs/runbook.md has the same steps, with OLD, NEW and ALIAS for the names; a test compares
 * them.
 */

/** How to pause this job. */
export interface Pause {
  command: string;
  /** The account in which to run the command, if known. */
  account?: string | undefined;
}

/** The alias points to an index other than the one that holds the rows. */
export interface Moved {
  rowsIn: string;
  indexNow: string;
  deadline?: number | undefined;
}

/** What the search engine accepts as an index name; nothing else gets into a request, whatever the report's source. */
export const isIndexName = (name: string | undefined): name is string =>
  name !== undefined && /^(?![-_+.])[\p{Ll}\p{Lo}\p{N}_.+-]{1,255}$/u.test(name);

/** A request to the search engine. */
export const ask = (say: string, line: string, danger?: Command['danger']): Command => ({
  say,
  line,
  typedIn: 'search-engine',
  ...(danger && { danger }),
});

const request = (method: string, path: string, body?: unknown): string =>
  `${method} /${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`;

/** DataHub's own refresh interval (ELASTICSEARCH_INDEX_BUILDER_REFRESH_INTERVAL_SECONDS, default 3) and replicas (default 1). */
const visibleSettings = { index: { refresh_interval: '3s', number_of_replicas: 1 } };

/** If its name is unknown. */
const unnamed = '<index>';

export const waitForCopies = ask('Wait until nothing deletes from it or copies into it any more', listTasksRequest);

/** A copy may take longer than a gateway lets a request wait. */
const copy = (say: string, body: object): Command =>
  ask(say, request('POST', '_reindex?wait_for_completion=false', body), 'copies');

const seeItsEnd = ask(
  'See its end, with the task that this answered: go on when it says "completed": true and has no failures',
  taskPlaceholderRequest,
);

const refresh = (say: string, index: string): Command => ask(say, request('POST', `${index}/_refresh`));

/** Points the alias back at the index with the rows, and copies what was written in the meantime. */
export function goBack({ rowsIn: before, indexNow: now }: Moved, alias: string): Instruction[] {
  const actions = { actions: [{ remove: { index: now, alias } }, { add: { index: before, alias } }] };
  return [
    refresh(
      `The alias ${alias} has moved from ${before} to ${now}; the rows should still be in ${before}. Make visible what is in the new index`,
      now,
    ),
    ask(
      `Compare this with GET /${before}/_count. If nothing is missing, skip what follows`,
      request('GET', `${now}/_count`),
    ),
    ask('To go back, point the alias at the old index', request('POST', '_aliases', actions), 'moves'),
    ask(
      'Let the old index be refreshed, which an earlier reindex may have switched off (leave number_of_replicas out on a single node)',
      request('PUT', `${before}/_settings`, visibleSettings),
    ),
    refresh('Make the rows visible that were written to the new index meanwhile', now),
    copy('Copy them to the old index', { conflicts: 'proceed', source: { index: now }, dest: { index: before } }),
    seeItsEnd,
    refresh('Refresh the old index; its count is true after that', before),
  ];
}

/** With `op_type: create` it overwrites nothing, so it can be repeated. */
export const bringOver = ({ rowsIn: before, indexNow: now }: Moved, cutoffMillis: number): Instruction[] => [
  copy(`This copies what stayed behind in ${before}, and overwrites nothing`, {
    conflicts: 'proceed',
    source: { index: before, query: { range: { timestampMillis: { gt: cutoffMillis } } } },
    dest: { index: now, op_type: 'create' },
  }),
  seeItsEnd,
  refresh('Refresh it; its count is true after that', now),
];

const keepOld = 'The alias has left it, and it should still have the rows: do not delete it';

/** Without a full stop at the end. */
export function deadlineText(index?: string, deadline?: number, now = 0): string {
  const first = 'Run no DataHub upgrade before this is settled:';
  if (index === undefined || deadline === undefined) {
    return `${first} its system-update deletes old indices without an alias`;
  }
  return deadline <= now
    ? `${first} its system-update would delete the old index ${index} at once, because of its age. ${keepOld}`
    : `${first} from ${date(deadline)} on, its system-update deletes the old index ${index}. ${keepOld}`;
}

export function makeVisible(given: string | undefined): Instruction[] {
  const index = isIndexName(given) ? given : unnamed;
  return [
    ask(
      'Switch refreshing on again, and replicas, which the server left off after a reindex (leave number_of_replicas out on a single node)',
      request('PUT', `${index}/_settings`, visibleSettings),
    ),
    refresh('Make visible what is there', index),
  ];
}

export const compare = ({ rowsIn, indexNow }: Moved): Instruction[] => [
  ask(
    `To see for yourself, compare this with GET /${indexNow}/_count: they should differ by the rows deleted`,
    request('GET', `${rowsIn}/_count`),
  ),
];

export const restoreIndex =
  'Find out who deleted the index, and restore it from a snapshot of the search engine if its rows matter';

/** A failure on this server will happen again: 1.2.0 to 1.5.0 fail every time. */
export const noMoreReindex =
  'Before you clear the index, set the strategy of its policy to delete-by-query-only, unless the copy was only invisible: the next reindex would end the same way';
