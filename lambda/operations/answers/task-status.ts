import type { TaskCounters, TaskStatus } from '../operations.ts';
import { countOf, isObject, type JsonObject, numberOf, parseJson, textOf, unwrapped } from './json-value.ts';
import { type Quote, quote, type Unreadable } from './server-text.ts';

/**
 * Reads the answer of `getEsTaskStatus` (docs/operations-service.md, 4.2) in every shape that servers give it: in `value` or not,
 * as object or as a string of JSON; `status` as object, as a string of JSON, as plain text or missing
 * (OperationsResource prints the search client's object, whose text depends on the client's version).
 * A task without a readable `completed` is unreadable; a counter that is not a number is left out.
 * @param answer the parsed JSON body
 */
export function readTaskStatus(answer: unknown, show: Quote = quote): TaskStatus | Unreadable {
  const task = unwrapped(answer);
  if (!isObject(task)) return { kind: 'unreadable', excerpt: show(textOf(task)) };
  const completed = booleanOf(task['completed']);
  if (completed === undefined) {
    const error = task['error'];
    if (error !== undefined && error !== null) return { kind: 'vanished', reason: show(textOf(error)) };
    return { kind: 'unreadable', excerpt: show(textOf(task)) };
  }
  const runTimeNanos = numberOf(task['runTimeNanos']);
  return {
    kind: 'found',
    completed,
    ...(runTimeNanos !== undefined && runTimeNanos >= 0 && { runTimeMillis: runTimeNanos / 1e6 }),
    counters: countersOf(task['status'], show),
  };
}

function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value === 'true') return true;
  return value === 'false' ? false : undefined;
}

function countersOf(status: unknown, show: Quote): TaskCounters {
  if (isObject(status)) return countersOfObject(status, show);
  if (typeof status !== 'string') return {};
  const parsed = parseJson(status);
  // Some answers are escaped once more than others.
  const inner = typeof parsed === 'string' ? parseJson(parsed) : parsed;
  return isObject(inner) ? countersOfObject(inner, show) : countersOfText(status);
}

/** A sliced task's own counters cover its finished slices; the slices themselves are not added, that would count twice. */
function countersOfObject(status: JsonObject, show: Quote): TaskCounters {
  const retries = isObject(status['retries']) ? status['retries'] : {};
  const canceled = status['canceled'];
  return withoutUndefined({
    total: countOf(status['total']),
    updated: countOf(status['updated']),
    created: countOf(status['created']),
    deleted: countOf(status['deleted']),
    batches: countOf(status['batches']),
    versionConflicts: countOf(status['version_conflicts']),
    noops: countOf(status['noops']),
    bulkRetries: countOf(retries['bulk']),
    searchRetries: countOf(retries['search']),
    throttledMillis: countOf(status['throttled_millis']),
    requestsPerSecond: numberOf(status['requests_per_second']),
    throttledUntilMillis: countOf(status['throttled_until_millis']),
    canceled: typeof canceled === 'string' ? show(canceled) : undefined,
  });
}

/** The Java form: `BulkIndexByScrollResponse[sliceId=null,updated=0,created=0,deleted=5,…,versionConflicts=0,…]`. */
function countersOfText(text: string): TaskCounters {
  const value = (name: string) => countOf(new RegExp(`[[,\\s]${name}=(\\d{1,16})(?=[,\\]\\s])`).exec(text)?.[1]);
  return withoutUndefined({
    total: value('total'),
    updated: value('updated'),
    created: value('created'),
    deleted: value('deleted'),
    batches: value('batches'),
    versionConflicts: value('versionConflicts'),
    noops: value('noops'),
  });
}

function withoutUndefined(counters: TaskCounters): TaskCounters {
  return Object.fromEntries(Object.entries(counters).filter(([, value]) => value !== undefined));
}
