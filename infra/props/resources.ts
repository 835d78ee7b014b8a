import { isDeepStrictEqual } from 'node:util';
import { Token, Tokenization } from 'aws-cdk-lib';
import { Connections, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { ResourceField } from '../../lambda/settings/fields.ts';
import { type Settings, SettingsError } from '../../lambda/settings/settings.ts';
import { UnresolvedValue } from '../../lambda/settings/unresolved.ts';
import type { ConstructResources } from './construct-props.ts';

/** What a stage uses and does not make itself. */
export interface Resources {
  topic?: ITopic | undefined;
  alarmTopic?: ITopic | undefined;
  tokenKey?: IKey | undefined;
  encryptionKey?: IKey | undefined;
  network?: Network | undefined;
}

interface Network {
  subnetIds: string[];
  securityGroupIds: string[];
  connections: Connections;
}

/** The resources that an app gives as such. Throws SettingsError, one sentence for each problem. */
export function resourcesGiven(scope: Construct, given: ConstructResources): Resources {
  const problems = Object.entries(cdkObjects).flatMap(([name, { has, make, isList = false, mayBeEmpty }]) => {
    const value: unknown = given[name as keyof ConstructResources];
    const isOne = (one: unknown) => typeof one === 'object' && one !== null && has.some((member) => member in one);
    if (mayBeEmpty && isDeepStrictEqual(value, {})) return [];
    if (value === undefined || (isList ? Array.isArray(value) && value.every(isOne) : isOne(value))) return [];
    return [`${name} has to be ${isList ? 'a list, each item' : 'an object of the CDK,'} made with ${make}`];
  });
  if (problems.length > 0) throw new SettingsError(problems);
  const { topic, alarmTopic, tokenKey, encryptionKey } = given;
  return { topic, alarmTopic, tokenKey, encryptionKey, network: networkOf(scope, given) };
}

type CdkObject = { has: string[]; make: string; isList?: true; mayBeEmpty?: true };

/** Members that tell each type, and what makes one from the ID or ARN that a JavaScript app may pass instead. */
export const cdkObjects: Record<keyof ConstructResources, CdkObject> = {
  vpc: { has: ['selectSubnets'], make: 'Vpc.fromLookup' },
  // The CDK ignores members that it does not know, and would take the private subnets; an empty selection means these.
  vpcSubnets: {
    has: ['subnets', 'subnetType', 'subnetGroupName', 'subnetFilters', 'availabilityZones', 'onePerAz'],
    make: 'vpc.selectSubnets',
    mayBeEmpty: true,
  },
  securityGroups: { has: ['securityGroupId'], make: 'SecurityGroup.fromSecurityGroupId', isList: true },
  topic: { has: ['topicArn'], make: 'Topic.fromTopicArn' },
  alarmTopic: { has: ['topicArn'], make: 'Topic.fromTopicArn' },
  tokenKey: { has: ['keyArn'], make: 'Key.fromKeyArn' },
  encryptionKey: { has: ['keyArn'], make: 'Key.fromKeyArn' },
};

/** The props that stand for settings of a stage file. */
export const namesOfProps = {
  topicArn: 'topic',
  topicKeyArn: 'topic.masterKey',
  alarmTopicArn: 'alarmTopic',
  subnetIds: 'vpcSubnets',
  securityGroupIds: 'securityGroups',
  tokenKeyArn: 'tokenKey',
  encryptionKeyArn: 'encryptionKey',
} as const satisfies Record<ResourceField, string>;

/** The given resources as a stage file names them, for the same checks; what only the deployment knows is marked. */
export function namesOfResources({ topic, alarmTopic, tokenKey, encryptionKey, network }: Resources) {
  const topicArn = (one?: ITopic) => one && knownArn(one.topicArn, one.fifo ? 'later.fifo' : undefined);
  const keyArn = (one?: IKey) => one && knownArn(one.keyArn, 'aliasName' in one ? 'alias/later' : undefined);
  const ids = (all?: string[]) => all?.map((id) => new UnresolvedValue(id));
  return {
    topic: topicArn(topic),
    'topic.masterKey': keyArn(topic?.masterKey),
    alarmTopic: topicArn(alarmTopic),
    vpcSubnets: ids(network?.subnetIds),
    securityGroups: ids(network?.securityGroupIds),
    tokenKey: keyArn(tokenKey),
    encryptionKey: keyArn(encryptionKey),
  } satisfies Record<(typeof namesOfProps)[keyof typeof namesOfProps], unknown>;
}

/**
 * An ARN with something that fits in place of each part that only the deployment knows. `local` is no region.
 * @param name what comes last in it, where the resource itself says that
 */
function knownArn(arn: string, name?: string): string | UnresolvedValue {
  const isWhole = Token.isUnresolved(arn) && Tokenization.reverseString(arn).length === 1;
  if (isWhole && name === undefined) return new UnresolvedValue(arn);
  const fitting = ['arn', 'aws', 'sns', 'local', '000000000000', name ?? 'key/later'];
  const parts = isWhole ? fitting : arn.split(':');
  return parts.map((part, at) => (Token.isUnresolved(part) ? fitting[at] : part)).join(':');
}

/** The resources that a stage file names. */
export function resourcesNamed(scope: Construct, named: Pick<Settings, ResourceField>): Resources {
  const { topicArn, topicKeyArn: keyArn, alarmTopicArn, tokenKeyArn, encryptionKeyArn } = named;
  const key = (id: string, arn: string | undefined) => (arn === undefined ? undefined : Key.fromKeyArn(scope, id, arn));
  return {
    topic:
      topicArn === undefined
        ? undefined
        : Topic.fromTopicAttributes(scope, 'Topic', { topicArn, ...(keyArn && { keyArn }) }),
    alarmTopic: alarmTopicArn === undefined ? undefined : Topic.fromTopicArn(scope, 'AlarmTopic', alarmTopicArn),
    tokenKey: key('TokenKey', tokenKeyArn),
    encryptionKey: key('EncryptionKey', encryptionKeyArn),
    network: networkNamed(scope, named),
  };
}

function networkNamed(
  scope: Construct,
  { subnetIds, securityGroupIds }: Pick<Settings, 'subnetIds' | 'securityGroupIds'>,
): Network | undefined {
  if (subnetIds === undefined || securityGroupIds === undefined) return undefined;
  const securityGroups = securityGroupIds.map((id, at) =>
    SecurityGroup.fromSecurityGroupId(scope, `SecurityGroup ${at + 1}`, id),
  );
  return { subnetIds, securityGroupIds, connections: new Connections({ securityGroups }) };
}

function networkOf(scope: Construct, { vpc, vpcSubnets, securityGroups }: ConstructResources): Network | undefined {
  if (vpc === undefined) {
    const misplaced = Object.entries({ vpcSubnets, securityGroups }).find(([, value]) => value !== undefined);
    if (misplaced === undefined) return undefined;
    throw new SettingsError([`vpc is missing: ${misplaced[0]} says where in it the functions are`]);
  }
  const { subnetIds, hasPublic } = vpc.selectSubnets(vpcSubnets);
  if (hasPublic) {
    // Lambda gives a function no public address.
    throw new SettingsError([
      'vpcSubnets are public, and a function there reaches nothing outside: choose private ones',
    ]);
  }
  const groups = securityGroups ?? [new SecurityGroup(scope, 'SecurityGroup', { vpc })];
  return {
    subnetIds,
    securityGroupIds: groups.map(({ securityGroupId }) => securityGroupId),
    connections: new Connections({ securityGroups: groups }),
  };
}
