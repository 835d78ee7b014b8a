import { ArnFormat, Stack } from 'aws-cdk-lib';
import { CfnMicrosoftTeamsChannelConfiguration, CfnSlackChannelConfiguration } from 'aws-cdk-lib/aws-chatbot';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { CfnSubscription, type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Settings } from '../stage/settings.ts';
import { alarmNamePrefix } from '../workflow/names.ts';

/** Where reports and alarms go: our own topic or an existing one, with emails and channels of Slack and Teams as subscribers. */
export class Notifications extends Construct {
  /** For reports. */
  readonly topic: ITopic;
  /** For alarms; undefined if they go to the topic of the reports. */
  readonly alarmTopic: ITopic | undefined;

  constructor(scope: Construct, id: string, { settings }: { settings: Settings }) {
    super(scope, id);
    this.topic =
      settings.topicArn === undefined
        ? this.ownTopic(settings)
        : Topic.fromTopicArn(this, 'Existing', settings.topicArn);
    this.alarmTopic =
      settings.alarmTopicArn === undefined ? undefined : Topic.fromTopicArn(this, 'Alarms', settings.alarmTopicArn);
    for (const email of settings.emails) {
      new CfnSubscription(this, `Email ${email}`, {
        topicArn: this.topic.topicArn,
        protocol: 'email',
        endpoint: email,
      });
    }
    this.slack(settings);
    this.teams(settings);
  }

  /** A topic's own policy replaces the default one, so it has to let our alarms publish; Report publishes by its role. */
  private ownTopic(settings: Settings): Topic {
    const { topicKeyArn } = settings;
    const topic = new Topic(this, 'Topic', {
      displayName: 'DataHub retention',
      enforceSSL: true,
      ...(topicKeyArn !== undefined && { masterKey: Key.fromKeyArn(this, 'TopicKey', topicKeyArn) }),
    });
    if (settings.alarmTopicArn !== undefined) return topic;
    const stack = Stack.of(this);
    const alarms = stack.formatArn({
      service: 'cloudwatch',
      resource: 'alarm',
      resourceName: `${alarmNamePrefix(settings.stage)}*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'AlarmsMayPublish',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': stack.account }, ArnLike: { 'aws:SourceArn': alarms } },
      }),
    );
    return topic;
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
    return {
      configurationName: `datahub-retention-${stage}${app === 'Slack' ? '' : '-teams'}`,
      iamRoleArn: role.roleArn,
      snsTopicArns: [this.topic.topicArn],
      guardrailPolicies: [`arn:${Stack.of(this).partition}:iam::aws:policy/CloudWatchReadOnlyAccess`],
    };
  }
}
