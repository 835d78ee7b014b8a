import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { DatahubRetention } from '../../infra/datahub-retention.ts';
import type { DatahubRetentionProps, RetentionPolicy } from '../../infra/stage/props.ts';
import type { StageInput } from '../../infra/stage/settings.ts';
import type { PolicyInput } from '../../lambda/policy/schema.ts';

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
const newStack = (region?: string) =>
  new Stack(newApp(), 'Foreign', {
    ...(region !== undefined && { env: { account: '111122223333', region } }),
  });
const place = (fields: Partial<DatahubRetentionProps>, region?: string) =>
  new DatahubRetention(newStack(region), 'Retention', { ...props, ...fields });
const onCall = 'arn:aws:sns:eu-central-1:111122223333:on-call';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('The props of the construct', () => {
  test('are the settings of a stage file and the stage', () => {
    const sameSettings: Same<DatahubRetentionProps, Omit<StageInput, '$schema' | 'tags'> & { stage: string }> = true;
    const samePolicies: Same<RetentionPolicy, PolicyInput> = true;
    expect([sameSettings, samePolicies]).toEqual([true, true]);
  });

  test('differ from what would have one field more, one less, another type, or a field that is needed', () => {
    const more: Same<PolicyInput, PolicyInput & { colour?: string }> = false;
    const less: Same<PolicyInput, Omit<PolicyInput, 'note'>> = false;
    const other: Same<PolicyInput, Omit<PolicyInput, 'note'> & { note?: number }> = false;
    const needed: Same<PolicyInput, PolicyInput & { note: string }> = false;
    expect([more, less, other, needed]).toEqual([false, false, false, false]);
  });

  test.each<[Partial<DatahubRetentionProps>, RegExp]>([
    [{ stage: 'Prod' }, /^The stage's name "Prod" must begin with a letter/],
    [{ gmsUrl: 'http://datahub-gms:8080' }, /^gmsUrl: datahub-gms is a host without a domain/],
    [{ maxRunHours: 25 }, /^maxRunHours must be at most 24, not 25\.$/],
    [{ topicArn: onCall, alarmTopicArn: onCall }, /^alarmTopicArn is the topicArn: one event would bring two messages/],
  ])('that cannot work throw one sentence at synth: %j', (fields, sentence) => {
    expect(() => place(fields)).toThrow(sentence);
  });

  test.each(['topicArn', 'alarmTopicArn'] as const)('refuse a %s of another region than the stack', (name) => {
    const sentence = `${name} is a topic in eu-central-1, and the stack is deployed to eu-west-1: name a topic there.`;
    expect(() => place({ [name]: onCall }, 'eu-west-1')).toThrow(sentence);
    expect(() => place({ [name]: onCall }, 'eu-central-1')).not.toThrow();
  });

  test('refuse it too where the region is the one that CDK deploys to by default', () => {
    vi.stubEnv('CDK_DEFAULT_REGION', 'eu-west-1');
    expect(() => place({ alarmTopicArn: onCall })).toThrow(/is a topic in eu-central-1, .* deployed to eu-west-1/);
    vi.stubEnv('CDK_DEFAULT_REGION', 'eu-central-1');
    expect(() => place({ alarmTopicArn: onCall })).not.toThrow();
  });

  test('take what the app makes itself and is known only when it is deployed', () => {
    const stack = newStack();
    const topic = new Topic(stack, 'Own');
    const key = new Key(stack, 'Key');
    new DatahubRetention(stack, 'Retention', {
      ...props,
      alarmTopicArn: topic.topicArn,
      tokenKeyArn: key.keyArn,
      topicKeyArn: key.keyArn,
    });
    const template = Template.fromStack(stack);
    for (const { Properties } of Object.values(template.findResources('AWS::CloudWatch::Alarm')))
      expect(Properties.AlarmActions).toEqual([stack.resolve(topic.topicArn)]);
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { TOKEN_KEY_ARN: stack.resolve(key.keyArn) } },
    });
    template.hasResourceProperties('AWS::SNS::Topic', { KmsMasterKeyId: stack.resolve(key.keyArn) });
  });

  test('refuse the same topic twice, although only the deployment will know which one it is', () => {
    const stack = newStack();
    const { topicArn } = new Topic(stack, 'Own');
    const place = () => new DatahubRetention(stack, 'Retention', { ...props, topicArn, alarmTopicArn: topicArn });
    expect(place).toThrow(/alarmTopicArn is the topicArn/);
  });
});

describe('The construct', () => {
  test('may be used twice in one stack, for two stages', () => {
    const stack = newStack();
    const one = new DatahubRetention(stack, 'One', props);
    const other = new DatahubRetention(stack, 'Other', { ...props, stage: 'test' });
    expect(Object.keys(Template.fromStack(stack).findResources('AWS::Lambda::Function'))).toHaveLength(8);
    expect(one.ledger).not.toBe(other.ledger);
  });

  test('gives its topic, state machine, ledger and alarms to the app around it', () => {
    const { topic, stateMachine, ledger, alarms } = place({});
    expect([topic.topicArn, stateMachine.stateMachineArn, ledger.tableArn].every(Boolean)).toBe(true);
    expect(alarms.map(({ node }) => node.id).sort()).toEqual([
      'ExecutionFailed',
      'FunctionTrouble',
      'NotStarted',
      'RowsMissing',
      'RunFailed',
      'StartLost',
    ]);
  });

  test('brings no warnings of its own, and no tags', () => {
    const stack = newStack();
    new DatahubRetention(stack, 'Retention', { ...props, gmsUrl: 'http://datahub.example.com' });
    expect(stack.node.findAll().flatMap(({ node }) => node.metadata.map(({ type }) => type))).not.toContain(
      'aws:cdk:warning',
    );
  });
});
