import { stripComments, visit } from 'jsonc-parser';

/** What a text holds, or what is wrong with it: to follow the name of its file or parameter. */
export type JsonText = { kind: 'value'; value: unknown } | { kind: 'wrong'; problem: string };

/**
 * Reads JSON that a person has written. Beyond `JSON.parse` it says where a mistake is, by line and column and on every
 * Node, and refuses a key that stands twice in one object: `JSON.parse` takes the last one without a word, and that may
 * be the shorter retention. What stands at a mistake is never shown: it may be a token that was put into the wrong place.
 * @param comments whether the text may have some, as files that people keep do
 */
export function readJson(text: string, { comments = false } = {}): JsonText {
  // Windows editors begin a file with a byte order mark, which JSON does not allow.
  const json = text.replace(/^\ufeff/, '');
  if (json.trim() === '') return wrong('is empty');
  // Windows PowerShell writes UTF-16 where it is not told otherwise.
  if (/^\ufffd|\0/.test(json)) return wrong('is not UTF-8 text: save it again in that encoding');
  const findings = inspect(json, comments);
  if (findings === undefined) return wrong('is nested too deeply');
  const { mistake, repeated } = findings;
  try {
    const value: unknown = JSON.parse(comments ? stripComments(json, ' ') : json);
    // A comment without an end is cut away with whatever follows it.
    if (comments && mistake !== undefined) throw new SyntaxError();
    if (repeated === undefined) return { kind: 'value', value };
  } catch {
    const usual = comments ? 'a comma too many or a missing quote' : 'a comma too many, a missing quote or a comment';
    return wrong(`is not JSON${mistake ?? ''}: look for ${usual}`);
  }
  return wrong(`has the key ${repeated.key} twice in one object${repeated.where}: keep one of them`);
}

const wrong = (problem: string): JsonText => ({ kind: 'wrong', problem });

interface Findings {
  /** Where the first mistake is, to follow a sentence. */
  mistake?: string;
  repeated?: { key: string; where: string };
}

/** Undefined for a text that is nested more deeply than the parser's recursion goes, some thousand levels. */
function inspect(json: string, comments: boolean): Findings | undefined {
  try {
    return visited(json, comments);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function visited(json: string, comments: boolean): Findings {
  const found: Findings = {};
  const open: Set<string>[] = [];
  const where = (line: number, column: number) => ` (line ${line + 1}, column ${column + 1})`;
  visit(
    json,
    {
      onObjectBegin: () => {
        open.push(new Set());
      },
      onObjectEnd: () => {
        open.pop();
      },
      onObjectProperty(key, _offset, _length, line, column) {
        const keys = open.at(-1);
        if (keys?.has(key)) found.repeated ??= { key: JSON.stringify(key.slice(0, 60)), where: where(line, column) };
        keys?.add(key);
      },
      onError: (_error, _offset, _length, line, column) => {
        found.mistake ??= where(line, column);
      },
    },
    { disallowComments: !comments },
  );
  return found;
}
