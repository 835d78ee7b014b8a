import { readTaskId } from '../backend.ts';
import type { Truncation } from '../operations.ts';
import { type HttpResponse, TransportError } from '../transport.ts';
import { failureOfBody, failureOfStatus, failureOfTransport, isPage, type RequestInfo } from './failures.ts';
import { parseJson, textOf, unwrapped } from './json-value.ts';
import type { Sanitize } from './server-text.ts';

/**
 * What the answer to a real truncate proves. Only a task id proves a start, and no answer can prove that nothing was
 * started: a 400 can come from a reindex that failed after it moved the alias (ESIndexBuilder), and a 401, 403, 404 or
 * 429 from a proxy that has passed the request on.
 */
export function truncationOf(response: HttpResponse, info: RequestInfo, sanitize: Sanitize): Truncation {
  const failure = failureOfStatus(response, info, sanitize);
  if (failure) return { kind: 'unresolved', error: failure };
  const { status, body, complete } = response;
  const value = unwrapped(parseJson(body) ?? body);
  const taskId = complete && typeof value === 'string' ? readTaskId(value) : undefined;
  if (taskId && !sanitize.repeatsSecret(taskId)) return { kind: 'started', taskId };
  if (isPage(response)) return { kind: 'unresolved', error: failureOfBody(response, info, sanitize) };
  const text = sanitize(textOf(value)) || undefined;
  return { kind: 'unresolved', error: { kind: 'no-task-id', operation: info.operation, status, text } };
}

/** A failed request proves that nothing was started only if not one byte of it was written. */
export function truncationWithoutAnswer(error: unknown, info: RequestInfo, sanitize: Sanitize): Truncation {
  if (!(error instanceof TransportError)) {
    // A bug in this program: nobody knows how far the request got.
    const text = sanitize(error instanceof Error ? error.message : String(error)) || undefined;
    return { kind: 'unresolved', error: { kind: 'defect', operation: info.operation, text } };
  }
  if (!error.mayBeWritten) {
    return { kind: 'not-sent', why: error.stage === 'withheld' ? 'withheld' : failureOfTransport(error, info) };
  }
  const { status } = error;
  // The status arrived but the body was lost: the status means the same as with a body.
  if (status !== undefined && status >= 300) {
    return truncationOf({ status, headers: {}, dates: [], body: '', complete: false }, info, sanitize);
  }
  return { kind: 'unresolved', error: failureOfTransport(error, info) };
}
