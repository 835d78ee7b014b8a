import { type Answer, TransportError } from '../http/transport.ts';
import type { Truncation } from '../operations.ts';
import { type Asked, failureOfStatus, failureOfTransport } from './failures.ts';
import { isObject, parseJson, textOf, unwrapped } from './json-value.ts';
import { readRestError } from './rest-error.ts';
import type { Quote } from './server-text.ts';
import { readTaskId } from './task-id.ts';

/**
 * What the answer to a real truncate proves. Only a task id proves a start, and only 401, 403, 404 and 429 prove that
 * nothing was started: GMS checks those before it acts. A redirect or a 5xx may come from a proxy after GMS has acted.
 */
export function truncationOf(answer: Answer, asked: Asked, quote: Quote): Truncation {
  const { status } = answer;
  const failure = failureOfStatus(answer, asked, quote);
  if (failure === undefined) return truncationOfSuccess(answer, asked, quote);
  const reason = failure.message;
  if (status === 401 || status === 403 || status === 404 || status === 429) return { kind: 'rejected', status, reason };
  const mentionsReindex = /reindex/i.test(readRestError(answer.body) ?? answer.body);
  if (status === 400) return { kind: 'bad-request', reason, mentionsReindex };
  return {
    kind: 'unresolved',
    reason: `${reason} ${mayRun}`,
    answered: true,
    ...(mentionsReindex && { mentionsReindex }),
  };
}

/** What an exchange that failed proves: nothing started only if not one byte of it was written. */
export function truncationWithoutAnswer(error: unknown, asked: Asked, quote: Quote): Truncation {
  if (!(error instanceof TransportError)) {
    // A fault of this program: what it had done by then is not known.
    const why = quote(error instanceof Error ? error.message : String(error));
    return { kind: 'unresolved', reason: `${asked.what}: ${why}. ${mayRun}`, answered: false };
  }
  const { message } = failureOfTransport(error, asked);
  if (!error.mayBeWritten) {
    if (error.phase !== 'withheld') return { kind: 'not-sent', reason: message };
    const reason = `${asked.what}: not sent, because the time in which it may be sent had ended when the connection stood.`;
    return { kind: 'not-sent', reason };
  }
  const { status } = error;
  if (status === undefined) return { kind: 'unresolved', reason: `${message} ${mayRun}`, answered: false };
  // The status came and the body is lost: the status decides as it does with a body.
  if (status >= 300) return truncationOf({ status, headers: {}, body: '', complete: false }, asked, quote);
  return { kind: 'unresolved', reason: `${message} ${mayRun}`, answered: true };
}

const mayRun = 'The truncation may be running all the same.';

function truncationOfSuccess({ status, body, complete }: Answer, asked: Asked, quote: Quote): Truncation {
  const json = parseJson(body);
  const value = unwrapped(json ?? body);
  const task = complete && typeof value === 'string' ? readTaskId(value) : undefined;
  if (task) return { kind: 'started', ...task };
  const excerpt = quote(textOf(value));
  const nothing = isObject(json) ? 'an empty task id' : 'an empty answer';
  const came = excerpt === '' ? nothing : `"${excerpt}"`;
  return {
    kind: 'unresolved',
    reason: `${asked.what}: the server answered ${status} with ${came} instead of a task id. ${mayRun}`,
    answered: true,
  };
}
