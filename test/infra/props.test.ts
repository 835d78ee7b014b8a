import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Aspects, CfnParameter, Duration, Fn, NestedStack, RemovalPolicies, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { SecurityGroup, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { NetworkLoadBalancer } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { AccountRootPrincipal, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Alias, Key } from 'aws-cdk-lib/aws-kms';
import { CfnTopic, type ITopic, Topic, TopicPolicy } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct, type IConstruct } from 'constructs';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { DatahubRetention } from '../../infra/datahub-retention.ts';
import type { DatahubRetentionProps } from '../../infra/props/construct-props.ts';
import type { RetentionPolicy, StageProps } from '../../infra/props/stage-props.ts';
import { indexMetrics, runMetrics } from '../../lambda/aws/metrics.ts';
import type { PolicyInput } from '../../lambda/policy/schema.ts';
import { alarmSections } from '../../lambda/report/guide/runbook.ts';
import { type ResourceField, resourceFields, settingFields } from '../../lambda/settings/fields.ts';
import type { StageInput } from '../../lambda/settings/settings.ts';
import { synthesize } from './synthesize.ts';

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
const newStack = (region?: string, options: object = {}) =>
  new Stack(newApp(), 'Foreign', {
    ...(region !== undefined && { env: { account: '111122223333', region } }),
    ...options,
  });
const place = (fields: object, stack = newStack(), id = 'Retention') =>
  new DatahubRetention(stack, id, { ...props, ...fields });
