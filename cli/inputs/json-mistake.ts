import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';

/** What is wrong with JSON that a person wrote, and where that person would correct it. */
interface JsonMistake {
  /** Phrased to follow the name of the file. The text itself is never shown: it may be a misplaced token. */
  problem: string;
  /** Both count from 1. */
  at: { line: number; column: number };
}

/** @returns the first mistake that can be named; undefined if there is none, or if the text cannot be parsed at all */
export function jsonMistake(given: string): JsonMistake | undefined {
  const text = given.replace(/^\ufeff/, '');
  // The bytes of UTF-16, of which readJson tells.
  if (/^\ufffd|\0/.test(text)) return undefined;
  if (text.trim() === '') return { problem: 'is empty', at: { line: 1, column: 1 } };
  if (isYaml(text))
    return { problem: 'is YAML: write JSON, a list of policies between [ and ]', at: { line: 1, column: 1 } };
  const [first] = errorsIn(text);
  if (first === undefined) return undefined;
  const { problem, offset } = named(first, text);
  const before = text.slice(0, offset).split('\n');
  return { problem, at: { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 } };
}

/** None for a text that is nested deeper than the parser can recurse. */
function errorsIn(text: string): ParseError[] {
  const errors: ParseError[] = [];
  try {
    parse(text, errors, { allowTrailingComma: false });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [];
  }
  return errors;
}

/** A list or a mapping as YAML writes them, where JSON would begin with a bracket, a quote or a comment. */
const isYaml = (text: string): boolean => /^(?:\s*#.*\n|\s)*(?:---|- |[\w-]+:(?:\s|$))/.test(text);

function named({ error, offset }: ParseError, text: string): { problem: string; offset: number } {
  const end = endOfWord(text, offset);
  const isAfterComma = text[end - 1] === ',';
  const next = text[offset];
  // The mistake is at the comma, which may be lines above the bracket at which it is noticed.
  if (isAfterComma && (next === ']' || next === '}')) {
    return { problem: `has a trailing comma: nothing follows it before ${next}`, offset: end - 1 };
  }
  // What word processors and chats make of quotes.
  if (/[\u2018-\u201f]/.test(next ?? '')) return { problem: 'has a typographic quote here: write " instead', offset };
  switch (printParseErrorCode(error)) {
    case 'CommaExpected':
      return { problem: 'lacks a comma here', offset: end };
    case 'ColonExpected':
      return { problem: 'lacks a colon here, between the name of a field and its value', offset: end };
    case 'CloseBraceExpected':
      return { problem: 'lacks a closing } here', offset: end };
    case 'CloseBracketExpected':
      return { problem: 'lacks a closing ] here', offset: end };
    case 'UnexpectedEndOfString':
      return { problem: 'lacks a closing quote here', offset };
    case 'PropertyNameExpected':
      return { problem: 'needs the name of a field here, between double quotes', offset };
    case 'ValueExpected':
      return { problem: 'lacks a value here', offset };
    case 'EndOfFileExpected':
      return { problem: 'continues after the end of the list: put everything between one [ and ]', offset };
    default:
      return { problem: `is not JSON here (${printParseErrorCode(error)})`, offset };
  }
}

/** Where the last word before an offset ends. */
const endOfWord = (text: string, offset: number): number => text.slice(0, offset).trimEnd().length;
