import * as z from 'zod';
import { jsonExcerpt, type Problem } from '../policy/explain.ts';
import { readJson, withPlace } from '../policy/read-json.ts';
import type { PolicyInput } from '../policy/schema.ts';
import { crossFieldProblems } from './cross-field-checks.ts';
import { fileFields, type GivenSettings, prefixOf, settingFields, stageNameSchema } from './fields.ts';
import { inspectPolicies, type StagePolicy } from './policies.ts';
import { checkValue, derivedText, knownValue, UnresolvedValue } from './unresolved.ts';

/**
 * The settings of a stage, read once: from its file, `infra/stages/<stage>.json`, or from the props of the construct.
 * Everything that cannot work is rejected here, all at once, before CloudFormation touches anything.
 */

const stageFileFields = { ...settingFields, ...fileFields };
type StageFile = z.ZodObject<typeof stageFileFields>;

export type StageInput = Omit<z.input<StageFile>, 'policies'> & { policies: PolicyInput[] };

type Plain = Omit<GivenSettings, 'emails' | 'policies' | 'parameterPrefix' | 'tokenParameter'> & {
  stage: string;
  parameterPrefix: string;
  tokenParameter: string;
};

/** @template Later `UnresolvedValue` in props; a stage file has nothing that is known only later */
export type Settings<Later = never> = { [Name in keyof Plain]: Plain[Name] | Later } & {
  emails: (string | Later)[];
  policies: StagePolicy[];
};

/** The stage cannot work; `message` is one sentence for each reason. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  /** @param reasons sentences without their full stops */
  constructor(reasons: readonly string[]) {
    super(reasons.join('; ').replace(/[^?.]$/, '$&.'));
  }
}

export interface Stage {
  settings: Settings;
  /** For every resource of the stack that supports them. */
  tags: Record<string, string>;
}

export function readStageText(stage: string, text: string): Stage {
  const read = readJson(text, { comments: true });
  if (read.kind === 'wrong') throw new SettingsError([`The file ${withPlace(read)}`]);
  const { found, problems } = readStage(stage, read.value);
  if (found === undefined) throw new SettingsError(problems.map(({ sentence }) => sentence));
  return found;
}

export function readStage(stage: string, given: unknown): { found?: Stage; problems: Problem[] } {
  const { settings, fields, problems } = inspectSettings(stage, given, stageFileFields);
  if (settings === undefined) return { problems };
  const { tags = {} } = fields as Fields<never>;
  // JSON holds nothing unresolved.
  return { problems, found: { settings: settings as Settings, tags } };
}

type Fields<Later> = { [Name in keyof z.output<StageFile>]?: z.output<StageFile>[Name] | Later };
type Schemas = Readonly<Record<string, z.ZodType>>;

/**
 * The settings, or all problems with them.
 * @param schemas of the fields that there may be
 * @param names of those fields that are written otherwise than the settings, because they are props
 */
export function inspectSettings(
  stage: string | UnresolvedValue | undefined,
  given: unknown,
  schemas: Schemas,
  names: FieldNames = {},
): { settings?: Settings<UnresolvedValue>; fields: Fields<UnresolvedValue>; problems: Problem[] } {
  const called = namingOf(names);
  const { fields, problems: fieldProblems } = readFields(given, schemas, called);
  const known = stage instanceof UnresolvedValue || typeof stage === 'string' ? stage : '';
  const parameterPrefix = fields.parameterPrefix ?? derivedText(known, prefixOf);
  const tokenParameter = fields.tokenParameter ?? derivedText(parameterPrefix, (prefix) => `${prefix}/token`);
  const all = { ...fields, stage, parameterPrefix, tokenParameter };
  const { policies, problems: policyProblems } = inspectPolicies(
    knownValue(fields.policies) ?? [],
    knownValue(fields.minRetentionDays) ?? 1,
  );
  const named = new Set(Object.entries(Object(given)).flatMap(([name, value]) => (value === undefined ? [] : [name])));
  const problems = [
    ...stageProblems(stage),
    ...fieldProblems,
    ...crossFieldProblems(onlyKnown(all), named, called),
    ...(knownValue(fields.policies) ?? []).flatMap(referenceProblems),
    ...policyProblems.map((one) => ({ ...one, path: ['policies', ...one.path] })),
  ];
  if (problems.length > 0) return { fields, problems };
  const { $schema: _, tags: __, ...settings } = all;
  return { settings: { ...settings, policies } as Settings<UnresolvedValue>, fields, problems };
}

function referenceProblems(policy: object, at: number): Problem[] {
  const sentence = `policy ${at + 1} contains {{, which Parameter Store reads as a reference to another parameter: leave it out`;
  return Object.values(policy).some((value) => String(value).includes('{{'))
    ? [{ path: ['policies', at], sentence }]
    : [];
}

/** How settings are written, where that is not their name. */
export type FieldNames = Partial<Record<keyof GivenSettings, string>>;

export const namingOf =
  (names: FieldNames) =>
  (field: string): string =>
    names[field as keyof FieldNames] ?? field;

function stageProblems(stage: string | UnresolvedValue | undefined): Problem[] {
  if (stage instanceof UnresolvedValue) return checkValue(z.object({ stage: stageNameSchema }), { stage }, []).problems;
  if (stage === undefined) return [{ path: [], sentence: 'stage is missing: it names the ledger' }];
  const { error } = stageNameSchema.safeParse(stage);
  if (error === undefined) return [];
  return [{ path: [], sentence: `The stage's name ${jsonExcerpt(stage)} ${error.issues[0]?.message}` }];
}

/** Each field by itself, so that impossible combinations are reported along with unreadable fields. */
function readFields(
  given: unknown,
  schemas: Schemas,
  called: (field: string) => string,
): { fields: Fields<UnresolvedValue>; problems: Problem[] } {
  const names = Object.keys(schemas).map(called);
  const anything = z.strictObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])));
  const { problems } = checkValue(anything, given, names);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { fields: {}, problems };
  const read = Object.entries(schemas).map(([field, schema]) => {
    const name = called(field);
    const { value, problems } = checkValue(
      z.object({ [name]: schema }),
      { [name]: (given as Record<string, unknown>)[name] },
      names,
    );
    return { value: value && name in value ? { [field]: (value as Record<string, unknown>)[name] } : {}, problems };
  });
  return {
    fields: Object.assign({}, ...read.map(({ value }) => value)),
    problems: [...read.flatMap((one) => one.problems), ...problems],
  };
}

const onlyKnown = <Some extends object>(all: Some) =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => !(value instanceof UnresolvedValue))) as {
    [Name in keyof Some]?: Exclude<Some[Name], UnresolvedValue>;
  };
