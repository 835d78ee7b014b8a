import { type ParseErrorCode, printParseErrorCode, stripComments, visit } from 'jsonc-parser';

/** Both count from 1. */
export interface Place {
  line: number;
  column: number;
}

/** The parsed value, or what is wrong with the text, phrased to follow the name of its file or parameter. */
type JsonText = { kind: 'value'; value: unknown } | { kind: 'wrong'; problem: string; at?: Place };

/** The mistake with its place, for messages that do not give the place separately. */
export const withPlace = ({ problem, at }: { problem: string; at?: Place }): string =>
  at === undefined ? problem : `${problem} (line ${at.line}, column ${at.column})`;

/**
 * Reads hand-written JSON. Unlike `JSON.parse` it names a mistake with its line and column, and
 * rejects a duplicate key in one object: `JSON.parse` silently takes the last one, which may be the shorter retention.
 * The text at a mistake is never shown: it may be a misplaced token.
 * @param comments whether comments are allowed, as in files that people maintain
 */
export function readJson(text: string, { comments = false } = {}): JsonText {
  // Windows editors start a file with a byte order mark, which JSON does not allow.
  const json = text.replace(/^\ufeff/, '');
  if (json.trim() === '') return wrong('is empty');
  // Windows PowerShell writes UTF-16 by default.
  if (/^\ufffd|\0/.test(json)) return wrong(notUtf8);
  const findings = inspect(json, comments);
  if (findings === undefined) return wrong('is nested too deeply');
  const { mistake, repeated } = findings;
  try {
    const value: unknown = JSON.parse(comments ? stripComments(json, ' ') : json);
    // An unterminated comment is removed together with everything after it.
    if (comments && mistake !== undefined) throw new SyntaxError();
    if (repeated === undefined) return { kind: 'value', value };
  } catch {
    if (mistake === undefined) return wrong('is not JSON');
    const { problem, offset } = named(mistake, json);
    const before = json.slice(0, offset).split('\n');
    return wrong(problem, { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 });
  }
  return wrong(`has the key ${repeated.key} twice in one object: keep one of them`, repeated.at);
}

export const notUtf8 = 'is not UTF-8 text: save it again in that encoding';

const wrong = (problem: string, at?: Place): JsonText => ({ kind: 'wrong', problem, ...(at && { at }) });

interface Mistake {
  error: ParseErrorCode;
  offset: number;
}

interface Findings {
  mistake?: Mistake;
  repeated?: { key: string; at: Place };
}

/** Undefined for a text that is nested too deeply: its parser recurses. */
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
  const place = (line: number, column: number): Place => ({ line: line + 1, column: column + 1 });
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
        if (keys?.has(key)) found.repeated ??= { key: JSON.stringify(key.slice(0, 60)), at: place(line, column) };
        keys?.add(key);
      },
      onError: (error, offset) => {
        found.mistake ??= { error, offset };
      },
    },
    { disallowComments: !comments },
  );
  return found;
}

/** What the mistake is, and where a person would correct it. */
function named({ error, offset }: Mistake, text: string): { problem: string; offset: number } {
  const end = text.slice(0, offset).trimEnd().length;
  const next = text[offset];
  // The mistake is at the comma, which may be lines above the bracket at which it is noticed.
  if (text[end - 1] === ',' && (next === ']' || next === '}')) {
    return { problem: `has a trailing comma: nothing follows it before ${next}`, offset: end - 1 };
  }
  // `CommaExpected`, as editors say it: "comma expected". A missing separator or bracket belongs right after the text
  // before the mistake.
  const code = printParseErrorCode(error);
  const what = code.replace(/(?!^)[A-Z]/g, ' $&').toLowerCase();
  return { problem: `is not JSON here: ${what}`, offset: /^(?:Comma|Colon|Close)/.test(code) ? end : offset };
}
