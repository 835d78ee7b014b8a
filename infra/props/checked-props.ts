import { Annotations, Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { unknownKey } from '../../lambda/policy/explain.ts';
import { regionProblems } from '../../lambda/settings/cross-field-checks.ts';
import { type ResourceField, settingFields } from '../../lambda/settings/fields.ts';
import { inspectSettings, namingOf, type Settings, SettingsError } from '../../lambda/settings/settings.ts';
import { type Warning, warningsOf } from '../../lambda/settings/warnings.ts';
import type { DatahubRetentionProps } from './construct-props.ts';
import { cdkObjects, namesOfProps, namesOfResources, type Resources, resourcesGiven } from './resources.ts';
import type { StageProps } from './stage-props.ts';
import { encoded, marked } from './unresolved-props.ts';

/** Everything that a stage is made of, checked. */
export interface Checked {
  settings: Settings;
  resources: Resources;
  warnings: Warning[];
}

/** The props of a construct. Throws SettingsError, one sentence for each problem. */
export function checkedProps(scope: Construct, props: DatahubRetentionProps): Checked {
  if (typeof props !== 'object' || props === null) throw new SettingsError(['stage, gmsUrl and policies are missing']);
  const unknown = Object.keys(props).filter((name) => !propNames.includes(name));
  if (unknown.length > 0) {
    const ofFile = (name: string) => `${name} is a setting of stage files: here it is ${called(name)}`;
    throw new SettingsError(unknown.map((name) => (name in namesOfProps ? ofFile(name) : unknownKey(name, propNames))));
  }
  const resources = resourcesGiven(scope, props);
  // An error that is thrown would keep the CDK from looking up what is missing; with this one it deploys nothing.
  const notANumber = (field: string) =>
    Annotations.of(scope).addError(
      `${field} is NaN, as Number() makes it of a value that has yet to be looked up: give it a number.`,
    );
  const given = Object.fromEntries(Object.entries(props).filter(([name]) => !(name in cdkObjects))) as StageProps;
  const { stage, ...settled } = marked(given, notANumber);
  const written = { ...settled, ...namesOfResources(resources) };
  const { settings, problems } = inspectSettings(stage, written, settingFields, namesOfProps);
  if (settings === undefined) throw new SettingsError(problems.map(({ sentence }) => sentence));
  const warnings = warningsOf({ ...settings, topicArn: resources.topic?.topicArn }, called);
  return inStack(scope, { settings: encoded(settings), resources, warnings }, called);
}

const called = namingOf(namesOfProps);

const propNames = [
  'stage',
  ...Object.keys(settingFields).filter((name) => !(name in namesOfProps)),
  ...Object.keys(cdkObjects),
];

/**
 * The same, if it can work in the stack around it.
 * @param called how a setting is written, where that is not its name
 * @throws SettingsError, one sentence for each problem
 */
export function inStack(scope: Construct, checked: Checked, called = (field: string) => field): Checked {
  const { settings, resources } = checked;
  const stack = Stack.of(scope);
  const region = regionOf(stack);
  const environments = environmentsOf(resources);
  const problems = [
    ...regionProblems((field) => environments[field]?.region, called, region).map(({ sentence }) => sentence),
    ...topicProblems(resources),
    ...chatProblems(settings, region ?? ''),
  ];
  if (problems.length > 0) throw new SettingsError(problems);
  return { ...checked, warnings: [...checked.warnings, ...otherAccounts(stack, resources, called)] };
}

/**
 * The region that a stack is deployed to, if that is known. Without credentials the CDK's command line does not say
 * that it does not know it: it names us-east-1, and no account.
 */
function regionOf({ region, account }: Stack): string | undefined {
  const { CDK_DEFAULT_REGION, CDK_DEFAULT_ACCOUNT } = process.env;
  const isDefault = Token.isUnresolved(region) || (region === CDK_DEFAULT_REGION && Token.isUnresolved(account));
  if (!isDefault) return region;
  return CDK_DEFAULT_ACCOUNT === undefined ? undefined : CDK_DEFAULT_REGION;
}

/** Where resources are, by the settings that name them: that of a stack, or what an ARN says. */
const environmentsOf = ({ topic, alarmTopic, tokenKey, encryptionKey }: Resources) =>
  ({
    topicArn: topic?.env,
    topicKeyArn: topic?.masterKey?.env,
    alarmTopicArn: alarmTopic?.env,
    tokenKeyArn: tokenKey?.env,
    encryptionKeyArn: encryptionKey?.env,
  }) satisfies Record<Exclude<ResourceField, 'subnetIds' | 'securityGroupIds'>, unknown>;

/** What another account has to allow, because no deployment of this one can. */
function otherAccounts({ account }: Stack, resources: Resources, called: (field: string) => string): Warning[] {
  const publish: Record<string, string> = {
    topicArn: 'Report publish (sns:Publish, sns:GetTopicAttributes), and subscriptions be made',
    alarmTopicArn: 'CloudWatch publish its alarms',
  };
  return Object.entries(environmentsOf(resources)).flatMap(([field, { account: owner = account } = {}]) => {
    if (Token.isUnresolved(owner) || Token.isUnresolved(account) || owner === account) return [];
    const [name, may = 'the roles of this stage use it'] = [called(field), publish[field]];
    const text = `${name} belongs to the account ${owner}: its policy has to let ${account} do this: ${may}.`;
    return [{ id: `account-${name}`, path: [field], text }];
  });
}

/** Topics of the same app, whose ARNs only the deployment knows; the list of checks compares the others. */
function topicProblems({ topic, alarmTopic }: Resources): string[] {
  if (topic === undefined || topic.topicArn !== alarmTopic?.topicArn) return [];
  return ['alarmTopic is the topic of the reports: one event would bring two messages there; name another, or omit it'];
}

function chatProblems({ slackChannelId, teamsChannelId }: Settings, region: string): string[] {
  if (!/^(cn|us-gov)-/.test(region)) return [];
  return Object.entries({ slackChannelId, teamsChannelId }).flatMap(([name, given]) =>
    given === undefined
      ? []
      : [`${name}: AWS has no Amazon Q Developer in chat applications in ${region}: use emails or a topic`],
  );
}
