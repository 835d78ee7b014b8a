import type { Note } from '../facts/note.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { aliasOf } from '../operations/backend.ts';
import { date } from './numbers.ts';

/**
 * What an operator does to get rows back, or to make them visible: sentences, some with a request to the search cluster
 * in the form that its consoles accept. The line above every request says what it does; the deadline comes first.
 */
export interface Instruction {
  say: string;
  request?: string;
}

/**
 * Instructions in the order in which to follow them; empty if there is nothing to recover.
 * @param now real time, epoch milliseconds: a deadline may have passed
 */
export function recovery(entry: DecidedFacts, now: number): Instruction[] {
  const { cause, strategy } = entry;
  switch (cause.kind) {
    case 'rows-missing': {
      const reindexed = strategy !== 'delete-by-query' || cause.movedBy === 'us';
      if (cause.indexGone) return [{ say: restoreIndex }];
      if (isMoved(cause)) return [...goBack(cause, now, reindexed), ...(reindexed ? [{ say: noMoreReindex }] : [])];
      return reindexed ? [...lookForCopy(entry), { say: noMoreReindex }] : lookForDeleter(entry);
    }
    case 'quarantined':
      // Repeated each night: nobody should have to look for the first message.
      if (cause.unseen) return makeVisible(cause.indexNow);
      if (isMoved(cause)) return goBack(cause, now, true);
      return cause.outcome === 'rows-missing' || cause.outcome === 'emptied' ? lookForDeleter(entry) : [];
    case 'gone-since':
      return isMoved(cause) ? goBack(cause, now, true) : lookForDeleter(entry);
    case 'emptied': {
      const { indexBefore: rowsIn, indexNow } = cause;
      const moved = { rowsIn, indexNow };
      return isMoved(moved) ? goBack(moved, now, true) : lookForDeleter(entry);
    }
    case 'not-refreshed':
      return makeVisible(cause.indexNow ?? entry.indexName);
    case 'unsettled': {
      const { indexBefore: rowsIn, indexNow } = cause;
      const moved = { rowsIn, indexNow };
      return isMoved(moved) ? compare(moved, now) : [];
    }
    case 'verified':
    case 'remains':
      return isIndexName(cause.stragglersIn) && isIndexName(entry.indexName)
        ? bringStragglers(cause.stragglersIn, entry.indexName, entry.cutoffMillis ?? 0)
        : [];
    default:
      return [];
  }
}

/** The same for an index that an operator wants cleared but that is not whole. */
export function recoveryOfNote(note: Note, now: number): Instruction[] {
  if (note.kind !== 'not-released') return [];
  if (note.unseen) return makeVisible(note.indexNow);
  return isMoved(note) ? goBack(note, now, true) : [];
}

/** The alias has moved from one index to another one. */
interface Moved {
  rowsIn: string;
  indexNow: string;
  deadline?: number | undefined;
}

const isMoved = <Facts extends { rowsIn?: string | undefined; indexNow?: string | undefined }>(
  facts: Facts,
): facts is Facts & Moved =>
  isIndexName(facts.rowsIn) && isIndexName(facts.indexNow) && facts.rowsIn !== facts.indexNow;

/** What the search engine accepts as an index name; nothing else gets into a request, wherever a report comes from. */
const isIndexName = (name: string | undefined): name is string =>
  name !== undefined && /^(?![-_+.])[\p{Ll}\p{Lo}\p{N}_.+-]{1,255}$/u.test(name);

const request = (method: string, path: string, body?: unknown): string =>
  `${method} /${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`;

/** DataHub's own refresh interval (ELASTICSEARCH_INDEX_BUILDER_REFRESH_INTERVAL_SECONDS, default 3) and replicas (default 1). */
const visibleSettings = { index: { refresh_interval: '3s', number_of_replicas: 1 } };

