import { Connections, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { ResourceField } from '../../lambda/settings/fields.ts';
import { type Settings, SettingsError } from '../../lambda/settings/settings.ts';
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
export const resourcesGiven = (scope: Construct, given: ConstructResources): Resources => ({
  topic: given.topic,
  alarmTopic: given.alarmTopic,
  tokenKey: given.tokenKey,
  encryptionKey: given.encryptionKey,
  network: networkOf(scope, given),
});

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
