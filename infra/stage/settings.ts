import * as z from 'zod';
import { indexKey } from '../../lambda/ledger/ledger.ts';
import { searchIndex } from '../../lambda/policy/aspects.ts';
import { explain } from '../../lambda/policy/explain.ts';
import { readJson } from '../../lambda/policy/read-json.ts';
import { type Policy, type PolicyInput, policySchema } from '../../lambda/policy/schema.ts';
import { parseSchedule } from './cron.ts';
import { hostProblem } from './hosts.ts';

/**
 * The stage file, `infra/stages/<stage>.json`: every setting of a deployment and its policies. This one schema types
 * the constructs as well; what cannot work is refused here, before CloudFormation has touched anything.
 */

/** Parameter names of Parameter Store: a path of at most 15 levels; names that begin with aws or ssm are Amazon's. */
const parameterPath = z
  .string()
  .max(900)
  .regex(/^(\/[A-Za-z0-9_.-]+){1,12}$/, 'must be a path such as /datahub-retention/prod, without a slash at its end')
  .refine(
    (path) => !/^\/(aws|ssm)/i.test(path),
    'must not begin with /aws or /ssm: Parameter Store keeps these for itself',
  );

const arn = (service: string, rest: string, example: string) =>
  z
    .string()
    .regex(new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]+:\\d{12}:${rest}$`), `must be an ARN such as ${example}`);

const fields = {
  /** The GMS address with its prefix; `/operations?action=...` is appended. */
  gmsUrl: z.string(),
  /** What scheduled runs do; `preview` only reports. */
  mode: z.enum(['preview', 'enforce']).default('preview'),
  /** EventBridge Scheduler expression. */
  schedule: z.string().default('cron(30 3 * * ? *)'),
  /** IANA name; the schedule follows its daylight saving. */
  timeZone: z.string().default('UTC'),
  emails: z.array(z.email('must be an email address')).default([]),
  slackWorkspaceId: z
    .string()
    .regex(/^T[A-Z0-9]{8,15}$/, 'must be a Slack workspace id such as T0123456789')
    .optional(),
  slackChannelId: z
    .string()
    .regex(/^[CG][A-Z0-9]{8,15}$/, 'must be a Slack channel id such as C0123456789, not its name')
    .optional(),
  /** An existing topic that is used instead of one of our own. */
  topicArn: arn('sns', '[A-Za-z0-9_-]{1,256}', 'arn:aws:sns:eu-central-1:111122223333:team-alerts').optional(),
  /** Private subnets for the functions that talk to GMS. */
  subnetIds: z
    .array(z.string().regex(/^subnet-[0-9a-f]{8,17}$/, 'must be a subnet id such as subnet-0a1b2c3d4e5f60718'))
    .min(1)
    .optional(),
  securityGroupIds: z
    .array(z.string().regex(/^sg-[0-9a-f]{8,17}$/, 'must be a security group id such as sg-0a1b2c3d4e5f60718'))
    .min(1)
    .max(5)
    .optional(),
  /** A parameter that holds the certificates (PEM) of the authority that signed GMS's certificate. */
  caCertificateParameter: parameterPath.optional(),
  parameterPrefix: parameterPath.optional(),
  tokenParameter: parameterPath.optional(),
  /** The customer-managed key that encrypts the token, where it is not the account's aws/ssm key. */
  tokenKeyArn: arn(
    'kms',
    'key/[A-Za-z0-9-]+',
    'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
  ).optional(),
  /** Where docs/runbook.md can be opened from a phone, without an anchor: alarms and messages link to it. */
  runbookUrl: z
    .string()
    .regex(/^https?:\/\/[^\s#]+$/, 'must be an address without an anchor')
    .optional(),
  /** `problems` keeps quiet after a run whose result is ok. */
  notify: z.enum(['always', 'problems']).default('always'),
  /** Days; no policy may keep less. */
  minRetentionDays: z.int().min(1).max(5000).default(7),
  /** Hours after which a run sends nothing more and reports. */
  maxRunHours: z.int().min(1).max(47).default(12),
  /** Hours without a start that raise the alarm; CloudWatch looks back at most seven days. */
  alarmIfNotStartedHours: z.int().min(1).max(168).default(26),
  /** At most what fits into the state of a Step Functions execution. */
  policies: z.array(z.record(z.string(), z.unknown())).max(200),
};

/** A stage's name becomes part of resource names. */
export const stageNameSchema = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,19}$/,
    'must begin with a letter and have at most 20 lower-case letters, digits and hyphens',
  );

/** @param stage its name, for the defaults of the parameters' names */
export const settingsSchema = (stage: string) =>
  z
    .strictObject(fields)
    .superRefine(refuseImpossible)
    .transform((given, context) => {
      const prefix = given.parameterPrefix ?? `/datahub-retention/${stage}`;
      const settings = { ...given, parameterPrefix: prefix, tokenParameter: given.tokenParameter ?? `${prefix}/token` };
      if (settings.tokenParameter.startsWith(`${prefix}/policies/`)) {
        context.addIssue({
          code: 'custom',
          path: ['tokenParameter'],
          message: `must not be below ${prefix}/policies, where policies are read from`,
        });
      }
      return { ...settings, stage, policies: readPolicies(given, context) };
    });

export type Settings = z.infer<ReturnType<typeof settingsSchema>>;
export type SettingsInput = Omit<z.input<ReturnType<typeof settingsSchema>>, 'policies'> & { policies: PolicyInput[] };

/** A policy of the stage file: as it was written, for Parameter Store, and as it was understood. */
export interface StagePolicy {
  written: Record<string, unknown>;
  policy: Policy;
}

/** The stage file cannot work; `message` is one sentence for each reason. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Reads a stage file's text. Throws SettingsError. */
export function readSettings(stage: string, text: string): Settings {
  const name = stageNameSchema.safeParse(stage);
  if (!name.success) throw new SettingsError(`The stage's name "${stage}" ${name.error.issues[0]!.message}.`);
  const read = readJson(text);
  if (read.kind === 'wrong') throw new SettingsError(`The file ${read.problem}.`);
  const given = read.value;
  const parsed = settingsSchema(stage).safeParse(given);
  if (parsed.success) return parsed.data;
  throw new SettingsError(explain(parsed.error, given, Object.keys(fields)).replace(/[^?]$/, '$&.'));
}

