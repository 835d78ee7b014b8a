import type { Problem } from '../policy/explain.ts';
import type { GivenSettings } from './fields.ts';
import { hostProblem } from './hosts.ts';
import { parseSchedule } from './schedule.ts';

/**
 * Combinations that cannot work although each setting is valid by itself.
 * @param given the settings that could be read and are known; the checks must cope without the others
 * @param named the settings that are present, including unreadable ones
 * @param called how a setting is written: in a stage file by its name, in an app by the prop that stands for it
 */
export function crossFieldProblems(given: Given, named: ReadonlySet<string>, called: Naming): Problem[] {
  return [
    ...address(given),
    ...schedule(given),
    ...timeZone(given),
    ...together(named, ['slackWorkspaceId', 'slackChannelId'], 'Slack'),
    ...together(named, ['teamsTenantId', 'teamsTeamId', 'teamsChannelId'], 'Teams'),
    ...together(named, ['subnetIds', 'securityGroupIds'], 'a private network'),
    ...audience(given, named, called),
    ...regionProblems((field) => given[field]?.split(':')[3], called),
    ...chatFormat(given),
    ...parameters(given),
    ...together(named, ['clientCertificateParameter', 'clientKeyParameter'], 'a client certificate'),
    ...identity(given, named),
  ];
}

type Given = Partial<GivenSettings>;
export type Naming = (field: keyof GivenSettings) => string;

/** The sentence begins with the field, as for a single invalid setting. */
const wrong = (field: keyof GivenSettings, message: string): Problem[] => [
  { path: [field], sentence: message.includes(field) ? message : `${field}: ${message}` },
];

const wrongIf = (isWrong: boolean, field: keyof GivenSettings, message: string): Problem[] =>
  isWrong ? wrong(field, message) : [];

function address({ gmsUrl }: Given): Problem[] {
  const problem = gmsUrl === undefined ? undefined : hostProblem(gmsUrl);
  return problem === undefined ? [] : wrong('gmsUrl', problem);
}

function schedule({ schedule, mode }: Given): Problem[] {
  if (schedule === undefined) return [];
  const parsed = parseSchedule(schedule, Date.now());
  if (parsed.kind === 'wrong') {
    return wrong('schedule', `schedule ${schedule} cannot be used: ${parsed.reason}; write it like cron(30 3 * * ? *)`);
  }
  const atOnce = `${schedule} fires at every deployment, which mode "enforce" does not allow: write it as cron(...)`;
  return wrongIf(parsed.kind !== 'cron' && mode === 'enforce', 'schedule', atOnce);
}

function timeZone({ timeZone }: Given): Problem[] {
  if (timeZone === undefined) return [];
  const example = 'write an IANA name such as Europe/Berlin or UTC';
  try {
    // Newer Node releases also accept offsets; EventBridge Scheduler does not.
    if (!/^[A-Za-z]/.test(timeZone)) throw new RangeError();
    new Intl.DateTimeFormat('en', { timeZone });
  } catch {
    return wrong('timeZone', `${timeZone} is not a time zone: ${example}`);
  }
  // Intl ignores case; EventBridge Scheduler does not.
  const spelled = ['UTC', ...Intl.supportedValuesOf('timeZone')].find(
    (name) => name.toLowerCase() === timeZone.toLowerCase() && name !== timeZone,
  );
  return spelled === undefined ? [] : wrong('timeZone', `${timeZone} is spelled ${spelled}`);
}

/** Settings that are of no use one without the others. */
function together(named: ReadonlySet<string>, fields: ReadonlyArray<keyof GivenSettings>, what: string): Problem[] {
  const missing = fields.filter((field) => !named.has(field));
  if (missing.length === 0 || missing.length === fields.length) return [];
  const all = fields.length === 2 ? `both ${fields.join(' and ')}` : fields.join(', ');
  const others = missing.length === fields.length - 1 ? 'the other one' : 'the others';
  return missing.flatMap((field) =>
    wrong(field, `${field} is missing: ${what} needs ${all}, so add it or remove ${others}`),
  );
}

