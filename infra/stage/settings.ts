import * as z from 'zod';
import { type Problem, problemsOf } from '../../lambda/policy/explain.ts';
import { placed, readJson } from '../../lambda/policy/read-json.ts';
import type { PolicyInput } from '../../lambda/policy/schema.ts';
import { fileFields, type GivenSettings, prefixOf, settingFields, stageNameSchema } from './fields.ts';
import { impossibilities } from './impossibilities.ts';
import { inspectPolicies, type StagePolicy } from './policies.ts';

/**
 * The stage file, `infra/stages/<stage>.json`: every setting of a deployment and its policies. Everything that cannot
 * work is rejected here, all at once, before CloudFormation touches anything.
 */

const fileSchema = z.strictObject({ ...fileFields, ...settingFields });

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

/** Raw settings, or a whole stage file. Throws SettingsError. */
export function parseSettings(stage: string, given: unknown): Settings {
  const { settings, problems } = inspectSettings(stage, given);
  if (settings !== undefined) return settings;
  throw new SettingsError(
    problems
      .map(({ sentence }) => sentence)
      .join('; ')
      .replace(/[^?]$/, '$&.'),
  );
}

/** The settings, or all problems with them. */
export function inspectSettings(stage: string, given: unknown): { settings?: Settings; problems: Problem[] } {
  const parsed = fileSchema.safeParse(given);
  const problems = parsed.success
    ? []
    : problemsOf(parsed.error, given, Object.keys({ ...settingFields, ...fileFields }));
  const name = stageNameSchema.safeParse(stage);
  if (!name.success) {
    problems.unshift({ path: [], sentence: `The stage's name "${stage}" ${name.error.issues[0]!.message}` });
  }
  const sound = soundFields(given);
  const { policies, problems: wrongPolicies } = inspectPolicies(sound.policies ?? [], sound.minRetentionDays ?? 1);
  problems.push(
    ...impossibilities(stage, sound, namedFields(given)),
    ...wrongPolicies.map(({ path, sentence }) => ({ path: ['policies', ...path], sentence })),
  );
  if (!parsed.success || problems.length > 0) return { problems };
  const { $schema: _, tags: __, ...settings } = parsed.data;
  const prefix = settings.parameterPrefix ?? prefixOf(stage);
  return {
    problems,
    settings: {
      ...settings,
      stage,
      parameterPrefix: prefix,
      tokenParameter: settings.tokenParameter ?? `${prefix}/token`,
      policies,
    },
  };
}

const namedFields = (given: unknown): ReadonlySet<string> =>
  new Set(Object.entries(given ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [name])));

/**
 * The settings that are readable by themselves, so that impossible combinations are reported along with unreadable
 * settings.
 */
function soundFields(given: unknown): Partial<GivenSettings> {
  if (typeof given !== 'object' || given === null) return {};
  return Object.fromEntries(
    Object.entries(settingFields).flatMap(([name, schema]) => {
      const parsed = schema.safeParse((given as Record<string, unknown>)[name]);
      return parsed.success ? [[name, parsed.data]] : [];
    }),
  );
}
