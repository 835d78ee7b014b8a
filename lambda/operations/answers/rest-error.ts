import { isObject, parseJson } from './json-value.ts';

/**
 * The whole message of a rest.li error body, or undefined when the body is not one. Not fit to be shown before it is quoted.
 * Without `message` it is what follows `[HTTP Status:NNN]: ` on the first line of `stackTrace` (RestLiServiceException).
 */
export function readRestError(body: string): string | undefined {
  const error = parseJson(body);
  if (!isObject(error)) return undefined;
  const { message, stackTrace, exceptionClass } = error;
  if (typeof message === 'string' && message.trim() !== '') return message;
  const firstLine = typeof stackTrace === 'string' ? stackTrace.trimStart().split(/\r?\n/, 1)[0]! : '';
  const afterStatus = /\[HTTP Status:\d+\]:\s*(.*\S)/.exec(firstLine)?.[1] ?? firstLine;
  if (afterStatus !== '') return afterStatus;
  return typeof exceptionClass === 'string' && exceptionClass !== '' ? exceptionClass : undefined;
}
