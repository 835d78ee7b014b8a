import { AspectPriority, Aspects, Stack, Token } from 'aws-cdk-lib';
import { CfnMicrosoftTeamsChannelConfiguration, CfnSlackChannelConfiguration } from 'aws-cdk-lib/aws-chatbot';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnSubscription, CfnTopic, CfnTopicPolicy, type ITopic, Topic, TopicPolicy } from 'aws-cdk-lib/aws-sns';
import { Construct, type IConstruct } from 'constructs';
import type { Settings } from '../../lambda/settings/settings.ts';
import { alarmsStatement, allowUse, type Warn } from '../props/encryption.ts';
import type { Resources } from '../props/resources.ts';
import { globalName } from '../workflow/names.ts';

export interface NotificationsProps {
  settings: Settings;
  resources: Resources;
  warn: Warn;
}

/** The topic's own policy, and what an app has written as a policy of this topic. */
function policiesOf(topic: ITopic): TopicPolicy[] {
  const { topicArn } = topic;
  const isOf = ({ topics }: CfnTopicPolicy) => topics.includes(topicArn);
  return topic.node.root.node
    .findAll()
    .filter((one) => one instanceof TopicPolicy)
    .filter(({ node }) => node.findAll().some((one) => one instanceof CfnTopicPolicy && isOf(one)));
}

/** Where reports and alarms go: a topic, our own or an existing one, to which emails, Slack and Teams subscribe. */
export class Notifications extends Construct {
  readonly topic: ITopic;

  constructor(scope: Construct, id: string, { settings, resources, warn }: NotificationsProps) {
    super(scope, id);
    const { encryptionKey: masterKey } = resources;
    this.topic =
      resources.topic ??
      new Topic(this, 'Topic', { displayName: 'DataHub retention', enforceSSL: true, ...(masterKey && { masterKey }) });
    if (settings.alarms) this.allowAlarms(resources.alarmTopic ?? this.topic, warn);
    for (const [at, email] of settings.emails.entries()) {
      new CfnSubscription(this, `Email ${Token.isUnresolved(email) ? at + 1 : email}`, {
        topicArn: this.topic.topicArn,
        protocol: 'email',
        endpoint: email,
      });
    }
    this.slack(settings);
    this.teams(settings);
  }

  /**
   * Without a policy, a topic accepts alarms from its own account; with one, it accepts only what the policy allows.
   * Report publishes with its role.
   */
  private allowAlarms(topic: ITopic, warn: Warn): void {
    if (topic.masterKey !== undefined) allowUse(topic.masterKey, alarmsStatement(), 'CloudWatch', warn);
    // Any alarm of the account, as without a policy: an app renames ours, and people add their own (docs/operate.md).
    // Without an id, which has to differ within a topic's policy: other stages may have the same topic.
    const mayPublish = new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
    });
    const visit = (node: IConstruct) => {
      if (node === topic) for (const policy of policiesOf(topic)) policy.document.addStatements(mayPublish);
      if (!(node instanceof CfnTopic) || !/^alias\/aws\//.test(String(node.kmsMasterKeyId))) return;
      const text = `The topic ${topic.node.path} is encrypted with ${node.kmsMasterKeyId}, which CloudWatch may not use: its alarms reach nobody. Give it a key of your own.`;
      warn('topic-key', text);
    };
    // At synth, because the app may give its topic a policy after this construct was made, and after its Aspects, such as
    // one that encrypts every topic. A statement that is added again with a second synth is written once.
    Aspects.of(topic).add({ visit }, { priority: AspectPriority.READONLY });
  }

  private slack({ stage, slackWorkspaceId, slackChannelId }: Settings): void {
    if (slackWorkspaceId === undefined || slackChannelId === undefined) return;
    new CfnSlackChannelConfiguration(this, 'Slack', {
      slackWorkspaceId,
      slackChannelId,
      ...this.chat('Slack', stage),
    });
  }

  private teams({ stage, teamsTenantId, teamsTeamId, teamsChannelId }: Settings): void {
    if (teamsTenantId === undefined || teamsTeamId === undefined || teamsChannelId === undefined) return;
    new CfnMicrosoftTeamsChannelConfiguration(this, 'Teams', {
      teamsTenantId,
      teamId: teamsTeamId,
      teamsChannelId,
      ...this.chat('Teams', stage),
    });
  }

  /**
   * Amazon Q Developer in chat applications. Its role has no permissions, and the guardrail keeps it that way if
   * someone widens the role. AWS allows one configuration per channel and account: a second stage needs a channel of
   * its own.
   */
  private chat(app: 'Slack' | 'Teams', stage: string) {
    const role = new Role(this, `${app}Role`, {
      description: `What people may do from the ${app} channel of the DataHub retention job: nothing`,
      assumedBy: new ServicePrincipal('chatbot.amazonaws.com'),
    });
    const stack = Stack.of(this);
    return {
      configurationName: `${globalName(stage, stack.region)}${app === 'Slack' ? '' : '-teams'}`,
      iamRoleArn: role.roleArn,
      snsTopicArns: [this.topic.topicArn],
      guardrailPolicies: [`arn:${stack.partition}:iam::aws:policy/CloudWatchReadOnlyAccess`],
    };
  }
}