const topic = (stack: Stack) => Topic.fromTopicArn(stack, 'Given', onCall);
const onCall = 'arn:aws:sns:eu-central-1:111122223333:on-call';
const keyArn = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';

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
    [{ topicArn: onCall }, /^topicArn is a setting of stage files: here it is topic\.$/],
    [
      { topic: onCall, vpc: null },
      /^vpc has to be an object .* Vpc.fromLookup; topic has to be .* Topic.fromTopicArn\.$/,
    ],
    [{ securityGroups: ['sg-1'] }, /^securityGroups has to be a list, .* SecurityGroup.fromSecurityGroupId\.$/],
    [{ vpc: new Vpc(newStack(), 'V'), vpcSubnets: ['subnet-1'] }, /^vpcSubnets has to be .* vpc.selectSubnets\.$/],
    [{ queue: newApp() }, /^"queue" is not a known field: the fields are stage, gmsUrl, [^.]*, vpc, [^.]*\.$/],
    [
      { vcp: 1, subnetIds: [] },
      /^"vcp" .* did you mean vpc\?; subnetIds is a setting of stage files: here it is vpcSubnets/,
    ],
    [{ stage: Symbol('prod') }, /^The stage's name a symbol must be a string\.$/],
    [{ headersParameter: newApp() }, /^headersParameter must be a string, not an instance of App\.$/],
    [{ stage: 7, policies: [7] }, /^The stage's name 7 must be a string; policies 1 must be an object, not 7/],
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
    const sentence = `${name} is in eu-central-1, and the stack is deployed to eu-west-1: name one that is there.`;
    const inRegion = (region: string) => {
      vi.stubEnv('CDK_DEFAULT_REGION', region);
      vi.stubEnv('CDK_DEFAULT_ACCOUNT', '111122223333');
      const stack = newStack(of === 'of the stack' ? region : undefined);
      return place({ [name]: topic(stack) }, stack);
    };
    expect(() => inRegion('eu-west-1')).toThrow(sentence);
    expect(() => inRegion('eu-central-1')).not.toThrow();
  });

  test.each([undefined, 'us-east-1'])(
    'know no region where the CDK only guesses one, without credentials: %s',
    (region) => {
      vi.stubEnv('CDK_DEFAULT_REGION', 'us-east-1');
      vi.stubEnv('CDK_DEFAULT_ACCOUNT', undefined);
      const stack = new Stack(newApp(), 'Foreign', { env: { region } });
      expect(() => place({ topic: topic(stack) }, stack)).not.toThrow();
    },
  );

  const own = (stack: Stack) => new Topic(stack, 'Own');
  const both = (given: ITopic) => ({ topic: given, alarmTopic: given });
  test.each<[string, (stack: Stack) => object, RegExp]>([
    ['a stage that nobody gave', () => ({ stage: newApp().node.tryGetContext('stage') }), /^stage is missing/],
    ['its text', () => ({ stage: `${undefined}` }), /^The stage's name "undefined" is what a value/],
    ['an empty one', () => ({ stage: '' }), /^The stage's name "" must begin with a letter/],
    ['a key by its alias', (in_) => ({ tokenKey: Alias.fromAliasName(in_, 'A', 'alias/a') }), /^tokenKey: must be the/],
    ['an alias', (in_) => ({ encryptionKey: new Key(in_, 'K').addAlias('a') }), /^encryptionKey: must be the key/],
    [
      "an alias as a topic's key",
      (in_) => ({ topic: new Topic(in_, 'Own', { masterKey: Alias.fromAliasName(in_, 'A', 'alias/a') }) }),
      /^topic\.masterKey: must be the key/,
    ],
    ['a FIFO topic', (in_) => ({ alarmTopic: new Topic(in_, 'Own', { fifo: true }) }), /^alarmTopic: must not be FIFO/],
    ['one by its name', (in_) => ({ topic: Topic.fromTopicArn(in_, 'T', `${onCall}.fifo`) }), /^topic: must not be F/],
    ['one topic for both', (in_) => both(topic(in_)), /^alarmTopic is the topic of the/],
    ['one of this app', (in_) => both(own(in_)), /^alarmTopic is the topic of the/],
    ['no security group', (in_) => ({ vpc: new Vpc(in_, 'V'), securityGroups: [] }), /^securityGroups must not be/],
    [
      'a topic of another stack in another region',
      (in_) => ({ topic: own(new Stack(in_.node.root as App, 'Far', { env: { region: 'eu-west-1' } })) }),
      /^topic is in eu-west-1, and the stack is deployed to eu-central-1/,
    ],
    ['a topic without alarms', (in_) => ({ alarms: false, alarmTopic: own(in_) }), /^alarmTopic would get nothing/],
    [
      'two regions',
      (in_) => ({ topic: topic(in_), tokenKey: Key.fromKeyArn(in_, 'K', keyArn.replace('central', 'west')) }),
      /^tokenKey is in eu-west-1, and topic is in eu-central-1/,
    ],
  ])('refuse %s as a stage file does, by the name of the prop', (_, fields, sentence) => {
    const stack = newStack('eu-central-1');
    expect(() => place(fields(stack), stack)).toThrow(sentence);
  });

  test('refuse a second job of one stage, wherever it is in the app, unless it is elsewhere', () => {
    const stack = newStack('eu-central-1');
    expect(() => place({ mode: 'x' }, stack, 'Refused')).toThrow(/^mode must be/);
    place({}, stack);
    const other = (region: string) =>
      new Stack(stack.node.root as App, `Other-${region}`, { env: { account: '111122223333', region } });
    expect(() => place({}, stack, 'Again')).toThrow(/^stage prod is already in this app, as Foreign\/Retention/);
    expect(() => place({}, other('eu-central-1'))).toThrow(/already in this app/);
    expect(() => place({}, other('eu-west-1'))).not.toThrow();
    const shared = { stage: 'dev', parameterPrefix: '/datahub-retention/prod' };
    expect(() => place(shared, stack, 'Dev')).toThrow(/^parameterPrefix .* is that of Foreign\/Retention as well/);
  });

  test('doubt that two jobs which enforce have one server', () => {
    const stack = newStack();
    const gmsUrl = 'https://DATAHUB.example.com.:443/api/gms/';
    for (const stage of ['a', 'b']) place({ stage, mode: 'enforce', ...(stage === 'b' && { gmsUrl }) }, stack, stage);
    expect(warned(stack)).toMatch(/gmsUrl is that of Foreign\/a as well: .*\[ack: datahub-retention:same-server\]/);
  });

  test('say what the owner of a topic or key in another account has to allow', () => {
    const stack = newStack('eu-central-1');
    const foreign = (arn: string) => arn.replace('111122223333', '444455556666');
    const encryptionKey = Key.fromKeyArn(stack, 'K', foreign(keyArn));
    place({ topic: Topic.fromTopicArn(stack, 'T', foreign(onCall)), encryptionKey }, stack);
    expect(warned(stack)).toMatch(
      /topic belongs to the account 444455556666: .* 111122223333 .*sns:GetTopicAttributes/,
    );
    expect(warned(stack)).toContain('[ack: datahub-retention:account-encryptionKey]');
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
    expect(Object.keys(functions)).toEqual(['plan', 'truncate', 'poll', 'report']);
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
    expect(() => place({ vpc, vpcSubnets: {} }, stack, 'Default')).not.toThrow();
    expect(() => place({ securityGroups: [new SecurityGroup(stack, 'Group', { vpc })] })).toThrow(/^vpc is missing/);
  });

  test('are shared by stages: a topic of this stack or another lets the alarms of each in, however it got its policy', () => {
    const app = newApp();
    const [shared, stack, other] = ['Shared', 'One', 'Other'].map((id) => new Stack(app, id)) as [Stack, Stack, Stack];
    const statement = (action: string) =>
      new PolicyStatement({ principals: [new AccountRootPrincipal()], actions: [action], resources: ['*'] });
    const [later, written, plain] = ['Later', 'Written', 'Plain'].map((id) => new Topic(shared, id)) as Topic[];
    const encryptionKey = new Key(shared, 'Key');
    const vpc = new Vpc(shared, 'Vpc');
    place({ topic: later, alarmTopic: written, encryptionKey, vpc, stage: 'a' }, stack);
    place({ topic: later, alarmTopic: written, encryptionKey, vpc, stage: 'a-b' }, stack, 'Second');
    place({ topic: written, alarmTopic: later, encryptionKey, vpc, stage: 'ab' }, other);
    place({ alarmTopic: plain, stage: 'plain' }, shared);
    later!.addToResourcePolicy(statement('sns:Subscribe'));
    new TopicPolicy(shared, 'Policy', { topics: [written!] }).document.addStatements(statement('sns:Subscribe'));
    const policies = Object.values(Template.fromStack(shared).findResources('AWS::SNS::TopicPolicy'));
    const about = (topic?: Topic) =>
      policies.filter(({ Properties }) => Properties.Topics[0].Ref === shared.resolve(topic!.topicArn).Ref);
    const letsAlarmsIn = (topic?: Topic) => JSON.stringify(about(topic)).split('"cloudwatch.amazonaws.com"').length - 1;
    expect([later, written, plain].map(letsAlarmsIn)).toEqual([1, 1, 0]);
    for (const { Properties } of policies) {
      const ids = Properties.PolicyDocument.Statement.map(({ Sid }: { Sid?: string }) => Sid);
      expect(new Set(ids).size).toBe(ids.length);
    }
    for (const one of [stack, other]) expect(warned(one)).not.toMatch(/key-policy|account-/);
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
    place({ alarmTopic: Topic.fromTopicAttributes(other, 'Imported', { topicArn: onCall, keyArn }) }, other);
    expect(warned(other)).toMatch(/it has to let CloudWatch use it/);

    const asking = newStack('eu-central-1');
    place({ encryptionKey: Key.fromLookup(asking, 'Looked up', { aliasName: 'alias/a' }) }, asking);
    expect(warned(asking)).toMatch(/The policy of the key Foreign\/Looked up cannot be changed/);
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
    const keys = JSON.stringify(template.findResources('AWS::KMS::Key'));
    expect(keys).toContain('kms:EncryptionContext:aws:logs:arn');
    // In China it ends otherwise.
    expect(keys).toContain('["logs.",{"Ref":"AWS::Region"},".",{"Ref":"AWS::URLSuffix"}]');
    expect(warned(stack)).not.toMatch(/key-policy/);
  });
});