function goBack(
  { rowsIn: before, indexNow: now, deadline }: Moved,
  time: number,
  mayBeInvisible: boolean,
): Instruction[] {
  const alias = aliasOf(before);
  const actions = { actions: [{ remove: { index: now, alias } }, { add: { index: before, alias } }] };
  return [
    { say: deadlineText(before, deadline, time) },
    { say: `The alias ${alias} has moved from ${before} to ${now}; the rows should still be in ${before}.` },
    ...(mayBeInvisible
      ? [
          {
            say: `First see whether the rows are only not visible yet: compare GET ${now}/_count with GET ${before}/_count after this refresh, and if nothing is missing then, skip the rest:`,
            request: request('POST', `${now}/_refresh`),
          },
        ]
      : []),
    { say: 'To go back, point the alias at the old index:', request: request('POST', '_aliases', actions) },
    {
      say: 'Let the old index be refreshed, which an earlier reindex may have switched off (leave number_of_replicas out on a single node):',
      request: request('PUT', `${before}/_settings`, visibleSettings),
    },
    {
      say: 'Make the rows visible that were written to the new index meanwhile:',
      request: request('POST', `${now}/_refresh`),
    },
    {
      say: 'Copy them to the old index:',
      request: request('POST', '_reindex', { conflicts: 'proceed', source: { index: now }, dest: { index: before } }),
    },
    { say: 'Refresh the old index; its count is true after that:', request: request('POST', `${before}/_refresh`) },
  ];
}

function deadlineText(index: string | undefined, deadline: number | undefined, now: number): string {
  const first = 'Run no DataHub upgrade before this is settled:';
  if (index === undefined || deadline === undefined) {
    return `${first} its system-update deletes old indices without an alias.`;
  }
  return deadline <= now
    ? `${first} its system-update would delete ${index} at once, because of its age.`
    : `${first} from ${date(deadline)} on, its system-update deletes ${index}.`;
}

function makeVisible(given: string | undefined): Instruction[] {
  const index = isIndexName(given) ? given : unnamed;
  return [
    {
      say: 'Switch refreshing on again, and replicas, which the server left off after a reindex (leave number_of_replicas out on a single node):',
      request: request('PUT', `${index}/_settings`, visibleSettings),
    },
    { say: 'Make visible what is there:', request: request('POST', `${index}/_refresh`) },
  ];
}

const compare = ({ rowsIn, indexNow, deadline }: Moved, now: number): Instruction[] => [
  { say: deadlineText(rowsIn, deadline, now) },
  {
    say: `To see for yourself, compare GET ${rowsIn}/_count with GET ${indexNow}/_count: they should differ by the rows deleted.`,
  },
];

/** If its name is unknown. */
const unnamed = '<index>';

const orphanPattern = ({ entityType, aspect }: DecidedFacts): string =>
  `*${`${entityType}_${aspect}`.toLowerCase().replace(/[^\p{Ll}\p{Lo}\p{N}_.+-]+/gu, '*')}aspect_v1*`;

function lookForCopy(entry: DecidedFacts): Instruction[] {
  return [
    { say: deadlineText(undefined, undefined, 0) },
    {
      say: 'First see whether the copy is there but not visible yet:',
      request: request('POST', `${isIndexName(entry.indexName) ? entry.indexName : unnamed}/_refresh`),
    },
    {
      say: 'Then look for an older index without an alias, which holds the rows, and point the alias back to it:',
      request: request('GET', `_cat/indices/${orphanPattern(entry)}?v`),
    },
  ];
}

const restoreIndex =
  'Find out who deleted the index, and restore it from a snapshot of the search engine if its rows matter.';

function lookForDeleter(entry: DecidedFacts): Instruction[] {
  return [
    {
      say: 'Find out what else deletes here (datahub-gc, which cuts at 30 days by default; someone by hand; entity deletion), and restore the rows from a snapshot of the search engine if they matter.',
    },
    ...(entry.indexName === undefined
      ? [
          {
            say: 'Look as well for an older index without an alias, which a reindex leaves behind with all its rows:',
            request: request('GET', `_cat/indices/${orphanPattern(entry)}?v`),
          },
        ]
      : []),
  ];
}

/** What failed once in this server fails again: 1.2.0 to 1.5.0 do it every time. */
const noMoreReindex =
  'Before you clear the index, set the strategy of its policy to delete-by-query-only, unless the copy was only invisible: the next reindex would end the same way.';

/** With `op_type: create` nothing existing is overwritten. */
function bringStragglers(before: string, now: string, cutoffMillis: number): Instruction[] {
  return [
    {
      say: `Rows written just before the copy began may be in ${before} alone, and no count can see them. Before you remove that index, bring them over; this overwrites nothing:`,
      request: request('POST', '_reindex', {
        conflicts: 'proceed',
        source: { index: before, query: { range: { timestampMillis: { gt: cutoffMillis } } } },
        dest: { index: now, op_type: 'create' },
      }),
    },
  ];
}

/** As running text, for places with a single field for it. */
export const recoveryText = (entry: DecidedFacts, now: number): string =>
  recovery(entry, now)
    .map(({ say, request: sent }) => (sent === undefined ? say : `${say} ${sent}.`))
    .join(' ');
