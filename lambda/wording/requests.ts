/**
 * Puts every request to the search cluster that stands in a sentence (`POST /_aliases {...}`) on a line of its own, the way its
 * consoles take it, and the sentences around it on lines of theirs: so a recovery text can be followed and pasted on a phone.
 */
export function requestsApart(text: string): string {
  const parts: string[] = [];
  let rest = text;
  for (;;) {
    const start = /(?:POST|PUT) \/\S+ \{/.exec(rest);
    const end = start ? endOfObject(rest, start.index + start[0].length - 1) : undefined;
    if (!start || end === undefined) break;
    parts.push(rest.slice(0, start.index).trim(), `  ${rest.slice(start.index, end)}`);
    rest = rest.slice(end).replace(/^[,.;]\s*|^\s+/, '');
  }
  if (parts.length === 0) return text;
  return [...parts, rest.trim()].filter((part) => part !== '').join('\n');
}

/** The text without such requests and what introduces them: for places that are too narrow for them. */
export function withoutRequests(text: string): string {
  const start = /(?:POST|PUT) \/\S+ \{/.exec(text);
  if (!start) return text;
  const before = text.slice(0, start.index);
  return `${before.slice(0, before.lastIndexOf('. ') + 1)} The commands to recover are in the mail and in the report.`.trim();
}

/** The position after the object that opens at `start`; undefined where it does not close. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}