const texts = [
  ...['mode', 'timeZone', 'slackWorkspaceId', 'slackChannelId', 'teamsTenantId', 'teamsTeamId', 'teamsChannelId'],
  ...['parameterPrefix', 'tokenParameter', 'headersParameter', 'clientCertificateParameter', 'clientKeyParameter'],
  ...['caCertificateParameter', 'runbookUrl', 'notify', 'emailFormat', 'httpsFormat', 'queueFormat', 'logLevel'],
];
const numbers = ['minRetentionDays', 'maxRowsPerRun', 'maxRunHours', 'alarmIfNotStartedHours'];

/** What is refused or derived together is tried together; everything has a value of its own at deployment. */
const later: Record<string, (text: (id: string) => string, number: (id: string) => number) => object> = {
  'the stage': (text) => ({ stage: text('stage') }),
  'the schedule': (text) => ({ schedule: text('schedule') }),
  'everything else': (text, number) => ({
    gmsUrl: `https://${text('gmsUrl')}/gms`,
    emails: ['data@example.com', text('emails')],
    ...Object.fromEntries(texts.map((name) => [name, text(name)])),
    ...Object.fromEntries(numbers.map((name) => [name, number(name)])),
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
    // No token is true or false.
    expect(settings.filter((name) => !tried.has(name))).toEqual(['noIdentity', 'alarms', 'dashboard']);
  });

  const texts = (stack: Stack) => Fn.split(',', new CfnParameter(stack, 'Later').valueAsString);
  const text = (stack: Stack) => new CfnParameter(stack, 'Later').valueAsString;
  const number = (stack: Stack) => new CfnParameter(stack, 'Later', { type: 'Number' }).valueAsNumber;
  const policy = (name: string) => (value: unknown) => ({ policies: [{ ...props.policies[0], [name]: value }] });
  const field = (name: string) => (value: unknown) => ({ [name]: value });
  test.each<[string, (value: unknown) => object, (stack: Stack) => unknown, string]>([
    ['a list of resources', field('emails'), texts, 'emails is a list whose length synth does not know'],
    ['a list of resources', field('policies'), texts, 'policies is a list whose length synth does not know'],
    ['true or false', field('noIdentity'), text, 'noIdentity must be true or false at synth, not a token.'],
    ['true or false', policy('enabled'), text, 'policy 1: enabled must be true or false at synth, not a token.'],
    ['a list around a text', field('mode'), (in_) => [text(in_)], 'mode must be "preview" or "enforce", not ["a to'],
    ['a list for a text', field('mode'), texts, 'mode must be a string, not a list token.'],
    ['a number for a text', field('stage'), number, 'stage must be a string, not a number token.'],
    ['a text for a number', policy('retentionDays'), text, 'policy 1: retentionDays must be a number, not a string'],
    ['a text for a policy', (one) => ({ policies: [one] }), text, 'policies 1 must be an object, not a string token.'],
  ])('is refused as %s', (_, fields, make, sentence) => {
    const stack = newStack();
    expect(() => place(fields(make(stack)), stack)).toThrow(sentence);
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
    'a number': (stack) => ({ maxRowsPerRun: Number(StringParameter.valueFromLookup(stack, '/rows')) }),
    'a key': (stack) => ({ tokenKey: Key.fromLookup(stack, 'Key', { aliasName: 'alias/token' }) }),
    'a load balancer': (stack) => ({
      gmsUrl: `http://${NetworkLoadBalancer.fromLookup(stack, 'Gms', { loadBalancerTags: {} }).loadBalancerDnsName}:8080`,
    }),
  };

  test.each(Object.entries(lookups))('does not keep it from asking: %s', (_, fields) => {
    const stack = newStack('eu-central-1');
    place({ gmsUrl: 'https://gms.corp.test/gms', ...fields(stack) }, stack);
    expect((stack.node.root as App).synth().manifest.missing?.length).toBeGreaterThan(0);
    expect(warned(stack)).not.toMatch(/placeholder-gmsUrl|plain-http/);
  });

  test('is an error where it is no number: the CDK deploys nothing', () => {
    const stack = newStack('eu-central-1');
    place({ policies: [{ ...props.policies[0], retentionDays: Number('') / 0 }] }, stack);
    const errors = stack.node.findAll().flatMap(({ node }) => node.metadata.filter(({ type }) => /error/.test(type)));
    expect(errors.map(({ data }) => data)).toEqual([expect.stringMatching(/^policies\.0\.retentionDays is NaN/)]);
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
  test('gives what it makes to the app around it', () => {
    const made = place({});
    const { topic, stateMachine, ledger, logGroups, lostStarts, dashboard, alarms } = made;
    const arns = [topic.topicArn, stateMachine.stateMachineArn, ledger.tableArn, lostStarts.queueArn];
    expect([...arns, dashboard?.dashboardName].every(Boolean)).toBe(true);
    expect(logGroups).toHaveLength(5);
    expect(Object.keys(alarms).sort()).toEqual(Object.keys(alarmSections).sort());
  });

  test('has a ledger whose name does not change with its place in the app', () => {
    const stack = newStack();
    new DatahubRetention(new Construct(stack, 'Deeper'), 'Renamed', props);
    Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::Table', { TableName: 'datahub-retention-prod' });
  });

  test('replaces nothing of our own stack, where it takes its place as Default', () => {
    const stack = newStack();
    place({}, stack, 'Default');
    const ids = Object.keys(Template.fromStack(stack).toJSON()['Resources']);
    expect(ids).toEqual(Object.keys(synthesize().template.Resources));
  });

  test('follows the Aspect of a company that renames: links, the schedule, and its alarm', () => {
    const stack = newStack();
    place({}, stack);
    const rename = (node: IConstruct) => {
      for (const name of ['stateMachineName', 'dashboardName', 'alarmName', 'name'])
        if (node.constructor.name.startsWith('Cfn') && name in node)
          Object.assign(node, { [name]: `corp-${node.constructor.name}` });
    };
    Aspects.of(stack).add({ visit: rename });
    const template = Template.fromStack(stack);
    const of = (type: string) => JSON.stringify(template.findResources(type));
    expect(of('AWS::Lambda::Function')).toMatch(/:stateMachine:corp-CfnStateMachine.*\/dashboard\/corp-CfnDashboard/);
    const [group] = Object.keys(template.findResources('AWS::Scheduler::ScheduleGroup'));
    expect(of('AWS::Scheduler::Schedule')).toContain(`"GroupName":{"Ref":"${group}"}`);
    expect(of('AWS::CloudWatch::Alarm')).toMatch(RegExp(`/dashboard/corp-CfnDashboard.*"Value":{"Ref":"${group}"`));
  });

  test('warns where an Aspect encrypts its topic with a key that alarms cannot use', () => {
    const stack = newStack();
    place({}, stack);
    const visit = (node: object) =>
      void (node instanceof CfnTopic && Object.assign(node, { kmsMasterKeyId: 'alias/aws/sns' }));
    Aspects.of(stack).add({ visit });
    expect(warned(stack)).toMatch(/topic Foreign\/Retention\/Notifications\/Topic .* alias\/aws\/sns, .*:topic-key\]/);
  });

  test.each([
    [{ gmsUrl: 'http://datahub.corp.test', emails: [] }, 'plain-http', 'team@corp.test'],
    [{ mode: 'enforce' }, 'unprotected'],
    [{ emails: [] }, 'nobody-told'],
  ])('warns as a stage of our own does: %j', (fields, id, subscribed?: string) => {
    const stack = newStack();
    const given = { gmsUrl: 'https://datahub.corp.test/gms', emails: ['team@corp.test'], ...fields };
    const { topic } = place(given, stack);
    if (subscribed) topic.addSubscription(new EmailSubscription(subscribed));
    expect([...warned(stack).matchAll(/ack: datahub-retention:([^\]]+)/g)].map(([, one]) => one)).toEqual([id]);
  });

  test('has its metrics as methods, with the options of CDK metrics', () => {
    const made = place({ stage: 'prod' });
    const methods = Object.getOwnPropertyNames(DatahubRetention.prototype).filter((name) => /^metric[A-Z]/.test(name));
    const called = methods.map((name) => (made as unknown as Record<string, (index?: string) => Metric>)[name]!('a.b'));
    expect(called.map(({ metricName }) => metricName).sort()).toEqual(
      [...new Set([...Object.values(runMetrics), ...Object.values(indexMetrics)])].sort(),
    );
    const daily = made.metricRowsDeleted({ index: 'dataset.operation', period: Duration.days(1), label: 'deleted' });
    expect(daily).toMatchObject({
      dimensions: { stage: 'prod', index: 'dataset.operation' },
      statistic: 'Sum',
      label: 'deleted',
    });
    expect(made.metricRowsDeleted().dimensions).toEqual({ stage: 'prod' });
  });

  test('lets a person preview and nothing else, or do all that an input can say', () => {
    const stack = newStack();
    const made = place({}, stack);
    const role = (id: string) => new Role(stack, id, { assumedBy: new AccountRootPrincipal() });
    const rights = (who: Role): { Action: string[]; Resource: unknown }[] => {
      const policies = Object.values(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
      const own = policies.find(({ Properties }) => Properties.Roles[0].Ref === stack.resolve(who.roleName).Ref);
      return own?.Properties.PolicyDocument.Statement;
    };
    const [viewer, onDuty] = [role('Viewer'), role('OnDuty')];
    made.grantPreview(viewer);
    made.grantPreview(role('Another'));
    made.grantRelease(onDuty);
    const machines = Template.fromStack(stack).findResources('AWS::StepFunctions::StateMachine');
    const [preview] = Object.keys(machines).filter((id) => /Preview/.test(id));
    const startable = (who: Role) =>
      rights(who).flatMap(({ Action, Resource }) => (Action.includes('states:StartExecution') ? [Resource] : []));
    expect(startable(viewer)).toEqual([{ Ref: preview }]);
    // No stage can be called so.
    expect(machines[preview!]?.['Properties'].StateMachineName).toMatch(/^datahub-retention-\w+_preview$/);
    expect(startable(onDuty)).toEqual([stack.resolve(made.stateMachine.stateMachineArn)]);
    // The page has the same policy to copy, with the pause switch.
    const page = readFileSync(new URL('../../docs/privileges-and-network.md', import.meta.url), 'utf8');
    const { Statement } = JSON.parse(/\{ "Version"[^`]*/.exec(page)![0]);
    const actions = (all: { Action: string[] }[]) => all.map(({ Action }) => Action);
    expect(actions(Statement.slice(0, 2))).toEqual(actions(rights(onDuty)));
    // And what the other page's commands need, down to a release.
    const [operate = ''] = readFileSync(new URL('../../docs/operate.md', import.meta.url), 'utf8').split('## Add an');
    const needed = [...operate.matchAll(/\baws \w+ ([a-z-]+) -/g)].map(([, verb]) => verb!.replaceAll('-', ''));
    const allowed = JSON.stringify(Statement).toLowerCase();
    expect([needed.length > 9, needed.filter((verb) => !allowed.includes(`:${verb}"`))]).toEqual([true, []]);
    const definition = JSON.stringify(machines[preview!]!.Properties.DefinitionString);
    expect(definition).toContain('\\"Input\\":{\\"mode\\":\\"preview\\",\\"by.$\\":\\"$$.Execution.Name\\"}');
  });

  test('keeps the ledger and the logs of a stage that enforces, whatever an aspect of the app says', () => {
    const stack = newStack();
    place({ mode: 'enforce' }, stack);
    RemovalPolicies.of(stack.node.root).destroy();
    const template = Template.fromStack(stack);
    for (const type of ['AWS::DynamoDB::Table', 'AWS::Logs::LogGroup'])
      template.allResources(type, { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });

  test('has neither alarms nor dashboard where it shall not, nor a link to one', () => {
    const stack = newStack();
    const { alarms, dashboard } = place({ alarms: false, dashboard: false }, stack);
    const template = Template.fromStack(stack);
    for (const type of ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard', 'AWS::Logs::MetricFilter'])
      template.resourceCountIs(type, 0);
    template.resourceCountIs('AWS::Logs::QueryDefinition', 1);
    const hasLink = JSON.stringify(template.toJSON()).includes('#dashboards');
    expect([alarms, dashboard, hasLink]).toEqual([{}, undefined, false]);
  });

  test('says in an output what has to arrive, and by when', () => {
    const stack = newStack();
    place({ emails: ['team@example.com'], notify: 'problems' }, stack);
    const [output] = Object.values(Template.fromStack(stack).findOutputs('*'));
    expect(output!['Value']).toMatch(
      /a mail from AWS to each address in emails.*cron\(30 3 \* \* \? \*\) \(UTC\).*start a preview/,
    );
  });

  test('does not warn of what the app does after it, nor in a nested stack, which goes with the one around it', () => {
    const stack = newStack();
    const fields = { gmsUrl: 'https://datahub.corp.test/gms', emails: [], mode: 'enforce' };
    const { topic } = place(fields, stack);
    topic.addSubscription(new EmailSubscription('team@corp.test'));
    stack.terminationProtection = true;
    const nested = { ...fields, gmsUrl: 'https://nested.corp.test/gms', emails: ['team@corp.test'], stage: 'nested' };
    place(nested, new NestedStack(stack, 'Nested'));
    expect(warned(stack)).toBe('');
  });
});
