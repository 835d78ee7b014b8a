import type { DecidedFacts } from '../facts/report-schema.ts';
import { day } from './numbers.ts';

/**
 * What a person does to get rows back, or into view: sentences, each perhaps with a request to the search cluster in the form
 * that its consoles take. Every request has the line above it that says what it does.
 */
export interface Instruction {
  say: string;
  request?: string;
}

/**
 * Instructions in the order in which they are followed; empty where there is nothing to recover.
 * @param now real time, epoch milliseconds: a deadline may have passed
 */
export function recovery(entry: DecidedFacts, now: number): Instruction[] {
  const { cause, strategy } = entry;
  const reindexed = strategy !== 'delete-by-query';
  switch (cause.kind) {
    case 'rows-missing': {
      const { rowsIn, indexNow, deadline } = cause;
      const steps =
        rowsIn !== undefined && indexNow !== undefined
          ? goBack(rowsIn, indexNow, deadlineText(rowsIn, deadline, now), reindexed || cause.movedBy === 'us')
          : reindexed
            ? lookForCopy(entry)
            : lookForDeleter(entry);
      return reindexed || cause.movedBy === 'us' ? [...steps, { say: noMoreReindex }] : steps;
    }
    case 'quarantined':
      // Told again each night: nobody should have to look for the first message.
      return cause.rowsIn !== undefined && cause.indexNow !== undefined
        ? goBack(cause.rowsIn, cause.indexNow, deadlineText(cause.rowsIn, cause.deadline, now), true)
        : [];
    case 'gone-since':
      return cause.rowsIn !== undefined && cause.indexNow !== undefined
        ? goBack(cause.rowsIn, cause.indexNow, deadlineText(cause.rowsIn, cause.deadline, now), true)
        : lookForDeleter(entry);
    case 'emptied':
      return cause.indexBefore !== undefined && cause.indexNow !== undefined && cause.indexBefore !== cause.indexNow
        ? goBack(cause.indexBefore, cause.indexNow, deadlineText(cause.indexBefore, undefined, now), true)
        : lookForDeleter(entry);
    case 'not-refreshed':
      return makeVisible(cause.indexNow ?? entry.indexName);
    case 'verified':
      return cause.stragglersIn !== undefined && entry.indexName !== undefined
        ? bringStragglers(cause.stragglersIn, entry.indexName, entry.cutoffMillis ?? 0)
        : [];
    default:
      return [];
  }
}

const request = (method: string, path: string, body?: unknown): string =>
  `${method} /${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`;

/** DataHub's own refresh interval (ELASTICSEARCH_INDEX_BUILDER_REFRESH_INTERVAL_SECONDS, default 3) and replicas (default 1). */
const visibleSettings = { index: { refresh_interval: '3s', number_of_replicas: 1 } };

/** @param before the index that holds the rows; @param now the one behind the alias */
function goBack(before: string, now: string, deadline: string, mayBeInvisible: boolean): Instruction[] {
  const alias = before.replace(/_\d{13}$/, '');
  const actions = { actions: [{ remove: { index: now, alias } }, { add: { index: before, alias } }] };
  return [
    { say: deadline },
    { say: `The alias ${alias} has moved from ${before} to ${now}; the rows should still be in ${before}.` },
    ...(mayBeInvisible
      ? [
          {
            say: `First see whether the rows are only not visible yet: after this refresh compare GET ${now}/_count with GET ${before}/_count; if nothing is missing then, leave the rest out.`,
            request: request('POST', `${now}/_refresh`),
          },
        ]
      : []),
    { say: 'To go back, point the alias at the old index:', request: request('POST', '_aliases', actions) },
    {
      say: 'Let the old index be refreshed, which an earlier reindex may have switched off:',
      request: request('PUT', `${before}/_settings`, visibleSettings),
    },
    { say: 'Make the rows visible that were written to the new index meanwhile:', request: request('POST', `${now}/_refresh`) },
    {
      say: 'Copy them to the old index:',
      request: request('POST', '_reindex', { conflicts: 'proceed', source: { index: now }, dest: { index: before } }),
    },
    { say: 'Refresh the old index; its count is true after that:', request: request('POST', `${before}/_refresh`) },
  ];
}

function deadlineText(index: string | undefined, deadline: number | undefined, now: number): string {
  const first = 'Run no DataHub upgrade before this is done:';
  if (index === undefined || deadline === undefined) {
    return `${first} its system-update deletes old indices without an alias.`;
  }
  return deadline <= now
    ? `${first} its system-update would delete ${index} at once, because of its age.`
    : `${first} from ${day(new Date(deadline).toISOString())} on, its system-update deletes ${index}.`;
}

function makeVisible(index = '<index>'): Instruction[] {
  return [
    {
      say: 'Switch refreshing on again, and replicas, which the server left off after a reindex (leave number_of_replicas out on a single node):',
      request: request('PUT', `${index}/_settings`, visibleSettings),
    },
    { say: 'Make visible what is there:', request: request('POST', `${index}/_refresh`) },
  ];
}

const orphanPattern = ({ entityType, aspect }: DecidedFacts): string =>
  `*${entityType.toLowerCase()}_${aspect.toLowerCase()}aspect_v1*`;

function lookForCopy(entry: DecidedFacts): Instruction[] {
  return [
    { say: deadlineText(undefined, undefined, 0) },
    {
      say: 'First see whether the copy is there but not visible yet:',
      request: request('POST', `${entry.indexName ?? '<index>'}/_refresh`),
    },
    {
      say: 'Then look for an older index without an alias, which holds the rows, and point the alias back to it:',
      request: request('GET', `_cat/indices/${orphanPattern(entry)}?v`),
    },
  ];
}

function lookForDeleter(entry: DecidedFacts): Instruction[] {
  const unseen = entry.indexName === undefined;
  return [
    {
      say: 'Find out what else deletes here (datahub-gc cuts at 30 days unless it is told otherwise; a person; entity deletion) and restore from a snapshot of the search engine where these rows matter.',
    },
    ...(unseen
      ? [
          {
            say: 'Look as well for an older index without an alias, which a reindex leaves behind with all its rows:',
            request: request('GET', `_cat/indices/${orphanPattern(entry)}?v`),
          },
        ]
      : []),
  ];
}

/** What failed once in this server fails again: 1.2 to 1.4 do it every time. */
const noMoreReindex =
  'Before you clear the index, set the strategy of its policy to delete-by-query-only, unless the copy was only invisible: the next reindex would end the same way.';

/** With `op_type: create` nothing that is there is overwritten. */
function bringStragglers(before: string, now: string, cutoffMillis: number): Instruction[] {
  return [
    {
      say: `What is not known: rows that were not searchable yet when the copy began may be in ${before} alone, and no count can see them. Bring them over before you remove that index; this overwrites nothing:`,
      request: request('POST', '_reindex', {
        conflicts: 'proceed',
        source: { index: before, query: { range: { timestampMillis: { gt: cutoffMillis } } } },
        dest: { index: now, op_type: 'create' },
      }),
    },
  ];
}

/** As running text, for places that have one field for it. */
export const recoveryText = (entry: DecidedFacts, now: number): string =>
  recovery(entry, now)
    .map(({ say, request: sent }) => (sent === undefined ? say : `${say} ${sent}.`))
    .join(' ');
