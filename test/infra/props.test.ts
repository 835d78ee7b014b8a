import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { App, CfnParameter, Fn, Stack, type StackProps } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { SecurityGroup, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { AccountRootPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { DatahubRetention } from '../../infra/datahub-retention.ts';
import type { DatahubRetentionProps } from '../../infra/props/construct-props.ts';
import type { RetentionPolicy, StageProps } from '../../infra/props/stage-props.ts';
import type { PolicyInput } from '../../lambda/policy/schema.ts';
import { type ResourceField, resourceFields, settingFields } from '../../lambda/settings/fields.ts';
import type { StageInput } from '../../lambda/settings/settings.ts';

/** The same fields, of the same types, required or not: in both directions, and with every field required, too. */
type Same<One, Other> = [One, Required<One>] extends [Other, Required<Other>]
  ? [Other, Required<Other>] extends [One, Required<One>]
    ? true
    : false
  : false;

const props = {
  stage: 'prod',
  gmsUrl: 'https://datahub.example.com/api/gms',
  policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 90 }],
} satisfies DatahubRetentionProps;

// Without a folder of ours, each app would leave one of its own behind.
const newApp = () =>
  new App({ outdir: mkdtempSync(join(inject('shared'), 'props-')), builtinCloudFormationValidation: false });
const newStack = (region?: string, options: StackProps = {}) =>
  new Stack(newApp(), 'Foreign', {
    ...(region !== undefined && { env: { account: '111122223333', region } }),
    ...options,
  });
const place = (fields: object, stack = newStack(), id = 'Retention') =>
  new DatahubRetention(stack, id, { ...props, ...fields });
