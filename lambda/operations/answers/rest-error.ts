import { isObject, parseJson } from './json-value.ts';

/** Longer first lines add nothing, and this keeps the search cheap. */
const maxLine = 2000;

/**
 * The whole message of a rest.li error body, or undefined when the body is not one. Must go through `quote` before it
 * is shown. Without `message` it is the part after `[HTTP Status:NNN]: ` on the first line of `stackTrace`
 * (RestLiServiceException).
 */
export function readRestError(body: string): string | undefined {
  const error = parseJson(body);
  if (!isObject(error)) return undefined;
  const { message, stackTrace, exceptionClass } = error;
  if (typeof message === 'string' && message.trim() !== '') return message;
  const firstLine = typeof stackTrace === 'string' ? lineOf(stackTrace) : '';
  const after = /\[HTTP Status:\d{1,3}\]:/.exec(firstLine);
  const text = after ? firstLine.slice(after.index + after[0].length).trim() : firstLine;
  if (text !== '') return text;
  return typeof exceptionClass === 'string' && exceptionClass !== '' ? exceptionClass : undefined;
}

const lineOf = (stackTrace: string): string =>
  stackTrace.trimStart().slice(0, maxLine).split(/\r?\n/, 1)[0]?.trimEnd() ?? '';
