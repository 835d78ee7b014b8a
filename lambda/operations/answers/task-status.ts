import type { TaskCounters, TaskStatus } from '../operations.ts';
import { countOf, isObject, type JsonObject, numberOf, parseJson, textOf, unwrapped } from './json-value.ts';
import { type Quote, quote, type Unreadable } from './server-text.ts';

/**
 * Reads the answer of `getEsTaskStatus` (docs/operations-service.md) in every shape that servers use: in `value`
 * or not, as object or as a string of JSON; `status` as object, as a string of JSON, as plain text or missing
 * (OperationsResource prints the search client's object, whose text depends on the client's version). A task without a
 * readable `completed` is unreadable; a counter that is not a number is left out.
 * @param answer the parsed JSON body
 */
export function readTaskStatus(answer: unknown, show: Quote = quote): TaskStatus | Unreadable {
  const task = unwrapped(answer);
  if (!isObject(task)) return { kind: 'unreadable', excerpt: show(textOf(task)) };
  const completed = booleanOf(task['completed']);
  if (completed === undefined) {
    const error = task['error'];
    if (error !== undefined && error !== null) return { kind: 'vanished' };
    return { kind: 'unreadable', excerpt: show(textOf(task)) };
  }
  const runTimeNanos = numberOf(task['runTimeNanos']);
  return {
    kind: 'found',
    completed,
    ...(runTimeNanos !== undefined && runTimeNanos >= 0 && { runTimeMillis: runTimeNanos / 1e6 }),
    counters: countersOf(task['status']),
  };
}

function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value === 'true') return true;
  return value === 'false' ? false : undefined;
}

function countersOf(status: unknown): TaskCounters {
  if (isObject(status)) return countersOfObject(status);
  if (typeof status !== 'string') return {};
  const parsed = parseJson(status);
  // Some answers are escaped one more time than others.
  const inner = typeof parsed === 'string' ? parseJson(parsed) : parsed;
  return isObject(inner) ? countersOfObject(inner) : countersOfText(status);
}

/** A sliced task's own counters cover its finished slices; adding the slices themselves would count them twice. */
function countersOfObject(status: JsonObject): TaskCounters {
  return withoutUndefined({
    total: countOf(status['total']),
    updated: countOf(status['updated']),
    created: countOf(status['created']),
    deleted: countOf(status['deleted']),
    versionConflicts: countOf(status['version_conflicts']),
    cancelled: typeof status['canceled'] === 'string' ? true : undefined,
    sliced: Array.isArray(status['slices']) && status['slices'].length > 0 ? true : undefined,
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
    versionConflicts: value('versionConflicts'),
    cancelled: /[[,\s]canceled=(?!null\b)/.test(text) ? true : undefined,
  });
}

function withoutUndefined(counters: { [Name in keyof TaskCounters]: TaskCounters[Name] | undefined }): TaskCounters {
  return Object.fromEntries(Object.entries(counters).filter(([, value]) => value !== undefined));
}
