/** Helpers for answers that are JSON, or JSON inside a JSON string. None of them throws. */

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The JSON value of a text, or undefined when it is not JSON (no JSON value is undefined). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Any JSON value as text, a string unchanged; empty if it is nested too deeply to be written. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}

/**
 * What is inside rest.li's `{"value": …}` and inside strings that hold JSON, nested in any order. A string that holds
 * no JSON object or array is returned unchanged.
 */
export function unwrapped(value: unknown): unknown {
  let inner = value;
  // Real servers nest three levels deep; the limit keeps hostile input cheap.
  for (let depth = 0; depth < 8; depth++) {
    if (typeof inner === 'string' && /^\s*[[{"]/.test(inner)) {
      const parsed = parseJson(inner);
      if (parsed === undefined) return inner;
      inner = parsed;
    } else if (isObject(inner) && Object.hasOwn(inner, 'value')) inner = inner['value'];
    else return inner;
  }
  return inner;
}

/** A finite number, or a string that holds one. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || !/^\s*-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*$/i.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** A non-negative safe integer, or a string that holds one. */
export function countOf(value: unknown): number | undefined {
  const number = numberOf(value);
  return number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
