import { findNodeAtLocation, type Node as JsonNode, parseTree } from 'jsonc-parser';
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type Node as YamlNode,
} from 'yaml';
import type { Problem } from '../../lambda/policy/explain.ts';
import { notUtf8, type Place, readJson } from '../../lambda/policy/read-json.ts';

/** A text that people maintain, as JSON with comments or as YAML, with the places that a message about it names. */

interface TextDocument {
  kind: 'document';
  value: unknown;
  /** Where a value is or, if it is missing, what should contain it. */
  placeOf(path: readonly PropertyKey[]): Place;
  /** Values below this path that readers of the same text take for different ones. */
  ambiguous(path: readonly PropertyKey[]): Problem[];
}

/** What is wrong, phrased to follow the name of the file. */
interface NoDocument {
  kind: 'wrong';
  problem: string;
  at: Place;
}

const start: Place = { line: 1, column: 1 };

/**
 * A file name decides where it can; otherwise JSON begins with a bracket or a comment.
 * @param name of the file
 */
export function readDocument(given: string, name: string): TextDocument | NoDocument {
  const text = given.replace(/^\ufeff/, '');
  const isYaml = /\.ya?ml$/i.test(name) || (!/\.jsonc?$/i.test(name) && /^\s*[^\s[{/]/.test(text));
  // Bytes that are not UTF-8 were decoded to this character, anywhere in the text (an owner's name in Latin-1).
  const garbled = text.indexOf('\ufffd');
  if (garbled >= 0) return { kind: 'wrong', problem: notUtf8, at: placeAt(linesOf(text), garbled) };
  // Only the JSON reader recognizes UTF-16, and an empty text.
  if (isYaml && text.trim() !== '' && !text.includes('\0')) return readYaml(text);
  const read = readJson(text, { comments: true });
  if (read.kind === 'wrong') return { ...read, at: read.at ?? start };
  return { kind: 'document', value: read.value, placeOf: placesInJson(text), ambiguous: () => [] };
}

function placesInJson(text: string): TextDocument['placeOf'] {
  const tree = parseTree(text);
  const lines = linesOf(text);
  return (path) => {
    let node: JsonNode | undefined;
    for (let depth = path.length; node === undefined && depth >= 0; depth--) {
      node = tree && findNodeAtLocation(tree, path.slice(0, depth) as (string | number)[]);
    }
    return placeAt(lines, node?.parent?.type === 'property' ? node.parent.offset : (node?.offset ?? 0));
  };
}

function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  for (let at = 0; at >= 0; at = text.indexOf('\n', at) + 1 || -1) lines.addNewLine(at);
  return lines;
}

function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/**
 * YAML 1.2 with anchors and merged keys, as Helm takes them. The text at a mistake is never shown: it may be a
 * misplaced token.
 */
function readYaml(text: string): TextDocument | NoDocument {
  const lines = new LineCounter();
  const wrong = (problem: string, offset = 0): NoDocument => ({ kind: 'wrong', problem, at: placeAt(lines, offset) });
  try {
    const documents: Document.Parsed[] = [
      ...parseAllDocuments(text, {
        version: '1.2',
        schema: 'core',
        merge: true,
        prettyErrors: false,
        logLevel: 'error',
        lineCounter: lines,
      }),
    ];
    const [document, second] = documents;
    const [mistake] = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
    if (mistake?.code === 'RESOURCE_EXHAUSTION') return wrong('is nested too deeply');
    if (mistake) return wrong(yamlMistake(mistake.code, text.slice(mistake.pos[0])), mistake.pos[0]);
    if (document === undefined || document.contents === null) return wrong('holds nothing but comments');
    if (second) return wrong('holds several documents: keep one of them in a file of its own', second.range[0]);
    const lost = unusableAlias(document);
    if (lost) return wrong('refers to an anchor that is not defined before it', lost.range?.[0]);
    return {
      kind: 'document',
      value: document.toJS(),
      placeOf: (path) => placeAt(lines, nodeAt(document, path).offset),
      ambiguous: (path) => octals(document, path),
    };
  } catch (error) {
    if (error instanceof ReferenceError) return wrong('repeats its anchors too often');
    if (error instanceof RangeError) return wrong('is nested too deeply');
    throw error;
  }
}

function yamlMistake(code: ErrorCode, rest: string): string {
  const key = /^["']?([\w.$-]{1,60})["']?\s*:/.exec(rest)?.[1];
  return code === 'DUPLICATE_KEY'
    ? `has ${key ? `the key "${key}"` : 'a key'} twice in one mapping: keep one of them`
    : code === 'TAB_AS_INDENT'
      ? 'is indented with a tab here, which YAML does not allow: use spaces'
      : code === 'TAG_RESOLVE_FAILED'
        ? 'has a tag here (!) that YAML 1.2 does not define: leave it out'
        : 'is not YAML here: look for an indent, a quote or a bracket that does not fit';
}

/** Without an anchor before it, or inside its own: policies are a tree. */
function unusableAlias(document: Document.Parsed): YamlNode | undefined {
  let found: YamlNode | undefined;
  visit(document, {
    Alias(_, alias, around) {
      const meant = alias.resolve(document);
      if (meant !== undefined && !around.includes(meant)) return undefined;
      found = alias;
      return visit.BREAK;
    },
  });
  return found;
}

/** The node that a path leads to, through aliases, as far as the text has it; undefined where it does not. */
function nodeAt(document: Document.Parsed, path: readonly PropertyKey[]): { node: unknown; offset: number } {
  const isHere = (value: unknown): value is YamlNode => typeof value === 'object' && value !== null;
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? 0;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    const pair = isMap(node)
      ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
      : undefined;
    const label = isSeq(node) ? node.items[Number(key)] : pair?.key;
    node = pair ? pair.value : label;
    if (!isHere(label)) return { node: undefined, offset };
    offset = label.range?.[0] ?? offset;
  }
  return { node, offset };
}

/** YAML 1.1 reads 0365 as 245, and YAML 1.2 as 365. */
function octals(document: Document.Parsed, path: readonly PropertyKey[]): Problem[] {
  const { node } = nodeAt(document, path);
  const found: Problem[] = [];
  const look = (value: unknown, at: readonly PropertyKey[]): void => {
    const inner = isAlias(value) ? value.resolve(document) : value;
    if (isSeq(inner)) for (const [position, item] of inner.items.entries()) look(item, [...at, position]);
    if (isMap(inner))
      for (const { key, value: own } of inner.items) look(own, [...at, String(isScalar(key) && key.value)]);
    if (!isScalar(inner) || typeof inner.value !== 'number' || !/^[-+]?0[0-9o]/.test(inner.source ?? '')) return;
    found.push({
      path: at,
      sentence: `${inner.source} begins with 0, and Helm reads that as octal: write it without the 0`,
    });
  };
  look(node, path);
  return found;
}
