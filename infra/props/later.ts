import { Token } from 'aws-cdk-lib';
import { SettingsError } from '../stage/settings.ts';

/**
 * Whether a value is known only later: at deployment (a token), or once the CDK has looked it up. Until then
 * `valueFromLookup` and `Vpc.fromLookup` return placeholder texts, and an error would keep the CDK from asking AWS at
 * all.
 */
export const isUnresolved = (value: unknown): boolean =>
  Token.isUnresolved(value) || (typeof value === 'string' && /dummy-value-for-|^[ips]-(12345|67890)$/.test(value));

/**
 * Whether CloudFormation fills in the value. A value that is still being looked up does not have to be in the template,
 * which the CDK throws away.
 */
export const hasToken = (value: unknown): boolean =>
  Token.isUnresolved(value) || (Array.isArray(value) && value.some((item) => Token.isUnresolved(item)));

/**
 * Samples for settings that the check cannot do without; they cause no warning. All other settings that are known later
 * are left out.
 */
const samples: Record<string, (n: number) => unknown> = {
  stage: () => 'later',
  gmsUrl: () => 'https://later.invalid/gms',
  schedule: () => 'cron(0 * * * ? *)',
  emails: (n) => `later-${n}@example.com`,
  slackWorkspaceId: () => 'T00000000',
  slackChannelId: () => 'C00000000',
  teamsTenantId: () => '00000000-0000-4000-8000-000000000000',
  teamsTeamId: () => '00000000-0000-4000-8000-000000000000',
  teamsChannelId: () => '19%3alater%40thread.tacv2',
  topicArn: (n) => `arn:aws:sns:us-east-1:000000000000:later-${n}`,
  subnetIds: () => 'subnet-00000000',
  securityGroupIds: () => 'sg-00000000',
  minRetentionDays: () => 1,
  alarmIfNotStartedHours: () => 168,
  entityType: (n) => `later${n}`,
  aspect: (n) => `later${n}`,
  retentionDays: () => 5000,
};

/** Each item of these is a resource of its own. */
const itemized = ['emails', 'policies'];

/** The props as far as they are known, with samples where a check needs something. Throws SettingsError. */
export function withPlaceholders(given: object): Record<string, unknown> {
  let count = 0;
  const known = (name: string, value: unknown): unknown => {
    if (Array.isArray(value) && isUnresolved(value)) {
      if (!itemized.includes(name)) return [samples[name]?.(++count)];
      throw new SettingsError(`${name} is a list whose length synth does not know: give its items.`);
    }
    if (isUnresolved(value)) return samples[name]?.(++count);
    if (Array.isArray(value)) return value.map((item) => known(name, item));
    return name === 'policies' && typeof value === 'object' && value !== null ? fields(value) : value;
  };
  const fields = (of: object) =>
    Object.fromEntries(Object.entries(of).map(([name, value]) => [name, known(name, value)]));
  return fields(given);
}