const topic = (stack: Stack) => Topic.fromTopicArn(stack, 'Given', onCall);
const onCall = 'arn:aws:sns:eu-central-1:111122223333:on-call';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('The props of the construct', () => {
  test('are the settings of a stage file without its resources, and the stage', () => {
    const sameSettings: Same<StageProps, Omit<StageInput, '$schema' | 'tags' | ResourceField> & { stage: string }> =
      true;
    const samePolicies: Same<RetentionPolicy, PolicyInput> = true;
    expect([sameSettings, samePolicies]).toEqual([true, true]);
  });

  test.each<[object, RegExp]>([
    [{ stage: 'Prod' }, /^The stage's name "Prod" must begin with a letter/],
    [{ tags: { team: 'data' } }, /^"tags" is not a known field/],
    [{ topicArn: onCall }, /^"topicArn" is not a known field/],
    [{ queue: newApp() }, /^"queue" is not a known field/],
    [{ emails: ['team'], mode: 'x' }, /^mode must be .*; emails 1 must be an email address, not "team"\.$/],
  ])('that cannot work throw one sentence at synth: %j', (fields, sentence) => {
    expect(() => place(fields)).toThrow(sentence);
  });

  test.each([
    ['topic', 'of the stack'],
    ['alarmTopic', 'of the stack'],
    // CDK deploys to it where the stack names none.
    ['alarmTopic', 'of the environment'],
  ])('refuse a %s of another region than the one %s', (name, of) => {
    const sentence = `${name} is a topic in eu-central-1, and the stack is deployed to eu-west-1: name a topic there.`;
    const inRegion = (region: string) => {
      vi.stubEnv('CDK_DEFAULT_REGION', region);
      const stack = newStack(of === 'of the stack' ? region : undefined);
      return place({ [name]: topic(stack) }, stack);
    };
    expect(() => inRegion('eu-west-1')).toThrow(sentence);
    expect(() => inRegion('eu-central-1')).not.toThrow();
  });

  test('refuse the same topic for reports and alarms, also one that only the deployment knows', () => {
    const stack = newStack();
    const own = new Topic(stack, 'Own');
    expect(() => place({ topic: own, alarmTopic: own }, stack)).toThrow(/^alarmTopic is the topic of the reports/);
  });

  test.each(['cn-north-1', 'us-gov-west-1'])('refuse Slack in %s, where AWS does not have it', (region) => {
    const slack = { slackWorkspaceId: 'T0123456789', slackChannelId: 'C0123456789' };
    expect(() => place(slack, newStack(region))).toThrow(
      `slackChannelId: AWS has no Amazon Q Developer in chat applications in ${region}: use emails or a topic.`,
    );
  });
});

describe('Resources, as types of the CDK', () => {
  test('are used as they are', () => {
    const stack = newStack();
    const alarmTopic = new Topic(stack, 'Own');
    const key = new Key(stack, 'Key');
    const { functions } = place({ alarmTopic, tokenKey: key }, stack);
    const template = Template.fromStack(stack);
    for (const { Properties } of Object.values(template.findResources('AWS::CloudWatch::Alarm')))
      expect(Properties.AlarmActions).toEqual([stack.resolve(alarmTopic.topicArn)]);
    expect(functions).toHaveLength(4);
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { TOKEN_KEY_ARN: stack.resolve(key.keyArn) } },
    });
  });

  test('put the functions that talk to GMS into a network, with a group of their own that the app can connect', () => {
    const stack = newStack();
    const vpc = new Vpc(stack, 'Vpc');
    const { connections } = place({ vpc }, stack);
    const template = Template.fromStack(stack);
    const inside = Object.values(template.findResources('AWS::Lambda::Function')).filter(
      ({ Properties }) => Properties.VpcConfig !== undefined,
    );
    const { subnetIds } = vpc.selectSubnets({ subnetType: SubnetType.PRIVATE_WITH_EGRESS });
    expect(inside.map(({ Properties }) => Properties.VpcConfig.SubnetIds)).toEqual(
      Array.from({ length: 3 }, () => stack.resolve(subnetIds)),
    );
    expect(stack.resolve(connections.securityGroups.map(({ securityGroupId }) => securityGroupId))).toEqual(
      inside[0]!.Properties.VpcConfig.SecurityGroupIds,
    );
  });

  test('are refused where functions would reach nothing, or where a network is missing', () => {
    const stack = newStack();
    const vpc = new Vpc(stack, 'Vpc');
    const inPublic = { vpc, vpcSubnets: { subnetType: SubnetType.PUBLIC } };
    expect(() => place(inPublic, stack)).toThrow(/^vpcSubnets are public/);
    expect(() => place({ securityGroups: [new SecurityGroup(stack, 'Group', { vpc })] })).toThrow(/^vpc is missing/);
  });

  test('let alarms into a topic that gets a policy of its own only later, and into one without a policy as AWS does', () => {
    const stack = newStack();
    const [guarded, plain] = [new Topic(stack, 'Guarded'), new Topic(stack, 'Plain')];
    place({ alarmTopic: guarded }, stack);
    place({ alarmTopic: plain, stage: 'other' }, stack, 'Other');
    guarded.addToResourcePolicy(
      new PolicyStatement({ principals: [new AccountRootPrincipal()], actions: ['sns:Subscribe'], resources: ['*'] }),
    );
    const policies = Object.values(Template.fromStack(stack).findResources('AWS::SNS::TopicPolicy'));
    const statementsOf = (topic: Topic) =>
      policies
        .filter(({ Properties }) => Properties.Topics[0].Ref === stack.resolve(topic.topicArn).Ref)
        .flatMap(({ Properties }) => Properties.PolicyDocument.Statement.map(({ Sid }: { Sid?: string }) => Sid));
    expect([statementsOf(guarded), statementsOf(plain)]).toEqual([['0', 'AlarmsMayPublish'], []]);
  });

  test('let CloudWatch use a topic with a key of the same app; where it cannot, a warning says so', () => {
    const stack = newStack();
    const encrypted = new Topic(stack, 'Encrypted', { masterKey: new Key(stack, 'Key'), enforceSSL: true });
    place({ alarmTopic: encrypted }, stack);
    const forCloudWatch = (Action: unknown) =>
      Match.objectLike({ Action, Principal: { Service: 'cloudwatch.amazonaws.com' } });
    const template = Template.fromStack(stack);
    const statement = (action: unknown) => ({
      Statement: Match.arrayWith([forCloudWatch(action)]),
    });
    template.hasResourceProperties('AWS::KMS::Key', { KeyPolicy: statement(['kms:Decrypt', 'kms:GenerateDataKey*']) });
    template.hasResourceProperties('AWS::SNS::TopicPolicy', { PolicyDocument: statement('sns:Publish') });
    expect(warned(stack)).not.toMatch(/key-policy/);

    const other = newStack();
    const keyArn = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
    place({ alarmTopic: Topic.fromTopicAttributes(other, 'Imported', { topicArn: onCall, keyArn }) }, other);
    expect(warned(other)).toMatch(/it has to let CloudWatch use it/);
  });

  test('encrypt with one key all that is stored', () => {
    const stack = newStack();
    const encryptionKey = new Key(stack, 'Key');
    place({ encryptionKey }, stack);
    const arn = stack.resolve(encryptionKey.keyArn);
    const template = Template.fromStack(stack);
    const every = (type: string, found: (properties: Record<string, never>) => unknown) => {
      const all = Object.values(template.findResources(type));
      expect(all.length).toBeGreaterThan(0);
      for (const { Properties } of all) expect([type, found(Properties)]).toEqual([type, arn]);
    };
    every('AWS::DynamoDB::Table', ({ SSESpecification }) => SSESpecification?.['KMSMasterKeyId']);
    every('AWS::Logs::LogGroup', ({ KmsKeyId }) => KmsKeyId);
    every('AWS::SQS::Queue', ({ KmsMasterKeyId }) => KmsMasterKeyId);
    every('AWS::SNS::Topic', ({ KmsMasterKeyId }) => KmsMasterKeyId);
    every('AWS::Lambda::Function', ({ KmsKeyArn }) => KmsKeyArn);
    const policies = JSON.stringify(template.findResources('AWS::IAM::Policy'));
    for (const sid of ['UseLedgerKey', 'UseQueueKey', 'EncryptReport']) expect(policies).toContain(`"${sid}"`);
    expect(JSON.stringify(template.findResources('AWS::KMS::Key'))).toContain('kms:EncryptionContext:aws:logs:arn');
    expect(warned(stack)).not.toMatch(/key-policy/);
  });
});

