import { clusterHostWarning, isPlainAndPublic } from './hosts.ts';
import { nameWarning } from './names.ts';
import { parseSchedule } from './schedule.ts';
import type { Settings } from './settings.ts';

/** Settings that may be intended but deserve a second look: synth says so, and so does `validate --stage`. */
export interface Warning {
  id: string;
  /** Where it is in the stage file. */
  path: PropertyKey[];
  text: string;
}

export function warningsOf(settings: Settings): Warning[] {
  return [...address(settings), ...audience(settings), ...policies(settings), ...schedule(settings)];
}

function address({ gmsUrl, subnetIds }: Settings): Warning[] {
  const warning = (id: string, text: string): Warning => ({ id, path: ['gmsUrl'], text });
  const doubt = clusterHostWarning(gmsUrl);
  return [
    ...(isPlainAndPublic(gmsUrl, subnetIds !== undefined)
      ? [
          warning(
            'plain-http',
            `gmsUrl ${gmsUrl} is plain http to a public host: the token can be read in transit; use https.`,
          ),
        ]
      : []),
    ...(doubt === undefined ? [] : [warning('cluster-host', `gmsUrl: ${doubt}.`)]),
  ];
}

function audience({ emails, slackChannelId, topicArn }: Settings): Warning[] {
  if (emails.length > 0 || slackChannelId !== undefined || topicArn !== undefined) return [];
  return [
    {
      id: 'nobody-told',
      path: [],
      text: 'Nobody will be notified: the stage file has no emails, no Slack channel and no topicArn. Add one, or subscribe to the topic of the output TopicArn.',
    },
  ];
}

function policies({ policies: all, parameterPrefix }: Settings): Warning[] {
  if (all.length === 0) {
    return [
      {
        id: 'no-policy',
        path: ['policies'],
        text: `The stage file has no policy: a run fails until there is one below ${parameterPrefix}/policies.`,
      },
    ];
  }
  return all.flatMap(({ policy }, at) => {
    const doubt = nameWarning(policy);
    return doubt === undefined
      ? []
      : [{ id: `name-${at + 1}`, path: ['policies', at, 'aspect'], text: `policy ${at + 1}: ${doubt}.` }];
  });
}

function schedule({ schedule: given, alarmIfNotStartedHours }: Settings): Warning[] {
  const parsed = parseSchedule(given, Date.now());
  if (parsed.kind === 'wrong' || parsed.longestGapHours <= alarmIfNotStartedHours) return [];
  const hours = Math.ceil(parsed.longestGapHours);
  const remedy =
    hours > 168
      ? 'CloudWatch looks back at most 168 hours, so schedule previews in between or expect its message'
      : `set alarmIfNotStartedHours to at least ${Math.min(168, hours + 2)}`;
  return [
    {
      id: 'alarm-gap',
      path: ['schedule'],
      text: `The alarm NotStarted would fire between two runs, which are up to ${hours} hours apart: ${remedy}.`,
    },
  ];
}
