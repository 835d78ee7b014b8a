import type { IndexNames } from '../gms/backend.ts';
import { dottedName, knownAspects } from '../policy/aspects.ts';
import { nearest } from '../policy/nearest.ts';
import { clusterHostWarning, isPlainAndPublic, isPrivate } from './hosts.ts';
import { placeholderProblem } from './placeholders.ts';
import { firstSkippedTime, parseSchedule } from './schedule.ts';
import type { Settings } from './settings.ts';
import { knownValue, type UnresolvedValue } from './unresolved.ts';

/**
 * Settings that may be intended but deserve a second look: synth says so, and so does `validate`. What is not known
 * yet causes no doubt.
 */
export interface Warning {
  id: string;
  /** Where it is in the stage file. */
  path: PropertyKey[];
  text: string;
  /** A placeholder, which nobody can mean: `validate` refuses it. */
  isPlaceholder?: true;
}

/** @param called how a setting is written, where that is not its name */
export function warningsOf(settings: Given, called: (field: string) => string = (field) => field): Warning[] {
  return [
    ...placeholders(settings, called),
    ...address(settings),
    ...identity(settings),
    ...audience(settings),
    ...policies(settings),
    ...schedule(settings),
    ...skipped(settings),
  ];
}

type Given = Settings<UnresolvedValue>;

const warning = (id: string, path: PropertyKey[], text: string): Warning[] => [{ id, path, text }];

function placeholders(settings: Given, called: (field: string) => string): Warning[] {
  return Object.entries<unknown>(settings).flatMap(([field, value]) =>
    [value].flat().flatMap((text, at) => {
      const problem = typeof text === 'string' ? placeholderProblem(text) : undefined;
      if (problem === undefined) return [];
      const path = Array.isArray(value) ? [field, at] : [field];
      const id = `placeholder-${path.join('-')}`;
      return { id, path, text: `${called(field)}: ${problem}.`, isPlaceholder: true } as const;
    }),
  );
}

function address({ gmsUrl: given, subnetIds }: Given): Warning[] {
  const gmsUrl = knownValue(given);
  if (gmsUrl === undefined) return [];
  const plain = `gmsUrl ${gmsUrl} is plain http: outside a network of your own, the token can be read in transit; use https.`;
  const outside = `gmsUrl ${gmsUrl} is in a private network, and the functions are in none: put them there (subnetIds and securityGroupIds, or vpc).`;
  const problem = clusterHostWarning(gmsUrl);
  return [
    ...(isPrivate(gmsUrl) && subnetIds === undefined ? warning('no-network', ['gmsUrl'], outside) : []),
    ...(isPlainAndPublic(gmsUrl, subnetIds !== undefined) ? warning('plain-http', ['gmsUrl'], plain) : []),
    ...(problem === undefined ? [] : warning('cluster-host', ['gmsUrl'], `gmsUrl: ${problem}.`)),
  ];
}

function identity({ noIdentity, gmsUrl }: Given): Warning[] {
  if (knownValue(noIdentity) !== true) return [];
  const text = `No token is sent (noIdentity): anyone who reaches ${knownValue(gmsUrl) ?? 'gmsUrl'} can delete rows, too.`;
  return warning('no-identity', ['noIdentity'], text);
}

function audience({ emails, slackChannelId, teamsChannelId, topicArn }: Given): Warning[] {
  if (emails.length > 0 || (slackChannelId ?? teamsChannelId ?? topicArn) !== undefined) return [];
  return warning(
    'nobody-told',
    [],
    'Nobody will be notified: there are no emails, no channel of Slack or Teams, and no topic. Add one, or subscribe to the topic.',
  );
}

function policies({ policies: all, parameterPrefix }: Given): Warning[] {
  if (all.length === 0) {
    const path = `${knownValue(parameterPrefix) ?? 'parameterPrefix'}/policies`;
    const text = `The stage has no policy: a run fails until there is one below ${path}.`;
    return warning('no-policy', ['policies'], text);
  }
  return all.flatMap(({ names }, at) => {
    const problem = names && nameWarning(names);
    if (problem === undefined) return [];
    return warning(`name-${at + 1}`, ['policies', at, 'aspect'], `policy ${at + 1}: ${problem}.`);
  });
}

function schedule({ schedule: given, alarmIfNotStartedHours, alarms }: Given): Warning[] {
  if (alarms === false) return [];
  const parsed = parseSchedule(knownValue(given) ?? '', Date.now());
  if (parsed.kind === 'wrong' || parsed.longestGapHours <= (knownValue(alarmIfNotStartedHours) ?? Infinity)) return [];
  const hours = Math.ceil(parsed.longestGapHours);
  const remedy =
    hours > 168
      ? 'CloudWatch looks back at most 168 hours, so schedule previews in between or expect its message'
      : `set alarmIfNotStartedHours to at least ${Math.min(168, hours + 2)}`;
  const text = `The alarm NotStarted would fire between two runs, which are up to ${hours} hours apart: ${remedy}.`;
  return warning('alarm-gap', ['schedule'], text);
}

function skipped({ schedule: given, timeZone: zone }: Given): Warning[] {
  const timeZone = knownValue(zone);
  const parsed = parseSchedule(knownValue(given) ?? '', Date.now());
  const isKnown = parsed.kind === 'cron' && timeZone !== undefined;
  const time = isKnown ? firstSkippedTime(parsed.wallTimes, timeZone) : undefined;
  if (time === undefined) return [];
  const [date, clock] = new Date(time).toISOString().split(/[T.]/);
  const text = `Nothing starts on ${date}: daylight saving in ${timeZone} skips ${clock?.slice(0, 5)} that night. Choose another time, or UTC.`;
  return warning('skipped-time', ['schedule'], text);
}

/**
 * Whether the name of a policy's index is almost, but not quite, one of DataHub's. Custom models have aspects of their
 * own, so this is a doubt, not a mistake.
 * @returns one sentence without its full stop; undefined if there is no doubt
 */
export function nameWarning(given: IndexNames): string | undefined {
  const name = dottedName(given);
  const known = knownAspects.map(dottedName).find((one) => one.toLowerCase() === name.toLowerCase());
  if (known === name) return undefined;
  if (known !== undefined) return `${name} is sent in DataHub's spelling, ${known}: write it like that`;
  // Each part is compared by itself: dataset.datasetStats is not a mistyped dataset.datasetProfile.
  const near = knownAspects.filter(
    ({ entityType, aspect }) => isNear(given.entityType, entityType) && isNear(given.aspect, aspect),
  );
  const meant = nearest(name, near.map(dottedName));
  if (meant === undefined) return undefined;
  return `${name} is not one of DataHub's own indices; unless a custom model has it, ${meant} is probably meant`;
}

const isNear = (given: string, known: string): boolean => nearest(given, [known]) !== undefined;