/** What is refused or derived together is tried together; everything has a value of its own at deployment. */
const later: Record<string, (text: (id: string) => string, number: (id: string) => number) => object> = {
  'the stage': (text) => ({ stage: text('stage') }),
  'the schedule': (text) => ({ schedule: text('schedule') }),
  'everything else': (text, number) => ({
    gmsUrl: `https://${text('gmsUrl')}/gms`,
    mode: text('mode'),
    timeZone: text('timeZone'),
    emails: ['data@example.com', text('emails')],
    slackWorkspaceId: text('slackWorkspaceId'),
    slackChannelId: text('slackChannelId'),
    teamsTenantId: text('teamsTenantId'),
    teamsTeamId: text('teamsTeamId'),
    teamsChannelId: text('teamsChannelId'),
    caCertificateParameter: text('caCertificateParameter'),
    parameterPrefix: text('parameterPrefix'),
    tokenParameter: text('tokenParameter'),
    headersParameter: text('headersParameter'),
    clientCertificateParameter: text('clientCertificateParameter'),
    clientKeyParameter: text('clientKeyParameter'),
    runbookUrl: text('runbookUrl'),
    notify: text('notify'),
    emailFormat: text('emailFormat'),
    httpsFormat: text('httpsFormat'),
    queueFormat: text('queueFormat'),
    logLevel: text('logLevel'),
    minRetentionDays: number('minRetentionDays'),
    maxRowsPerRun: number('maxRowsPerRun'),
    maxRunHours: number('maxRunHours'),
    alarmIfNotStartedHours: number('alarmIfNotStartedHours'),
    policies: [
      { entityType: text('policies'), aspect: 'operation', retentionDays: number('days'), owner: text('owner') },
      { entityType: 'chart', aspect: text('aspect'), retentionDays: 90, batchSize: number('batch') },
    ],
  }),
};

