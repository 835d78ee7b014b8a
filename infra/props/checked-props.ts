import { Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { ResourceField } from '../stage/fields.ts';
import { parameterNames, parseProps, type Settings, SettingsError, type StageInput } from '../stage/settings.ts';
import { type Warning, warningsOf } from '../stage/warnings.ts';
import type { DatahubRetentionProps } from './construct-props.ts';
import { hasToken, isUnresolved, withPlaceholders } from './later.ts';
import { type Resources, resourcesOf } from './resources.ts';

/**
 * The construct's props. Our own stack also passes the names of resources, which a stage file has instead of the
 * resources.
 */
export type GivenProps = DatahubRetentionProps & Pick<StageInput, ResourceField>;

interface CheckedProps {
  settings: Settings;
  resources: Resources;
  warnings: Warning[];
}

/**
 * The props of a construct, checked like a stage file and also against what only the stack knows. Throws SettingsError,
 * one sentence for each problem.
 */
export function checkedProps(scope: Construct, props: GivenProps): CheckedProps {
  const { vpc, vpcSubnets, securityGroups, topic, alarmTopic, tokenKey, encryptionKey, ...given } = props;
  const { stage, ...known } = withPlaceholders(given);
  const checked = parseProps(String(stage), known);
  const tokens = Object.entries(given).filter(([name, value]) => name !== 'policies' && hasToken(value));
  const settings: Settings = {
    ...checked,
    ...Object.fromEntries(tokens),
    ...parameterNames(given.stage, given),
    policies: checked.policies.map((one, at) => ({ ...one, written: { ...given.policies[at] } })),
  };
  const asTypes = { vpc, vpcSubnets, securityGroups, topic, alarmTopic, tokenKey, encryptionKey };
  const resources = resourcesOf(scope, asTypes, settings);
  const problems = [...topicProblems(Stack.of(scope), resources), ...chatProblems(Stack.of(scope), settings)];
  if (problems.length > 0) throw new SettingsError(`${problems.join('; ')}.`);
  const { topic: reports, network } = resources;
  const warnings = warningsOf({ ...checked, topicArn: reports?.topicArn, subnetIds: network?.subnetIds });
  return { settings, resources, warnings };
}

/** A stack without a region of its own is deployed to the CDK command line's default region. */
const regionOf = ({ region }: Stack): string | undefined =>
  Token.isUnresolved(region) ? process.env['CDK_DEFAULT_REGION'] : region;

/** CloudWatch and SNS refuse a topic of another region in the middle of a deployment. */
function topicProblems(stack: Stack, { topic, alarmTopic }: Resources): string[] {
  const region = regionOf(stack);
  const elsewhere = Object.entries({ topic, alarmTopic }).flatMap(([name, given]) => {
    if (given === undefined || region === undefined || isUnresolved(given.topicArn)) return [];
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
