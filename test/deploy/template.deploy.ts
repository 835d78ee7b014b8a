import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { afterAll, describe, expect, test } from 'vitest';
import { DatahubRetention } from '../../infra/datahub-retention.ts';
import type { StageInput } from '../../lambda/settings/settings.ts';
import { synthesize } from '../infra/synthesize.ts';
import { install } from './emulator.ts';

/** AWS's own checker of templates, against what AWS accepts in each property. */

const folder = await mkdtemp(join(tmpdir(), 'datahub-retention-template-'));
const python = await install(folder, ['cfn-lint==1.58.0']);

const env = { account: '111122223333', region: 'eu-central-1' };
const arn = (service: string, rest: string) => `arn:aws:${service}:eu-central-1:111122223333:${rest}`;
const stages: Record<string, Partial<StageInput>> = {
  'the least that a stage says': {},
  'a private network, Slack, keys and topics of its own': {
    mode: 'enforce',
    emails: ['data-team@example.com'],
    slackWorkspaceId: 'T0123ABCD',
    slackChannelId: 'C0123ABCD',
    alarmTopicArn: arn('sns', 'on-call'),
    encryptionKeyArn: arn('kms', 'key/00000000-0000-0000-0000-000000000000'),
    tokenKeyArn: arn('kms', 'key/00000000-0000-0000-0000-000000000001'),
    subnetIds: ['subnet-0123456789abcdef0'],
    securityGroupIds: ['sg-0123456789abcdef0'],
    caCertificateParameter: '/company/ca',
    tags: { team: 'data' },
  },
};

/** An app in which two stages share one of everything, and a third has neither alarms nor a dashboard. */
function sharing(): object {
  const app = new App({ outdir: join(folder, 'sharing'), builtinCloudFormationValidation: false });
  const stack = new Stack(app, 'Sharing', { env });
  const encryptionKey = new Key(stack, 'Key');
  const alarmTopic = new Topic(stack, 'OnCall', { masterKey: encryptionKey, enforceSSL: true });
  const topic = new Topic(stack, 'Reports', { masterKey: encryptionKey, enforceSSL: true });
  const vpc = Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-0123456789abcdef0',
    availabilityZones: ['eu-central-1a'],
    privateSubnetIds: ['subnet-0123456789abcdef0'],
  });
  const role = new Role(stack, 'Viewer', { assumedBy: new AccountRootPrincipal() });
  const policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 90 }];
  const shared = { gmsUrl: 'https://datahub.example.com/api/gms', policies, encryptionKey, topic, vpc };
  for (const stage of ['prod', 'prod-eu']) {
    const made = new DatahubRetention(stack, stage, {
      ...shared,
      stage,
      alarmTopic,
      tokenKey: encryptionKey,
      mode: 'enforce',
    });
    made.grantPreview(role);
    made.grantRelease(role);
  }
  new DatahubRetention(stack, 'bare', { ...shared, stage: 'bare', alarms: false, dashboard: false });
  return Template.fromStack(stack).toJSON();
}

describe.skipIf(python === undefined)('cfn-lint', () => {
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const templates: [string, () => object][] = [
    ...Object.entries(stages).map(([name, settings]): [string, () => object] => [
      name,
      () => synthesize(settings, { env }).template,
    ]),
    ['an app in which stages share all that can be shared', sharing],
  ];
  test.each(templates)('finds nothing in the template of %s', async (_, template) => {
    const file = join(folder, 'template.json');
    await writeFile(file, JSON.stringify(template()));
    // The CDK writes dependencies that a reference implies (W3005).
    const found = await promisify(execFile)(join(dirname(python!), 'cfn-lint'), [
      '--ignore-checks',
      'W3005',
      '--',
      file,
    ])
      .then(({ stdout }) => stdout)
      .catch(({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`);
    expect(found).toBe('');
  });
});
