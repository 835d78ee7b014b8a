import { Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { type ResourceField, resourceFields, settingFields } from '../../lambda/settings/fields.ts';
import { inspectSettings, type Settings, SettingsError } from '../../lambda/settings/settings.ts';
import { type Warning, warningsOf } from '../../lambda/settings/warnings.ts';
import type { DatahubRetentionProps } from './construct-props.ts';
import { type Resources, resourcesGiven } from './resources.ts';
import { encoded, marked } from './unresolved-props.ts';

/** Everything that a stage is made of, checked. */
export interface Checked {
  settings: Settings;
  resources: Resources;
  warnings: Warning[];
}

/** The settings that are props; the others name resources, which are props of the CDK's own types. */
const propFields = Object.fromEntries(
  Object.entries(settingFields).filter(([name]) => !resourceFields.includes(name as ResourceField)),
);

/** The props of a construct. Throws SettingsError, one sentence for each problem. */
export function checkedProps(scope: Construct, props: DatahubRetentionProps): Checked {
  const { vpc, vpcSubnets, securityGroups, topic, alarmTopic, tokenKey, encryptionKey, stage, ...given } = props;
  const { settings, problems } = inspectSettings(marked(stage), marked(given), propFields);
  if (settings === undefined) throw new SettingsError(problems.map(({ sentence }) => sentence));
  const types = { vpc, vpcSubnets, securityGroups, topic, alarmTopic, tokenKey, encryptionKey };
  const resources = resourcesGiven(scope, types);
  const { topic: reports, network } = resources;
  const warnings = warningsOf({ ...settings, topicArn: reports?.topicArn, subnetIds: network?.subnetIds });
  return inStack(scope, { settings: encoded(settings), resources, warnings });
}

/**
 * The same, if it can work in the stack around it.
 * @throws SettingsError, one sentence for each problem
 */
export function inStack(scope: Construct, checked: Checked): Checked {
  const stack = Stack.of(scope);
  const problems = [...topicProblems(stack, checked.resources), ...chatProblems(stack, checked.settings)];
  if (problems.length > 0) throw new SettingsError(problems);
  return checked;
}

/** A stack without a region of its own is deployed to the CDK command line's default region. */
const regionOf = ({ region }: Stack): string | undefined =>
  Token.isUnresolved(region) ? process.env['CDK_DEFAULT_REGION'] : region;

/** CloudWatch and SNS refuse a topic of another region in the middle of a deployment. */
function topicProblems(stack: Stack, { topic, alarmTopic }: Resources): string[] {
  const region = regionOf(stack);
  const elsewhere = Object.entries({ topic, alarmTopic }).flatMap(([name, given]) => {
    if (given === undefined || region === undefined || Token.isUnresolved(given.topicArn)) return [];
    const own = given.topicArn.split(':')[3];
    if (own === region) return [];
    return [`${name} is a topic in ${own}, and the stack is deployed to ${region}: name a topic there`];
  });
  if (topic === undefined || topic.topicArn !== alarmTopic?.topicArn) return elsewhere;
  return [
    ...elsewhere,
    'alarmTopic is the topic of the reports: one event would bring two messages there; name another',
  ];
}

function chatProblems(stack: Stack, { slackChannelId, teamsChannelId }: Settings): string[] {
  const region = regionOf(stack) ?? '';
  if (!/^(cn|us-gov)-/.test(region)) return [];
  return Object.entries({ slackChannelId, teamsChannelId }).flatMap(([name, given]) =>
    given === undefined
      ? []
      : [`${name}: AWS has no Amazon Q Developer in chat applications in ${region}: use emails or a topic`],
  );
}
