import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, test } from 'vitest';
import { environments } from '../../lambda/aws/environment.ts';
import { type Resource, type Synthesized, settingsInput, synthesize, synthesizeAnew } from './synthesize.ts';

/** Settings for every kind of resource that a stage can have. */
const everything = {
  emails: ['data-team@example.com', 'on-call@example.com'],
  slackWorkspaceId: 'T0123456789',
  slackChannelId: 'C0123456789',
  teamsTenantId: '1234abcd-12ab-34cd-56ef-1234567890ab',
  teamsTeamId: 'abcd1234-12ab-34cd-56ef-1234567890ab',
  teamsChannelId: '19%3a0123456789abcdef%40thread.tacv2',
  subnetIds: ['subnet-0a1b2c3d', 'subnet-4e5f6071'],
  securityGroupIds: ['sg-0a1b2c3d'],
  caCertificateParameter: '/company/ca',
  headersParameter: '/company/headers',
  clientCertificateParameter: '/company/certificate',
  clientKeyParameter: '/company/key',
  tokenKeyArn: 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
};
const smallest = synthesize();
const fullest = synthesize(everything);
const both: [string, Synthesized][] = [
  ['the smallest stage', smallest],
  ['a stage with everything', fullest],
];

describe.each(both)('In %s', (_, { stack, template, resources }) => {
  test('every log group expires', () => {
    const groups = resources('AWS::Logs::LogGroup');
    expect(groups.length).toBe(5);
    for (const [, group] of groups) expect(group.Properties.RetentionInDays).toBeGreaterThan(30);
  });

  test('every function writes to a log group of its own, with a role of its own', () => {
    const functions = resources('AWS::Lambda::Function').map(([, { Properties }]) => Properties);
    expect(functions).toHaveLength(4);
    expect(new Set(functions.map((each) => JSON.stringify(each.LoggingConfig.LogGroup))).size).toBe(4);
    expect(new Set(functions.map((each) => JSON.stringify(each.Role))).size).toBe(4);
  });

  test('every function runs Node 24 on arm64', () => {
    for (const [, { Properties }] of resources('AWS::Lambda::Function')) {
      expect([Properties.Runtime, Properties.Architectures]).toEqual(['nodejs24.x', ['arm64']]);
    }
  });

  test('nothing is kept on destroy, but the ledger when it is replaced, and the ledger of a preview is not protected', () => {
    for (const [id, resource] of Object.entries(template.Resources)) {
      const replaced = resource.Type === 'AWS::DynamoDB::Table' ? 'Retain' : 'Delete';
      expect([id, resource.DeletionPolicy ?? 'Delete'], id).toEqual([id, 'Delete']);
      expect([id, resource.UpdateReplacePolicy ?? 'Delete'], id).toEqual([id, replaced]);
    }
    expect(resources('AWS::DynamoDB::Table')[0]![1].Properties.DeletionProtectionEnabled).toBe(false);
  });

  test('there is one table, the ledger, under its own name, which does not expire and is paid by use', () => {
    const tables = resources('AWS::DynamoDB::Table').map(([, { Properties }]) => Properties);
    expect(tables).toEqual([
      expect.objectContaining({
        TableName: 'datahub-retention-prod',
        BillingMode: 'PAY_PER_REQUEST',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
    ]);
    expect(tables[0].TimeToLiveSpecification).toBeUndefined();
  });

  test('no statement has a wildcard but those that AWS leaves no choice about', () => {
    const wild = statements(resources).filter(({ statement }) => JSON.stringify(statement.Resource).includes('*'));
    const known = /^(ec2:\w+(Network|Subnets|PrivateIp)\w*|logs:\w*(Log(Deliver|Group)|ResourcePolic)\w+|xray:\w+)$/;
    for (const { statement } of wild) {
      expect(statement.Resource).toBe('*');
      for (const action of list(statement.Action)) expect(action).toMatch(known);
    }
    for (const { statement } of statements(resources)) expect(JSON.stringify(statement.Action)).not.toContain('*');
  });

  test('the functions learn of no secret through their environment', () => {
    for (const [, { Properties }] of resources('AWS::Lambda::Function')) {
      for (const [name, value] of Object.entries(Properties.Environment.Variables)) {
        if (/TOKEN/.test(name)) expect(value).toMatch(/^(\/|arn:)/);
      }
    }
  });

  test('the topic takes TLS only', () => {
    const denied = topicStatements(resources).filter(({ Effect }) => Effect === 'Deny');
    expect(denied).toEqual([expect.objectContaining({ Condition: { Bool: { 'aws:SecureTransport': 'false' } } })]);
  });

  test('every alarm publishes to a topic whose policy lets those of the account in, also what people add', () => {
    const [[topicId]] = resources('AWS::SNS::Topic') as [[string, Resource]];
    const allowed = topicStatements(resources).filter(
      ({ Effect, Principal }) => Effect === 'Allow' && Principal.Service === 'cloudwatch.amazonaws.com',
    );
    const Condition = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };
    const mayPublish = { Action: 'sns:Publish', Resource: { Ref: topicId }, Condition };
    expect(allowed).toEqual([expect.objectContaining(mayPublish)]);
    for (const [, { Properties }] of resources('AWS::CloudWatch::Alarm'))
      if (Properties.AlarmActions !== undefined) expect(Properties.AlarmActions).toEqual([{ Ref: topicId }]);
  });

  test('every function reads each variable that it is given', () => {
    for (const [id, { Properties }] of resources('AWS::Lambda::Function')) {
      const name = /Workflow(Plan|Truncate|Poll|Report)F/.exec(id)![1]!.toLowerCase() as keyof typeof environments;
      expect(Object.keys(environments[name].shape)).toEqual(
        expect.arrayContaining(Object.keys(Properties.Environment.Variables)),
      );
    }
  });

  test('functions and ledger have the logical ids that a deployed stage knows them by: a replaced ledger is a lost ledger', () => {
    const ids = ['AWS::Lambda::Function', 'AWS::DynamoDB::Table'].flatMap((type) => resources(type).map(([id]) => id));
    expect(ids.sort()).toEqual([
      'LedgerTable9343E4AA',
      'WorkflowPlanFunction0DFA9893',
      'WorkflowPollFunction9C832CEE',
      'WorkflowReportFunction96212FDC',
      'WorkflowTruncateFunctionDE4BA112',
    ]);
  });

  test('the schedule gives up within the hour and says for which time it is', () => {
    const [[, { Properties }]] = resources('AWS::Scheduler::Schedule') as [[string, Resource]];
    expect(Properties.Target.RetryPolicy).toEqual({ MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 2 });
    expect(JSON.parse(Properties.Target.Input)).toEqual({ scheduledTime: '<aws.scheduler.scheduled-time>' });
    expect(Properties.FlexibleTimeWindow.Mode).toBe('OFF');
  });

  test('a start that is refused goes to a queue that takes TLS only, and to which only the schedule may send', () => {
    const [[, { Properties }]] = resources('AWS::Scheduler::Schedule') as [[string, Resource]];
    const queue = Properties.Target.DeadLetterConfig.Arn;
    expect(resources('AWS::SQS::Queue').map(([id]) => ({ 'Fn::GetAtt': [id, 'Arn'] }))).toContainEqual(queue);
    const sending = statements(resources).filter(({ statement }) => list(statement.Action).includes('sqs:SendMessage'));
    expect(sending.map(({ statement }) => statement.Resource)).toEqual([queue]);
    const policies = resources('AWS::SQS::QueuePolicy').map(
      ([, { Properties }]) => Properties.PolicyDocument.Statement,
    );
    expect(policies).toHaveLength(2);
    for (const policy of policies) {
      expect(policy).toEqual([
        expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      ]);
    }
  });

  test('cdk-nag finds nothing that is not acknowledged', () => {
    expect(new AwsSolutionsChecks().validateScope(stack).violations).toEqual([]);
  });

  test('the permission to reach AWS is exactly what each role uses: only Report may publish, and it reads nothing', () => {
    const granted: Record<string, string[]> = {};
    for (const { role, statement } of statements(resources)) {
      const actions = list(statement.Action).filter((action) => !/^(logs|ec2|kms|xray):/.test(action));
      const name = role.replace(/Role.*/, '');
      if (actions.length > 0) granted[name] = [...(granted[name] ?? []), ...actions].sort();
    }
    const records = ['dynamodb:GetItem', 'dynamodb:PutItem'];
    expect(granted).toEqual({
      Schedule: ['sqs:SendMessage', 'states:StartExecution'],
      Workflow: ['lambda:InvokeFunction'],
      WorkflowPlan: [...records, 'dynamodb:Query', 'ssm:GetParameter', 'ssm:GetParametersByPath'],
      WorkflowTruncate: [...records, 'ssm:GetParameter', 'ssm:GetParametersByPath'],
      WorkflowPoll: [...records, 'ssm:GetParameter'],
      WorkflowReport: ['sns:GetTopicAttributes', 'sns:Publish'],
    });
  });
});

describe('A stage', () => {
  test('that enforces cannot be destroyed before that is taken back, and keeps ledger and logs if it is', () => {
    const { stack, resources } = synthesize({ mode: 'enforce' });
    expect(stack.terminationProtection).toBe(true);
    expect(resources('AWS::DynamoDB::Table')[0]![1].Properties.DeletionProtectionEnabled).toBe(true);
    const kept = ['AWS::DynamoDB::Table', 'AWS::Logs::LogGroup'].flatMap(resources);
    expect(kept).toHaveLength(6);
    for (const [, one] of kept) expect([one.DeletionPolicy, one.UpdateReplacePolicy]).toEqual(['Retain', 'Retain']);
    expect(smallest.stack.terminationProtection).toBe(false);
  });

  test.each(['Slack', 'MicrosoftTeams'])(
    'has no channel of %s unless it is configured, and allows nothing there',
    (app) => {
      const type = `AWS::Chatbot::${app}ChannelConfiguration`;
      expect(smallest.resources(type)).toEqual([]);
      const [[, { Properties }]] = fullest.resources(type) as [[string, Resource]];
      expect(Properties.SnsTopicArns).toHaveLength(1);
      expect(JSON.stringify(Properties.GuardrailPolicies)).toContain(':iam::aws:policy/CloudWatchReadOnlyAccess');
      const [roleId] = Properties.IamRoleArn['Fn::GetAtt'];
      expect(statements(fullest.resources).filter(({ role }) => role === roleId)).toEqual([]);
    },
  );

  test('keeps each policy in a parameter as it was written', () => {
    const [[, { Properties }]] = smallest.resources('AWS::SSM::Parameter') as [[string, Resource]];
    expect(Properties.Name).toBe('/datahub-retention/prod/policies/dataset.operation');
    expect(JSON.parse(Properties.Value)).toEqual(settingsInput().policies[0]);
  });

  test('subscribes each email', () => {
    const subscriptions = fullest.resources('AWS::SNS::Subscription').map(([, { Properties }]) => Properties);
    expect(subscriptions.map(({ Protocol, Endpoint }) => [Protocol, Endpoint])).toEqual(
      everything.emails.map((email) => ['email', email]),
    );
  });

  test('uses an existing topic instead of its own', () => {
    const topicArn = 'arn:aws:sns:eu-central-1:111122223333:team-alerts';
    const { resources } = synthesize({ topicArn });
    expect(resources('AWS::SNS::Topic')).toEqual([]);
    for (const [, { Properties }] of resources('AWS::CloudWatch::Alarm'))
      if (Properties.AlarmActions !== undefined) expect(Properties.AlarmActions).toEqual([topicArn]);
    const publish = statements(resources).filter(({ statement }) => list(statement.Action).includes('sns:Publish'));
    expect(publish.map(({ statement }) => statement.Resource)).toEqual([topicArn]);
  });

  test('sends every alarm to the topic for alarms, where it has one, and then lets none into its own topic', () => {
    const alarmTopicArn = 'arn:aws:sns:eu-central-1:111122223333:on-call';
    const { resources } = synthesize({ alarmTopicArn });
    const alarms = resources('AWS::CloudWatch::Alarm');
    expect(alarms).toHaveLength(7);
    for (const [, { Properties }] of alarms)
      expect([Properties.AlarmActions, Properties.OKActions]).toEqual([[alarmTopicArn], [alarmTopicArn]]);
    expect(JSON.stringify(topicStatements(resources))).not.toContain('cloudwatch.amazonaws.com');
  });

  test('passes the largest number of rows per run to the functions that read policies', () => {
    const { resources } = synthesize({ maxRowsPerRun: 1_000_000 });
    const told = resources('AWS::Lambda::Function').flatMap(([id, { Properties }]) =>
      Properties.Environment.Variables.MAX_ROWS_PER_RUN === '1000000' ? [id.replace(/Function.*/, '')] : [],
    );
    expect(told.sort()).toEqual(['WorkflowPlan', 'WorkflowTruncate']);
  });

  test('puts its tags on every resource that can have tags', () => {
    const { resources } = synthesize({ tags: { team: 'data-platform', 'cost-centre': '4711' } });
    const [[, { Properties: table }]] = resources('AWS::DynamoDB::Table') as [[string, Resource]];
    expect(table.Tags).toEqual([
      { Key: 'cost-centre', Value: '4711' },
      { Key: 'team', Value: 'data-platform' },
    ]);
    for (const [, { Properties }] of resources('AWS::Lambda::Function')) expect(Properties.Tags).toEqual(table.Tags);
  });

  test('puts Plan, Truncate and Poll into its private network, with the permission to be there', () => {
    for (const name of ['Plan', 'Truncate', 'Poll']) {
      const [, { Properties }] = fullest
        .resources('AWS::Lambda::Function')
        .find(([id]) => id.startsWith(`Workflow${name}`))!;
      expect(Properties.VpcConfig).toEqual({
        SubnetIds: everything.subnetIds,
        SecurityGroupIds: everything.securityGroupIds,
      });
      const own = statements(fullest.resources).filter(({ role }) => role.startsWith(`Workflow${name}Role`));
      const interfaces = own.filter(({ statement }) => list(statement.Action).includes('ec2:CreateNetworkInterface'));
      // Lambda itself may, the function's own code may not.
      expect(interfaces.map(({ statement: { Effect, Condition } }) => [Effect, Condition])).toEqual([
        ['Allow', undefined],
        ['Deny', { Null: { 'lambda:SourceFunctionArn': 'false' } }],
      ]);
    }
  });

  test('opens a key of its own for the identity and nothing else', () => {
    const decrypt = statements(fullest.resources).filter(({ statement }) =>
      list(statement.Action).includes('kms:Decrypt'),
    );
    expect(decrypt).toHaveLength(3);
    for (const { statement } of decrypt) {
      expect(statement.Resource).toBe(everything.tokenKeyArn);
      const context = statement.Condition.StringEquals['kms:EncryptionContext:PARAMETER_ARN'];
      expect(list(context).map((arn) => JSON.stringify(arn).match(/parameter(\/[^"]+)/)?.[1])).toEqual([
        '/datahub-retention/prod/token',
        '/company/headers',
        '/company/certificate',
        '/company/key',
      ]);
    }
  });

  test('reads no token where the stage says that the server asks for none', () => {
    const { resources } = synthesize({ ...everything, noIdentity: true });
    expect(JSON.stringify(statements(resources))).not.toContain('/datahub-retention/prod/token');
    const environments = resources('AWS::Lambda::Function').map(
      ([, { Properties }]) => Properties.Environment.Variables,
    );
    const stated = environments.filter(({ NO_IDENTITY }) => NO_IDENTITY === 'true');
    expect(stated.map((one) => [one.TOKEN_PARAMETER, one.HEADERS_PARAMETER])).toEqual(
      Array.from({ length: 3 }, () => [undefined, '/company/headers']),
    );
  });

  test('lets Report use the key of an existing topic for what it publishes, and nobody else', () => {
    const topicKeyArn = everything.tokenKeyArn;
    const topicArn = 'arn:aws:sns:eu-central-1:111122223333:team-alerts';
    const { resources } = synthesize({ topicArn, topicKeyArn });
    const keys = statements(resources).filter(({ statement }) =>
      list(statement.Action).some((one) => /^kms:/.test(one)),
    );
    expect(keys).toEqual([
      {
        role: expect.stringMatching(/^WorkflowReportRole/),
        statement: {
          Sid: 'EncryptReport',
          Effect: 'Allow',
          Action: ['kms:Decrypt', 'kms:GenerateDataKey'],
          Resource: topicKeyArn,
          Condition: { StringLike: { 'kms:ViaService': 'sns.*' } },
        },
      },
    ]);
  });

  test('follows the time zone', () => {
    const { resources } = synthesize({ timeZone: 'Europe/Berlin', schedule: 'cron(0 2 ? * MON-FRI *)' });
    const [[, { Properties }]] = resources('AWS::Scheduler::Schedule') as [[string, Resource]];
    expect([Properties.ScheduleExpression, Properties.ScheduleExpressionTimezone]).toEqual([
      'cron(0 2 ? * MON-FRI *)',
      'Europe/Berlin',
    ]);
  });

  test('shares no name with another stage', () => {
    const [one, other] = [fullest, synthesize(everything, { stage: 'prod-eu' })];
    const names = ({ template }: Synthesized) => Object.values(template.Resources).flatMap(physicalNames);
    expect(names(one).length).toBeGreaterThan(5);
    expect(names(one).filter((name) => names(other).includes(name))).toEqual([]);
  });

  test.each(['eu-central-1', 'cn-north-1', 'us-gov-west-1'])('synthesises for %s', (region) => {
    const partition = { 'eu-central-1': 'aws', 'cn-north-1': 'aws-cn', 'us-gov-west-1': 'aws-us-gov' }[region];
    const others = Object.fromEntries(
      Object.entries(everything).filter(([name]) => !/^(slack|teams|tokenKey)/.test(name)),
    );
    const { template } = synthesize(others, { env: { account: '111122223333', region } });
    const arns = [...JSON.stringify(template.Resources).matchAll(/arn:([a-z-]+):/g)].map(([, found]) => found);
    expect(arns.length).toBeGreaterThan(5);
    expect(new Set(arns)).toEqual(new Set([partition]));
  });

  test('fits into what AWS takes where each setting is as long as it may be', () => {
    const path = (end: string) => `/${'p'.repeat(398)}${end}`;
    const { resources } = synthesize(
      {
        gmsUrl: `https://datahub.corp.test/${'g'.repeat(213)}`,
        runbookUrl: `https://wiki.corp.test/${'w'.repeat(477)}`,
        ...{ parameterPrefix: path('a'), tokenParameter: path('b'), headersParameter: path('c') },
        ...{ clientCertificateParameter: path('d'), clientKeyParameter: path('e'), caCertificateParameter: path('f') },
      },
      { stage: 's'.repeat(20), env: { account: '111122223333', region: 'ap-southeast-1' } },
    );
    for (const [, { Properties }] of resources('AWS::CloudWatch::Alarm'))
      expect(Properties.AlarmDescription.length).toBeLessThanOrEqual(1024);
    for (const [, { Properties }] of resources('AWS::Lambda::Function'))
      expect(JSON.stringify(Properties.Environment.Variables).length).toBeLessThan(4096);
    expect(() => synthesize({ runbookUrl: `https://wiki.corp.test/${'w'.repeat(478)}` })).toThrow('at most 500');
  });

  test('has the same template each time', () => {
    expect(synthesizeAnew(everything, {}).template).toEqual(fullest.template);
  });
});

interface Statement {
  Effect: string;
  Action: string | string[];
  // biome-ignore lint/suspicious/noExplicitAny: a policy holds whatever CloudFormation functions make of it
  [key: string]: any;
}

const list = (value: string | string[]): string[] => (Array.isArray(value) ? value : [value]);

/** Every statement of every role, with the logical id of the role. */
function statements(resources: Synthesized['resources']): { role: string; statement: Statement }[] {
  return [...resources('AWS::IAM::Policy'), ...resources('AWS::IAM::Role')].flatMap(([id, { Type, Properties }]) => {
    const role: string = Type === 'AWS::IAM::Role' ? id : Properties.Roles[0].Ref;
    const documents = Type === 'AWS::IAM::Role' ? (Properties.Policies ?? []) : [Properties];
    expect(Properties.ManagedPolicyArns).toBeUndefined();
    return documents.flatMap((document: { PolicyDocument: { Statement: Statement[] } }) =>
      document.PolicyDocument.Statement.map((statement) => ({ role, statement })),
    );
  });
}

const topicStatements = (resources: Synthesized['resources']): Statement[] =>
  resources('AWS::SNS::TopicPolicy').flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement);

/** Names that must be unique in an account and region. */
function physicalNames({ Type, Properties }: Resource): string[] {
  const keys =
    'Name FunctionName RoleName TopicName TableName LogGroupName AlarmName DashboardName StateMachineName ConfigurationName';
  return keys
    .split(' ')
    .flatMap((key) =>
      Properties?.[key] === undefined || 'Ref' in Object(Properties[key])
        ? []
        : [`${Type} ${JSON.stringify(Properties[key])}`],
    );
}
