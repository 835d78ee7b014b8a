import * as z from 'zod';
import { type Problem, problemsOf } from '../../lambda/policy/explain.ts';
import { placed, readJson } from '../../lambda/policy/read-json.ts';
import type { PolicyInput } from '../../lambda/policy/schema.ts';
import { crossFieldProblems } from './cross-field-checks.ts';
import { fileFields, type GivenSettings, prefixOf, settingFields, stageNameSchema } from './fields.ts';
import { inspectPolicies, type StagePolicy } from './policies.ts';

/**
 * The stage file, `infra/stages/<stage>.json`: every setting of a deployment and its policies. Everything that cannot
 * work is rejected here, all at once, before CloudFormation touches anything.
 */

const fileSchema = z.strictObject({ ...settingFields, ...fileFields });
/** A CDK app has `Tags` for its tags. */
const propsSchema = z.strictObject(settingFields);
type Schema = typeof fileSchema | typeof propsSchema;

/** What a stage file may contain. */
export type StageInput = Omit<z.input<typeof fileSchema>, 'policies'> & { policies: PolicyInput[] };

export type Settings = Omit<GivenSettings, 'policies' | 'parameterPrefix' | 'tokenParameter'> & {
  stage: string;
  parameterPrefix: string;
  tokenParameter: string;
  policies: StagePolicy[];
};

/** The stage cannot work; `message` is one sentence for each reason. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Reads a stage file's text. Throws SettingsError. */
export function readStageText(stage: string, text: string): StageInput & { stage: string } {
  const read = readJson(text, { comments: true });
  if (read.kind === 'wrong') throw new SettingsError(`The file ${placed(read)}.`);
  parseSettings(stage, read.value);
  return { ...(read.value as StageInput), stage };
}

/** A whole stage file. Throws SettingsError. */
export const parseSettings = (stage: string, given: unknown): Settings => parsed(stage, given, fileSchema);

/** The settings that are props of the construct. Throws SettingsError. */
export const parseProps = (stage: string, given: unknown): Settings => parsed(stage, given, propsSchema);

function parsed(stage: string, given: unknown, schema: Schema): Settings {
  const { settings, problems } = inspectSettings(stage, given, schema);
  if (settings !== undefined) return settings;
  throw new SettingsError(
    problems
      .map(({ sentence }) => sentence)
      .join('; ')
      .replace(/[^?]$/, '$&.'),
  );
}

/** The settings, or all problems with them. */
export function inspectSettings(
  stage: string,
  given: unknown,
  schema: Schema = fileSchema,
): { settings?: Settings; problems: Problem[] } {
  const parsed = schema.safeParse(given);
  const problems = parsed.success ? [] : problemsOf(parsed.error, given, Object.keys(schema.shape));
  const name = stageNameSchema.safeParse(stage);
  if (!name.success) {
    problems.unshift({ path: [], sentence: `The stage's name "${stage}" ${name.error.issues[0]!.message}` });
  }
  const sound = validFields(given);
  const { policies, problems: wrongPolicies } = inspectPolicies(sound.policies ?? [], sound.minRetentionDays ?? 1);
  problems.push(
    ...crossFieldProblems(stage, sound, namedFields(given)),
    ...wrongPolicies.map(({ path, sentence }) => ({ path: ['policies', ...path], sentence })),
  );
  if (!parsed.success || problems.length > 0) return { problems };
  const { $schema: _, tags: __, ...settings } = parsed.data as z.output<typeof fileSchema>;
  return { problems, settings: { ...settings, stage, ...parameterNames(stage, settings), policies } };
}

/** The names of the stage's parameters, with the defaults for those that the settings do not give. */
export function parameterNames(stage: string, given: { parameterPrefix?: string; tokenParameter?: string }) {
  const { parameterPrefix = prefixOf(stage), tokenParameter = `${parameterPrefix}/token` } = given;
  return { parameterPrefix, tokenParameter };
}

const namedFields = (given: unknown): ReadonlySet<string> =>
  new Set(Object.entries(given ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [name])));

/**
 * The settings that are readable by themselves, so that impossible combinations are reported along with unreadable
 * settings.
 */
function validFields(given: unknown): Partial<GivenSettings> {
  if (typeof given !== 'object' || given === null) return {};
  return Object.fromEntries(
    Object.entries(settingFields).flatMap(([name, schema]) => {
      const parsed = schema.safeParse((given as Record<string, unknown>)[name]);
      return parsed.success ? [[name, parsed.data]] : [];
    }),
  );
}