describe('What is known only at deployment', () => {
  const tried = new Set<string>();

  test.each(Object.entries(later))('is not checked at synth, and arrives as it is: %s', (_, fields) => {
    const stack = newStack();
    const parameter = (id: string, type: string) => {
      tried.add(id);
      return new CfnParameter(stack, `Later${id}`, { type });
    };
    const ids = tried.size;
    place(
      fields(
        (id) => parameter(id, 'String').valueAsString,
        (id) => parameter(id, 'Number').valueAsNumber,
      ),
      stack,
    );
    const template = JSON.stringify(Template.fromStack(stack).toJSON());
    for (const id of [...tried].slice(ids)) expect(template).toContain(`{"Ref":"Later${id}"}`);
    // What stands for a value in a check, and what a number that is a token looks like.
    expect(template.match(/.{30}(later[."\d-]|[Tt]oken\[|\de\+\d|-1\.8\d).{30}/)?.[0]).toBeUndefined();
    expect(warned(stack)).not.toMatch(/alarm-gap|cluster-host|plain-http|name-/);
  });

  test('is tried for every setting', () => {
    const settings = Object.keys(settingFields).filter((name) => !resourceFields.includes(name as ResourceField));
    // A yes or no is known at synth.
    expect(settings.filter((name) => !tried.has(name))).toEqual(['noIdentity']);
  });

  test.each(['emails', 'policies'])('is refused as a list of %s, each of which is a resource', (name) => {
    const stack = newStack();
    const items = Fn.split(',', new CfnParameter(stack, 'Later').valueAsString);
    expect(() => place({ [name]: items }, stack)).toThrow(`${name} is a list whose length synth does not know`);
  });

  test('is protected like a stage that enforces', () => {
    const stack = newStack();
    place({ mode: new CfnParameter(stack, 'Later').valueAsString }, stack);
    Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: true });
  });
});

describe('What the CDK has yet to look up', () => {
  const lookups: Record<string, (stack: Stack) => object> = {
    'a network': (stack) => ({ vpc: Vpc.fromLookup(stack, 'Vpc', { vpcName: 'shared' }) }),
    'a part of an address': (stack) => ({ gmsUrl: `https://${StringParameter.valueFromLookup(stack, '/host')}/gms` }),
    'a channel': (stack) => ({
      slackWorkspaceId: StringParameter.valueFromLookup(stack, '/slack/workspace'),
      slackChannelId: StringParameter.valueFromLookup(stack, '/slack/channel'),
    }),
    'a stage and a name of a policy': (stack) => ({
      stage: StringParameter.valueFromLookup(stack, '/stage'),
      policies: [{ ...props.policies[0], aspect: StringParameter.valueFromLookup(stack, '/aspect') }],
    }),
  };

  test.each(Object.entries(lookups))('does not keep it from asking: %s', (_, fields) => {
    const stack = newStack('eu-central-1');
    place(fields(stack), stack);
    expect((stack.node.root as App).synth().manifest.missing?.length).toBeGreaterThan(0);
  });
});

const warned = (stack: Stack): string => {
  Template.fromStack(stack);
  return stack.node
    .findAll()
    .flatMap(({ node }) => node.metadata.filter(({ type }) => type === 'aws:cdk:warning').map(({ data }) => data))
    .join('\n');
};

describe('The construct', () => {
  test('may be used twice in one stack, for two stages', () => {
    const stack = newStack();
    const one = new DatahubRetention(stack, 'One', props);
    const other = new DatahubRetention(stack, 'Other', { ...props, stage: 'test' });
    expect(Object.keys(Template.fromStack(stack).findResources('AWS::Lambda::Function'))).toHaveLength(8);
    expect(one.ledger).not.toBe(other.ledger);
  });

  test('gives what it makes to the app around it', () => {
    const made = place({});
    const { topic, stateMachine, ledger, functions, logGroups, lostStarts, dashboard, alarms } = made;
    const arns = [topic.topicArn, stateMachine.stateMachineArn, ledger.tableArn, lostStarts.queueArn];
    expect([...arns, dashboard.dashboardName].every(Boolean)).toBe(true);
    expect([functions.length, logGroups.length]).toEqual([4, 5]);
    expect(alarms.map(({ node }) => node.id).sort()).toEqual([
      'ExecutionFailed',
      'FunctionTrouble',
      'NobodySubscribed',
      'NotStarted',
      'RowsMissing',
      'RunFailed',
      'StartLost',
    ]);
  });

  test('has a ledger whose name does not change with its place in the app', () => {
    const stack = newStack();
    new DatahubRetention(stack, 'One', props);
    const moved = newStack();
    new DatahubRetention(new Construct(moved, 'Deeper'), 'Renamed', props);
    for (const of of [stack, moved]) {
      Template.fromStack(of).hasResourceProperties('AWS::DynamoDB::Table', { TableName: 'datahub-retention-prod' });
    }
  });

  test.each([
    [{ gmsUrl: 'http://datahub.example.com' }, 'plain-http'],
    [{ mode: 'enforce' }, 'unprotected'],
    [{ emails: [] }, 'nobody-told'],
  ])('warns as a stage of our own does: %j', (fields, id) => {
    const stack = newStack();
    place({ emails: ['team@example.com'], ...fields }, stack);
    expect(warned(stack)).toContain(`[ack: datahub-retention:${id}]`);
  });

  test('does not warn of what the app does after it', () => {
    const stack = newStack();
    const { topic } = place({ gmsUrl: 'https://datahub.corp.test/gms', emails: [], mode: 'enforce' }, stack);
    topic.addSubscription(new EmailSubscription('team@example.com'));
    stack.terminationProtection = true;
    expect(warned(stack)).toBe('');
  });
});
