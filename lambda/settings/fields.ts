import * as z from 'zod';
import { maxPolicies } from '../model/policy-fields.ts';
import { modes } from '../model/run-input.ts';
import { type DestinationName, destinationNames } from '../report/destinations/registry.ts';

/**
 * The settings of a stage: ranges, defaults and descriptions, here and nowhere else. `npm run schemas` writes them into
 * the schema for editors, the props of the construct (`stage-props.ts`), and the table of docs/operate.md. `unset` says
 * what applies without the setting, if that is not a default value.
 */

/**
 * Names in Parameter Store: a path of at most 15 levels; names that begin with aws or ssm are reserved for AWS. A function
 * has seven of them in its environment, which holds 4 KB.
 */
const parameterPath = z
  .string()
  .max(400)
  .regex(/^(\/[A-Za-z0-9_.-]+){1,12}$/, 'must be a path such as /datahub-retention/prod, without a slash at its end')
  .refine(
    (path) => !/^\/(aws|ssm)/i.test(path),
    'must not begin with /aws or /ssm: Parameter Store keeps these for itself',
  );

/** @param unusable what is an ARN of this service, too, and cannot be used, with the reason */
const arn = (service: string, rest: string, example: string, [unusable, reason]: [RegExp, string]) =>
  z
    .string()
    .refine((text) => !unusable.test(text), { error: reason, abort: true })
    .regex(new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]+:\\d{12}:${rest}$`), `must be an ARN such as ${example}`);

/** As the console of Amazon Q Developer shows it. */
const uuid = (what: string) =>
  z
    .string()
    .regex(
      /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
      `must be the ID of a ${what}, such as 1234abcd-12ab-34cd-56ef-1234567890ab`,
    );

const topicArn = arn('sns', '[A-Za-z0-9_-]{1,256}', 'arn:aws:sns:eu-central-1:111122223333:team-alerts', [
  /\.fifo$/,
  'must not be FIFO: alarms, mail and HTTPS need a standard one',
]);

const keyArn = arn(
  'kms',
  'key/[A-Za-z0-9-]+',
  'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
  [/:alias\//, "must be the key, not its alias: IAM and CloudWatch Logs never match an alias's ARN"],
);

/** The characters that every service accepts in tags; keys that begin with aws: are reserved for AWS. */
const tagText = (longest: number) =>
  z
    .string()
    .regex(
      new RegExp(`^[\\p{L}\\p{N} _.:/=+@-]{0,${longest}}$`, 'u'),
      `must have at most ${longest} letters, digits, spaces and _ . : / = + - @`,
    );

export const defaultLimits = { minRetentionDays: 7, maxRunHours: 12 } as const;

const format = (byDefault: DestinationName, description: string) =>
  z.enum(destinationNames).default(byDefault).meta({ description });

export const settingFields = {
  gmsUrl: z.string().meta({
    description: 'The GMS address with its prefix: https://host/api/gms, https://host/gms or http://host:8080.',
  }),
  mode: z.enum(modes).default('preview').meta({
    description: 'What scheduled runs do: preview only reports, enforce truncates for real.',
  }),
  schedule: z.string().min(1).max(256).default('cron(30 3 * * ? *)').meta({
    description: 'When runs start, as an expression of EventBridge Scheduler.',
  }),
  timeZone: z.string().min(1).default('UTC').meta({
    description: 'The IANA name of the time zone that the schedule is in; it follows daylight saving.',
  }),
  emails: z.array(z.email('must be an email address')).default([]).meta({
    description: 'Who gets the report by mail. AWS asks each address to confirm.',
    unset: 'nobody',
  }),
  slackWorkspaceId: z
    .string()
    .regex(/^T[A-Z0-9]{8,15}$/, 'must be a Slack workspace id such as T0123456789')
    .optional()
    .meta({
      description: 'The Slack workspace, authorized once in Amazon Q Developer; with slackChannelId.',
      unset: 'none',
    }),
  slackChannelId: z
    .string()
    .regex(/^[CG][A-Z0-9]{8,15}$/, 'must be a Slack channel id such as C0123456789, not its name')
    .optional()
    .meta({ description: 'The Slack channel; with slackWorkspaceId.', unset: 'none' }),
  teamsTenantId: uuid('Teams tenant').optional().meta({
    description: 'The Teams tenant; with the next two.',
    unset: 'none',
  }),
  teamsTeamId: uuid('team').optional().meta({ description: 'The team.', unset: 'none' }),
  teamsChannelId: z
    .string()
    .regex(
      /^[\w\-=+/.,]*%3a[\w\-=+/.,]*%40[\w\-=+/.,]*$/i,
      'must be the ID in the link of a Teams channel, such as 19%3a…%40thread.tacv2',
    )
    .optional()
    .meta({ description: 'The channel, as in its link.', unset: 'none' }),
  topicArn: topicArn.optional().meta({
    description:
      'A standard SNS topic for the reports. Its policy has to let cloudwatch.amazonaws.com publish, unless alarms go elsewhere.',
    unset: 'a topic of its own',
  }),
  alarmTopicArn: topicArn.optional().meta({
    description:
      'A standard SNS topic for all alarms and their ends (PagerDuty and the like), whose policy lets cloudwatch.amazonaws.com publish.',
    unset: 'topicArn, except for alarms that repeat a report',
  }),
  topicKeyArn: keyArn.optional().meta({
    description: 'The key that encrypts topicArn. If alarms go there, its policy has to let CloudWatch use it.',
    unset: 'none',
  }),
  emailFormat: format('mail', 'What mail subscribers of the topic get, as docs/messages.md lists it.'),
  httpsFormat: format('amazon-q', 'What HTTPS subscribers get; slackChannelId and teamsChannelId need amazon-q.'),
  queueFormat: format('json', 'What SQS, Lambda, Firehose and others get; SMS gets the subject.'),
  subnetIds: z
    .array(z.string().regex(/^subnet-[0-9a-f]{8,17}$/, 'must be a subnet id such as subnet-0a1b2c3d4e5f60718'))
    .min(1)
    .optional()
    .meta({ description: 'Private subnets for the functions that talk to GMS; with securityGroupIds.', unset: 'none' }),
  securityGroupIds: z
    .array(z.string().regex(/^sg-[0-9a-f]{8,17}$/, 'must be a security group id such as sg-0a1b2c3d4e5f60718'))
    .min(1)
    .max(5)
    .optional()
    .meta({ description: 'Security groups of these functions; with subnetIds.', unset: 'none' }),
  caCertificateParameter: parameterPath.optional().meta({
    description: "A parameter that holds the certificates (PEM) of the authority that signed GMS's certificate.",
    unset: 'public authorities',
  }),
  parameterPrefix: parameterPath.optional().meta({
    description: 'Where Parameter Store holds policies, token and pause switch.',
    unset: '/datahub-retention/<stage>',
  }),
  tokenParameter: parameterPath.optional().meta({
    description: 'The parameter (SecureString) that holds the access token.',
    unset: '<parameterPrefix>/token',
  }),
  tokenKeyArn: keyArn.optional().meta({
    description: 'The customer-managed key that encrypts token, headers and client key.',
    unset: 'the account’s aws/ssm key',
  }),
  headersParameter: parameterPath.optional().meta({
    description: 'A parameter (SecureString) with headers for a gateway, one Name: value a line.',
    unset: 'none',
  }),
  clientCertificateParameter: parameterPath.optional().meta({
    description: 'A parameter with a client certificate (PEM) for a gateway; with the next.',
    unset: 'none',
  }),
  clientKeyParameter: parameterPath.optional().meta({
    description: 'A parameter (SecureString) with its key (PEM, no password).',
    unset: 'none',
  }),
  noIdentity: z.boolean().default(false).meta({
    description: 'Sends no token, to a DataHub that asks for none.',
  }),
  encryptionKeyArn: keyArn.optional().meta({
    description:
      'One key for ledger, logs, queues, environments and its own topic. Its policy has to let CloudWatch and CloudWatch Logs use it.',
    unset: 'keys of AWS',
  }),
  runbookUrl: z
    .string()
    .max(500)
    .regex(/^https?:\/\/[^\s#]+$/, 'must be an address without an anchor')
    .optional()
    .meta({
      description:
        'Where docs/runbook.md can be opened from a phone, without an anchor: alarms and messages link to it.',
      unset: 'they link to the stage’s dashboard, which has the most urgent sections',
    }),
  notify: z.enum(['always', 'problems']).default('always').meta({
    description:
      'problems sends nothing after a run in which nothing was lost, nothing may be lost, and nobody has to act.',
  }),
  minRetentionDays: z
    .int()
    .min(1)
    .max(5000)
    .default(defaultLimits.minRetentionDays)
    .meta({ description: 'Days; no policy may keep fewer.' }),
  maxRowsPerRun: z.int().min(1).optional().meta({
    description: 'The row limit of policies without a maxRowsPerRun of their own.',
    unset: 'none',
  }),
  maxRunHours: z.int().min(1).max(24).default(defaultLimits.maxRunHours).meta({
    description: 'Hours after which a run sends nothing more and reports.',
  }),
  alarmIfNotStartedHours: z.int().min(1).max(168).default(26).meta({
    description:
      'Hours without a scheduled start after which the alarm fires; CloudWatch looks back at most seven days.',
  }),
  alarms: z.boolean().default(true).meta({
    description: 'false: no alarms. Then nobody hears of a run that did not start or report.',
  }),
  dashboard: z.boolean().default(true).meta({ description: 'false: no dashboard.' }),
  logLevel: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']).default('INFO').meta({
    description: 'The lowest level of the lines in the logs of the functions.',
  }),
  policies: z
    .array(z.record(z.string(), z.unknown()))
    .max(maxPolicies)
    .meta({
      description: `One policy for each index, at most ${maxPolicies}.`,
    }),
};

export type GivenSettings = z.output<z.ZodObject<typeof settingFields>>;

/** Settings that name resources. The construct takes these as the CDK's own types (`props/construct-props.ts`). */
export const resourceFields = [
  'topicArn',
  'topicKeyArn',
  'alarmTopicArn',
  'subnetIds',
  'securityGroupIds',
  'tokenKeyArn',
  'encryptionKeyArn',
] as const satisfies (keyof GivenSettings)[];

export type ResourceField = (typeof resourceFields)[number];

export const prefixOf = (stage: string): string => `/datahub-retention/${stage}`;

export const fileFields = {
  $schema: z.string().optional().meta({ description: 'The address of this schema, for editors.' }),
  tags: z
    .record(
      tagText(128)
        .min(1)
        .refine((key) => !/^aws:/i.test(key), "must not begin with aws: these tags are Amazon's"),
      tagText(256),
    )
    .refine((tags) => Object.keys(tags).length < 50, 'must be at most 49: the version is a tag, too')
    .optional()
    .meta({ description: 'Tags for every resource of the stack that supports them.', unset: 'none' }),
};

/** A stage's name becomes part of resource names. */
export const stageNameSchema = z
  .string('must be a string')
  .regex(
    /^[a-z][a-z0-9-]{0,19}$/,
    'must begin with a letter and have at most 20 lower-case letters, digits and hyphens',
  )
  .refine((name) => !/^(undefined|null)$/.test(name), 'is what a value that is missing becomes')
  .meta({
    description:
      'The name of the stage, at most 20 lower-case letters, digits and hyphens; part of resource names. One stage for each server.',
  });