function audience(
  { emails = [], topicArn, topicKeyArn, alarmTopicArn, alarms }: Given,
  named: ReadonlySet<string>,
  called: Naming,
): Problem[] {
  const alarmTopic = called('alarmTopicArn');
  const noAlarms = `${alarmTopic} would get nothing, because alarms is false: remove one of the two`;
  const ownKey = 'topicKeyArn is the key of topicArn, which is missing: encryptionKeyArn encrypts our own topic';
  const sameTopic = `${alarmTopic} is the topic of the reports: one event would bring two messages there; name another, or omit it`;
  return [
    ...(alarms === false && named.has(alarmTopic) ? [{ path: ['alarmTopicArn'], sentence: noAlarms }] : []),
    ...wrongIf(topicKeyArn !== undefined && topicArn === undefined, 'topicKeyArn', ownKey),
    ...wrongIf(new Set(emails).size < emails.length, 'emails', 'names an address twice: remove one'),
    ...(alarmTopicArn !== undefined && alarmTopicArn === topicArn
      ? [{ path: ['alarmTopicArn'], sentence: sameTopic }]
      : []),
  ];
}

const regional = ['topicArn', 'topicKeyArn', 'alarmTopicArn', 'tokenKeyArn', 'encryptionKeyArn'] as const;

/**
 * CloudWatch, SNS and KMS refuse what is in another region in the middle of a deployment.
 * @param regionOf a token, or nothing, where nobody knows it yet
 * @param stackRegion undefined if nobody knows it yet: then all have to be in the region of the first
 */
export function regionProblems(
  regionOf: (field: (typeof regional)[number]) => string | undefined,
  called: Naming,
  stackRegion?: string,
): Problem[] {
  const found = regional.flatMap((field) => {
    const region = regionOf(field) ?? '';
    return /^[a-z]{2,}(-[a-z]+)+-\d+$/.test(region) ? [{ field, region }] : [];
  });
  const [first] = found;
  const own = stackRegion ?? first?.region;
  const where = stackRegion === undefined ? `${first && called(first.field)} is in` : 'the stack is deployed to';
  return found
    .filter(({ region }) => region !== own)
    .map(({ field, region }) => ({
      path: [field],
      sentence: `${called(field)} is in ${region}, and ${where} ${own}: name one that is there`,
    }));
}

/** Amazon Q Developer silently drops everything else. */
function chatFormat({ slackChannelId, teamsChannelId, httpsFormat = 'amazon-q' }: Given): Problem[] {
  const chat = slackChannelId === undefined ? 'teamsChannelId' : 'slackChannelId';
  const text = `httpsFormat must be amazon-q, or be left out, where there is a ${chat}: it is reached over HTTPS`;
  return wrongIf((slackChannelId ?? teamsChannelId) !== undefined && httpsFormat !== 'amazon-q', 'httpsFormat', text);
}

/** Each is a parameter of its own: pausing, or storing one, must not write over another. */
function parameters(given: Given): Problem[] {
  const { parameterPrefix, noIdentity } = given;
  const fields = namedParameters.filter((field) => field !== 'tokenParameter' || !noIdentity);
  return fields.flatMap((field, at) => {
    const name = given[field];
    const same = fields.slice(0, at).find((other) => name !== undefined && given[other] === name);
    const isPolicy = name?.startsWith(`${parameterPrefix}/policies/`) ?? false;
    return [
      ...wrongIf(isPolicy, field, `must not be below ${parameterPrefix}/policies, where policies are read from`),
      ...wrongIf(name === `${parameterPrefix}/paused`, field, 'must not be the pause switch: name another'),
      ...wrongIf(same !== undefined, field, `is also the ${same}: name another`),
    ];
  });
}

const namedParameters = [
  'tokenParameter',
  'headersParameter',
  'clientCertificateParameter',
  'clientKeyParameter',
  'caCertificateParameter',
] as const;

function identity({ noIdentity, gmsUrl, clientCertificateParameter }: Given, named: ReadonlySet<string>): Problem[] {
  const both = 'noIdentity sends no token, and tokenParameter names one: remove one of them';
  const plain = clientCertificateParameter !== undefined && gmsUrl?.startsWith('http:') === true;
  return [
    ...wrongIf(noIdentity === true && named.has('tokenParameter'), 'noIdentity', both),
    ...wrongIf(plain, 'clientCertificateParameter', 'needs a gmsUrl with https://: only TLS shows a certificate'),
  ];
}
