import type * as z from 'zod';
import type { IndexNames } from '../gms/backend.ts';
import { capped } from '../gms/text.ts';
import { maxNameLength } from '../model/policy-fields.ts';
import { canonicalSpelling, dottedName, namesIn, searchIndex } from './aspects.ts';
import { explain } from './explain.ts';
import { placed, readJson } from './read-json.ts';
import { type Policy, policySchema } from './schema.ts';

/** One text that holds a policy, or an array of policies. */
export interface PolicySource {
  /** Its source, for messages: the parameter's or the file's name. */
  name: string;
  text: string;
}

/** A policy, or why a text does not contain a valid one. */
export type ParsedPolicy =
  | { kind: 'policy'; index: string; source: string; policy: Policy }
  /** `entityType` and `aspect` as far as the text or its name reveals them. */
  | { kind: 'invalid'; index: string; source: string; entityType: string; aspect: string; problem: string };

/**
 * Reads policies from texts that hold one, or an array of them. An unreadable policy is returned as invalid and affects
 * no other; if there are several policies for one index, all of them are invalid, because there is no way to know which
 * one was meant. Known aspects come back in DataHub's own spelling.
 * @param sources name (for messages; `.../<entityType>.<aspect>` names the index of an unreadable text) and text
 * @param minRetentionDays the stage's floor, whole days
 */
export function parsePolicies(sources: readonly PolicySource[], minRetentionDays: number): ParsedPolicy[] {
  const schema = schemaFor(minRetentionDays);
  return withoutDuplicates(sources.flatMap((source) => parseSource(source, schema)));
}

/** Building a schema takes longer than reading a hundred policies with it, and Truncate reads them before every call. */
const schemas = new Map<number, Schema>();

function schemaFor(minRetentionDays: number): Schema {
  const known = schemas.get(minRetentionDays);
  if (known) return known;
  const schema = policySchema(minRetentionDays);
  schemas.set(minRetentionDays, schema);
  return schema;
}

type Schema = ReturnType<typeof policySchema>;

function parseSource({ name, text }: PolicySource, schema: Schema): ParsedPolicy[] {
  const named = nameParts(name);
  const read = readJson(text);
  if (read.kind === 'wrong') return [invalid(name, named, `${name} ${placed(read)}`)];
  const { value } = read;
  if (!Array.isArray(value)) return [parseOne(name, value, named, schema)];
  if (value.length === 0) return [invalid(name, named, `${name} holds an empty list: put a policy into it`)];
  return value.map((item, position) => parseOne(`${name}, policy ${position + 1}`, item, undefined, schema));
}

function parseOne(source: string, value: unknown, named: IndexNames | undefined, schema: Schema): ParsedPolicy {
  const names = namesIn(value) ?? named ?? { entityType: '?', aspect: '?' };
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    return invalid(
      source,
      names,
      `${source}: ${explain(parsed.error as z.ZodError, value, Object.keys(schema.shape))}`,
    );
  }
  const { owner, note } = parsed.data;
  const policy = {
    ...parsed.data,
    ...canonicalSpelling(parsed.data.entityType, parsed.data.aspect),
    owner: owner && capped(owner),
    note: note && capped(note),
  };
  return { kind: 'policy', index: searchIndex(policy), source, policy };
}

/** `<path>/dataset.operation` names an index; other names do not. */
function nameParts(name: string): IndexNames {
  const match = /([^./]+)\.([^./]+)$/.exec(name);
  return { entityType: match?.[1] ?? name, aspect: match?.[2] ?? '?' };
}

function invalid(source: string, names: IndexNames, problem: string): ParsedPolicy {
  const spelled = canonicalSpelling(capped(names.entityType, maxNameLength), capped(names.aspect, maxNameLength));
  return { kind: 'invalid', index: searchIndex(spelled), source, ...spelled, problem };
}

/** Compared by search index: two spellings of one index are two policies for it. */
function withoutDuplicates(parsed: ParsedPolicy[]): ParsedPolicy[] {
  const sameIndex = new Map<string, ParsedPolicy[]>();
  for (const item of parsed) sameIndex.set(item.index, [...(sameIndex.get(item.index) ?? []), item]);
  return parsed.map((item) => {
    const same = sameIndex.get(item.index) ?? [];
    const names = namesOf(item);
    if (same.length <= 1 || names.entityType === '?' || names.aspect === '?') return item;
    const own = item.kind === 'invalid' ? `${item.problem}; besides, ` : '';
    const sources = same.map(({ source }) => source).join('; ');
    const name = dottedName(names);
    const what = same.every((other) => dottedName(namesOf(other)).toLowerCase() === name.toLowerCase())
      ? `for ${name}`
      : `for one search index, ${item.index},`;
    return invalid(item.source, names, `${own}${same.length} policies are ${what} (${sources}): keep one of them`);
  });
}

export const namesOf = (item: ParsedPolicy): IndexNames => (item.kind === 'policy' ? item.policy : item);
