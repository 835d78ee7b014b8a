import type * as z from 'zod';
import type { IndexNames } from '../gms/backend.ts';
import { capped } from '../gms/text.ts';
import { maxNameLength, textsForPeople } from '../model/policy-fields.ts';
import { canonicalSpelling, dottedName, namesIn, searchIndex, sharingIndex } from './aspects.ts';
import { explain } from './explain.ts';
import { readJson, withPlace } from './read-json.ts';
import { type Policy, policySchema } from './schema.ts';

/** A text that holds one policy, or an array of policies; named, for messages, like its parameter. */
export interface PolicyText {
  name: string;
  text: string;
  /** Only its owner's key can read the text. */
  isEncrypted?: boolean;
}

/** The list of a file that has been read already. */
interface PolicyList {
  name: string;
  list: readonly unknown[];
}

export type PolicySource = PolicyText | PolicyList;

export type ParsedPolicy =
  | { kind: 'policy'; index: string; source: string; policy: Policy }
  /** `entityType` and `aspect` as far as the text or its name reveals them. */
  | { kind: 'invalid'; index: string; source: string; entityType: string; aspect: string; problem: string };

/** One that can be read, with the search index that it is about. */
export type ReadablePolicy = ParsedPolicy & { kind: 'policy' };

/**
 * Reads policies from what holds one, or a list of them. An unreadable policy is returned as invalid and affects
 * no other; if there are several policies for one index, all of them are invalid, because there is no way to know which
 * one was meant. Known aspects come back in DataHub's own spelling.
 * @param sources the name `.../<entityType>.<aspect>` is that of the index, where a text is unreadable
 * @param minRetentionDays the stage's floor, whole days
 */
export function parsePolicies(sources: readonly PolicySource[], minRetentionDays: number): ParsedPolicy[] {
  const schema = schemaFor(minRetentionDays);
  return withoutDuplicates(sources.flatMap((source) => parseSource(source, schema)));
}

/** Building a schema takes longer than reading a hundred policies, and Truncate reads them before every call. */
const schemas = new Map<number, Schema>();

function schemaFor(minRetentionDays: number): Schema {
  const known = schemas.get(minRetentionDays);
  if (known) return known;
  const schema = policySchema(minRetentionDays);
  schemas.set(minRetentionDays, schema);
  return schema;
}

type Schema = ReturnType<typeof policySchema>;

function parseSource(source: PolicySource, schema: Schema): ParsedPolicy[] {
  const { name } = source;
  const named = nameParts(name);
  if ('isEncrypted' in source && source.isEncrypted)
    return [
      invalid(name, named, `${name} is a SecureString, and policies are no secrets: delete it and store a String`),
    ];
  const read = 'text' in source ? readJson(source.text) : { kind: 'value' as const, value: source.list };
  if (read.kind === 'wrong') return [invalid(name, named, `${name} ${withPlace(read)}`)];
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
  const policy = {
    ...parsed.data,
    ...canonicalSpelling(parsed.data.entityType, parsed.data.aspect),
    ...textsForPeople(parsed.data, capped),
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

function withoutDuplicates(parsed: readonly ParsedPolicy[]): ParsedPolicy[] {
  const isNamed = ({ entityType, aspect }: IndexNames) => entityType !== '?' && aspect !== '?';
  const sharing = sharingIndex(parsed.map(namesOf).map((names) => (isNamed(names) ? names : undefined)));
  return parsed.map((item, at) => {
    const positions = sharing[at] ?? [];
    if (positions.length <= 1) return item;
    const same = positions.slice(0, 5).flatMap((position) => parsed[position] ?? []);
    const own = item.kind === 'invalid' ? `${item.problem}; besides, ` : '';
    const sources = same.map(({ source }) => source).join('; ');
    const names = namesOf(item);
    const name = dottedName(names);
    const what = same.every((other) => dottedName(namesOf(other)) === name)
      ? `for ${name}`
      : `for one search index, ${item.index},`;
    return invalid(item.source, names, `${own}${positions.length} policies are ${what} (${sources}): keep one of them`);
  });
}

export const namesOf = (item: ParsedPolicy): IndexNames => (item.kind === 'policy' ? item.policy : item);
