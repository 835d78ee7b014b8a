import { Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { DatahubRetentionProps } from './stage/props.ts';
import { parseSettings, type Settings, SettingsError } from './stage/settings.ts';

/**
 * The props of a construct, checked like a stage file and also against what only the stack knows. Throws SettingsError,
 * one sentence for each problem.
 */
export function settingsOf(scope: Construct, { stage, ...given }: DatahubRetentionProps): Settings {
  const { checkable, restore } = withoutTokens(given);
  const settings = restore(parseSettings(stage, checkable));
  for (const name of ['topicArn', 'alarmTopicArn'] as const) {
    const problem = regionProblem(Stack.of(scope).region, settings[name]);
    if (problem !== undefined) throw new SettingsError(`${name} ${problem}.`);
  }
  return settings;
}

/** CloudWatch and SNS refuse a topic of another region in the middle of a deployment. */
function regionProblem(stackRegion: string, topicArn: string | undefined): string | undefined {
  // A stack without a region of its own is deployed to the CDK command line's default region.
  const region = Token.isUnresolved(stackRegion) ? process.env['CDK_DEFAULT_REGION'] : stackRegion;
  if (topicArn === undefined || region === undefined || Token.isUnresolved(topicArn)) return undefined;
  const own = topicArn.split(':')[3];
  if (own === region) return undefined;
  return `is a topic in ${own}, and the stack is deployed to ${region}: name a topic there`;
}

/** Props for resources that the app may create itself, so that their values are only known at deployment. */
const deployTime = {
  gmsUrl: () => 'https://token.invalid/gms',
  topicArn: (n: number) => `arn:aws:sns:us-east-1:000000000000:token-${n}`,
  alarmTopicArn: (n: number) => `arn:aws:sns:us-east-1:000000000000:token-${n}`,
  tokenKeyArn: () => 'arn:aws:kms:us-east-1:000000000000:key/token',
  topicKeyArn: () => 'arn:aws:kms:us-east-1:000000000000:key/token',
  subnetIds: () => 'subnet-00000000',
  securityGroupIds: () => 'sg-00000000',
} as const;

type DeployTimeField = keyof typeof deployTime;

/**
 * Such values cannot be checked at synth. The check uses placeholders, one for each token, so that the same topic given
 * twice is still noticed.
 */
function withoutTokens(given: Omit<DatahubRetentionProps, 'stage'>) {
  const seen: string[] = [];
  const numberOf = (token: string) => (seen.includes(token) ? seen.indexOf(token) : seen.push(token) - 1);
  const standIn = (name: DeployTimeField, value: unknown): unknown => {
    if (Token.isUnresolved(value) && Array.isArray(value)) return [deployTime[name](0)];
    if (Array.isArray(value)) return value.map((item) => standIn(name, item));
    return typeof value === 'string' && Token.isUnresolved(value) ? deployTime[name](numberOf(value)) : value;
  };
  const replaced = (Object.keys(deployTime) as DeployTimeField[]).filter(
    (name) => JSON.stringify(standIn(name, given[name])) !== JSON.stringify(given[name]),
  );
  const originals = Object.fromEntries(replaced.map((name) => [name, given[name]]));
  const standIns = Object.fromEntries(replaced.map((name) => [name, standIn(name, given[name])]));
  return {
    checkable: { ...given, ...standIns },
    restore: (settings: Settings): Settings => ({ ...settings, ...originals }),
  };
}
