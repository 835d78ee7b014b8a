import { Connections, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { ResourceField } from '../stage/fields.ts';
import { type Settings, SettingsError } from '../stage/settings.ts';
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

/**
 * The resources of a stage: an app gives them as such, a stage file by their names.
 * @throws SettingsError, one sentence for each problem
 */
export function resourcesOf(
  scope: Construct,
  given: ConstructResources,
  named: Pick<Settings, ResourceField>,
): Resources {
  const { topicArn, topicKeyArn: keyArn, alarmTopicArn, tokenKeyArn, encryptionKeyArn } = named;
  const topicNamed = () =>
    topicArn && Topic.fromTopicAttributes(scope, 'Topic', { topicArn, ...(keyArn && { keyArn }) });
  const key = (id: string, arn: string | undefined) => (arn === undefined ? undefined : Key.fromKeyArn(scope, id, arn));
  return {
    topic: given.topic ?? (topicNamed() || undefined),
    alarmTopic:
      given.alarmTopic ?? (alarmTopicArn ? Topic.fromTopicArn(scope, 'AlarmTopic', alarmTopicArn) : undefined),
    tokenKey: given.tokenKey ?? key('TokenKey', tokenKeyArn),
    encryptionKey: given.encryptionKey ?? key('EncryptionKey', encryptionKeyArn),
    network: networkOf(scope, given) ?? networkNamed(scope, named),
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
    throw new SettingsError(`vpc is missing: ${misplaced[0]} says where in it the functions are.`);
  }
  const { subnetIds, hasPublic } = vpc.selectSubnets(vpcSubnets);
  if (hasPublic) {
    // Lambda gives a function no public address.
    throw new SettingsError(
      'vpcSubnets are public, and a function there reaches nothing outside: choose private ones.',
    );
  }
  const groups = securityGroups ?? [new SecurityGroup(scope, 'SecurityGroup', { vpc })];
  return {
    subnetIds,
    securityGroupIds: groups.map(({ securityGroupId }) => securityGroupId),
    connections: new Connections({ securityGroups: groups }),
  };
}
