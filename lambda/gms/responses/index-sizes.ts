import { baseOf } from '../backend.ts';
import type { IndexSize } from '../operations.ts';
import { isObject, numberOf, textOf, unwrapped } from './json-value.ts';
import { type Sanitize, sanitize, Unreadable } from './server-text.ts';

/**
 * Reads the answer of `getIndexSizes`: `value` as object (servers) or string (as DataHub's documentation says). Rows
 * without a proper index name are skipped, and so are those whose names repeat a secret. Missing names are derived from
 * the index name if that is unambiguous; a server's prefix is inferred from the rows that include their names.
 * @param answer the parsed JSON body
 */
export function readIndexSizes(answer: unknown, show: Sanitize = sanitize): IndexSize[] | Unreadable {
  const inner = unwrapped(answer);
  const rows = isObject(inner) ? inner['indexSizes'] : inner;
  if (!Array.isArray(rows)) return new Unreadable(show(textOf(inner)));
  const read = rows.flatMap((row) => readRow(row) ?? []).filter((row) => !show.repeatsSecret(namesOf(row)));
  const prefixes = new Set(read.flatMap((row) => prefixOf(row) ?? []));
  return read.map((row) => indexSizeOf(row, prefixes));
}

interface Row {
  indexName: string;
  entityName: string | undefined;
  aspectName: string | undefined;
  sizeMb: number | undefined;
}

function readRow(row: unknown): Row | undefined {
  if (!isObject(row)) return undefined;
  const indexName = nameOf(row['indexName']);
  if (indexName === undefined || !isIndexName(indexName)) return undefined;
  // Up to 0.12.1 (datahub PR #8265) the server fills only the deprecated `sizeMb`, with bytes divided by a thousand.
  const old = numberOf(row['sizeMb']);
  const sizeMb = numberOf(row['sizeInMb']) ?? (old && old / 1000);
  return {
    indexName,
    entityName: partOf(row['entityName']),
    aspectName: partOf(row['aspectName']),
    sizeMb: sizeMb !== undefined && sizeMb >= 0 ? sizeMb : undefined,
  };
}

/** All of them at once: a secret may be divided between them. */
const namesOf = ({ indexName, entityName = '', aspectName = '' }: Row): string =>
  `${entityName}${aspectName} ${entityName} ${indexName} ${aspectName}`;

/**
 * What the search engines allow in a name (Elasticsearch, "Create index"), and nothing that could control a terminal or
 * start a new line in a message: search engines never write anything else.
 */
const isIndexName = (name: string): boolean => /^[^\\/*?"<>|,#\s\p{C}]+$/u.test(name) && Buffer.byteLength(name) <= 255;

const nameOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

/** Names that could not be part of an index name are dropped and, if possible, derived from it. */
function partOf(value: unknown): string | undefined {
  const name = nameOf(value);
  return name === '*' || (name !== undefined && isIndexName(name)) ? name : undefined;
}

function indexSizeOf({ indexName, entityName, aspectName, sizeMb }: Row, prefixes: ReadonlySet<string>): IndexSize {
  const size: IndexSize = { indexName, sizeMb };
  // Postgres keeps all aspects in one table and reports `*` for both names (datahub PR #18816).
  if (entityName === '*' || aspectName === '*') return size;
  if (entityName !== undefined && aspectName !== undefined)
    return { ...size, entityType: entityName, aspect: aspectName };
  return { ...size, ...derivedNames(indexName, prefixes) };
}

/** What precedes `entity_aspect` in an index name with known names; empty on most servers. */
function prefixOf({ indexName, entityName, aspectName }: Row): string | undefined {
  if (entityName === undefined || aspectName === undefined) return undefined;
  const base = baseOf(indexName)?.toLowerCase();
  const name = `${entityName}_${aspectName}`.toLowerCase();
  return base?.endsWith(name) ? base.slice(0, -name.length) : undefined;
}

function derivedNames(indexName: string, prefixes: ReadonlySet<string>): Pick<IndexSize, 'entityType' | 'aspect'> {
  const base = baseOf(indexName);
  if (base === undefined) return {};
  const [prefix = ''] = prefixes;
  if (prefixes.size > 1 || !base.toLowerCase().startsWith(prefix)) return {};
  const [entityType, aspect, ...more] = base.slice(prefix.length).split('_');
  // With more underscores it is unclear where a custom entity's name ends.
  if (!entityType || !aspect || more.length > 0) return {};
  return { entityType, aspect };
}
