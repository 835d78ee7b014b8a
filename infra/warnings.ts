import { Annotations, type Stack } from 'aws-cdk-lib';
import { parseSchedule } from './stage/cron.ts';
import { clusterHostDoubt, isPlainAndPublic } from './stage/hosts.ts';
import { parseSettings, type StageInput } from './stage/settings.ts';

/** Settings that may be intended but deserve a second look. */
export function warn(stack: Stack, { stage, ...given }: StageInput & { stage: string }): void {
  const settings = parseSettings(stage, given);
  const warning = (id: string, text: string) => Annotations.of(stack).addWarningV2(`datahub-retention:${id}`, text);
  if (isPlainAndPublic(settings.gmsUrl, settings.subnetIds !== undefined)) {
    warning(
      'plain-http',
      `gmsUrl ${settings.gmsUrl} is plain http to a public host: the token can be read on its way; use https.`,
    );
  }
  const doubt = clusterHostDoubt(settings.gmsUrl);
  if (doubt !== undefined) warning('cluster-host', `gmsUrl: ${doubt}.`);
  const { emails, slackChannelId, topicArn } = settings;
  if (emails.length === 0 && slackChannelId === undefined && topicArn === undefined) {
    warning(
      'nobody-told',
      'Nobody will be notified: the stage file has no emails, no Slack channel and no topicArn. Add one, or subscribe to the topic of the output TopicArn.',
    );
  }
  if (settings.policies.length === 0) {
    warning(
      'no-policy',
      `The stage file has no policy: a run fails until there is one below ${settings.parameterPrefix}/policies.`,
    );
  }
  const schedule = parseSchedule(settings.schedule);
  if (schedule.kind !== 'wrong' && schedule.longestGapHours > settings.alarmIfNotStartedHours) {
    const hours = Math.ceil(schedule.longestGapHours);
    const remedy =
      hours > 168
        ? 'CloudWatch looks back at most 168 hours, so schedule previews in between or expect its message'
        : `set alarmIfNotStartedHours to at least ${Math.min(168, hours + 2)}`;
    warning(
      'alarm-gap',
      `The alarm NotStarted would fire between two runs, which are up to ${hours} hours apart: ${remedy}.`,
    );
  }
}