type Given = z.infer<z.ZodObject<typeof fields>>;

function refuseImpossible(given: Given, context: z.RefinementCtx): void {
  const refuse = (field: keyof Given, message: string) => context.addIssue({ code: 'custom', path: [field], message });

  const pair = (one: keyof Given, other: keyof Given, what: string) => {
    if ((given[one] === undefined) === (given[other] === undefined)) return;
    const missing = given[one] === undefined ? one : other;
    refuse(missing, `${missing} is missing: ${what} needs both ${one} and ${other}, so add it or remove the other one`);
  };

  const host = hostProblem(given.gmsUrl);
  if (host !== undefined) refuse('gmsUrl', host);

  const schedule = parseSchedule(given.schedule);
  if (schedule.kind === 'wrong') {
    refuse(
      'schedule',
      `schedule ${given.schedule} cannot be used: ${schedule.reason}; write it as in cron(30 3 * * ? *)`,
    );
  } else if (schedule.kind === 'rate' && given.mode === 'enforce') {
    refuse(
      'schedule',
      `${given.schedule} fires at every deployment, which mode "enforce" must not: write it as cron(...)`,
    );
  }

  const zone = timeZoneProblem(given.timeZone);
  if (zone !== undefined) refuse('timeZone', zone);

  pair('slackWorkspaceId', 'slackChannelId', 'Slack');
  pair('subnetIds', 'securityGroupIds', 'a private network');
  if (new Set(given.emails).size < given.emails.length) refuse('emails', 'names an address twice: remove one');
}

function timeZoneProblem(timeZone: string): string | undefined {
  const example = 'write an IANA name such as Europe/Berlin or UTC';
  try {
    // Newer Node releases take offsets as well, EventBridge Scheduler does not.
    if (!/^[A-Za-z]/.test(timeZone)) throw new RangeError();
    new Intl.DateTimeFormat('en', { timeZone });
  } catch {
    return `${timeZone} is no time zone: ${example}`;
  }
  // Intl ignores case, EventBridge Scheduler does not.
  const spelled = ['UTC', ...Intl.supportedValuesOf('timeZone')].find(
    (name) => name.toLowerCase() === timeZone.toLowerCase() && name !== timeZone,
  );
  return spelled === undefined ? undefined : `${timeZone} is spelled ${spelled}`;
}

function readPolicies(given: Given, context: z.RefinementCtx): StagePolicy[] {
  const schema = policySchema(given.minRetentionDays);
  const seen = new Map<string, number>();
  return given.policies.flatMap((written, position) => {
    const refuse = (problem: string) =>
      context.addIssue({ code: 'custom', message: `policy ${position + 1}${problem}` });
    const parsed = schema.safeParse(written);
    if (!parsed.success) {
      refuse(`: ${explain(parsed.error, written, Object.keys(schema.shape))}`);
      return [];
    }
    const { entityType, aspect } = parsed.data;
    const key = searchIndex(indexKey(entityType, aspect));
    const earlier = seen.get(key);
    if (earlier !== undefined) {
      refuse(` is for the same index as policy ${earlier + 1} (${entityType}.${aspect}): keep one of them`);
    }
    seen.set(key, position);
    return [{ written, policy: parsed.data }];
  });
}
