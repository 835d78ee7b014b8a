import type { TaskCounters, TaskStatus } from '../operations.ts';
import { countOf, isObject, numberOf, textOf, unwrapped } from './json-value.ts';
import { type Sanitize, sanitize, Unreadable } from './server-text.ts';

/**
 * Reads the answer of `getEsTaskStatus` (docs/operations-service.md) in every shape that servers use: in `value`
 * or not, as object or as a string of JSON; `status` as object, as a string of JSON, as plain text or missing
 * (OperationsResource prints the search client's object, whose text depends on the client's version). A task without a
 * readable `completed` is unreadable; a counter that is not a number is left out. Assumed: own-task-id.
 * @param answer the parsed JSON body
 */
export function readTaskStatus(answer: unknown, show: Sanitize = sanitize): TaskStatus | Unreadable {
  const task = unwrapped(answer);
  if (!isObject(task)) return new Unreadable(show(textOf(task)));
  const completed = booleanOf(task['completed']);
  if (completed === undefined) {
    const error = task['error'];
    if (error !== undefined && error !== null) return { kind: 'vanished' };
    return new Unreadable(show(textOf(task)));
  }
  const nanos = numberOf(task['runTimeNanos']);
  const runTimeMillis = nanos !== undefined && nanos >= 0 ? nanos / 1e6 : undefined;
  return { kind: 'found', completed, runTimeMillis, counters: countersOf(task['status']) };
}

function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value === 'true') return true;
  return value === 'false' ? false : undefined;
}

/** Of an object, or of its Java form: `BulkIndexByScrollResponse[sliceId=null,updated=0,created=0,deleted=5,…]`. */
function countersOf(status: unknown): TaskCounters {
  const inner = unwrapped(status);
  if (!isObject(inner) && typeof inner !== 'string') return {};
  const count = (name: string) => countOf(isObject(inner) ? inner[name] : countIn(inner, name));
  // A sliced task's own counters cover its finished slices; adding the slices themselves would count them twice.
  return {
    total: count('total'),
    updated: count('updated'),
    created: count('created'),
    deleted: count('deleted'),
    noops: count('noops'),
    versionConflicts: count(isObject(inner) ? 'version_conflicts' : 'versionConflicts'),
    cancelled:
      (isObject(inner) ? typeof inner['canceled'] === 'string' : /[[,\s]canceled=(?!null\b)/.test(inner)) || undefined,
  };
}

const countIn = (text: string, name: string): string | undefined =>
  new RegExp(`[[,\\s]${name}=(\\d{1,16})(?=\\s*(?:,\\s*[a-z]|\\]|$))`, 'i').exec(text)?.[1];
