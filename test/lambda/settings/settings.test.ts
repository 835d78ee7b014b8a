import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readStageText, SettingsError } from '../../../lambda/settings/settings.ts';
import { warningsOf } from '../../../lambda/settings/warnings.ts';

const onCall = 'arn:aws:sns:eu-central-1:111122223333:on-call';
const operation = { entityType: 'dataset', aspect: 'operation', retentionDays: 90 };
const given = (fields: object) =>
  JSON.stringify({ gmsUrl: 'https://datahub.example.com/api/gms', policies: [operation], ...fields });
const readSettings = (stage: string, text: string) => readStageText(stage, text).settings;
const read = (fields: object = {}, stage = 'prod') => readSettings(stage, given(fields));

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    return (error as Error).message;
  }
  throw new Error('accepted');
}

describe('A stage file', () => {
  test('needs an address and policies; the rest has defaults, such as preview', () => {
    expect(read()).toMatchObject({
      stage: 'prod',
      mode: 'preview',
      schedule: 'cron(30 3 * * ? *)',
      timeZone: 'UTC',
      notify: 'always',
      minRetentionDays: 7,
      maxRunHours: 12,
      alarmIfNotStartedHours: 26,
      parameterPrefix: '/datahub-retention/prod',
      tokenParameter: '/datahub-retention/prod/token',
    });
  });

  test('names its token parameter below its own prefix', () => {
    expect(read({ parameterPrefix: '/team/retention' }).tokenParameter).toBe('/team/retention/token');
  });

  test.each(readdirSync(new URL('../../../infra/stages/', import.meta.url)))(
    '%s of the repository is valid',
    (file) => {
      const text = readFileSync(new URL(`../../../infra/stages/${file}`, import.meta.url), 'utf8');
      expect(() => readSettings('example', text)).not.toThrow();
    },
  );

  test('that ships only previews', () => {
    const text = readFileSync(new URL('../../../infra/stages/example.json', import.meta.url), 'utf8');
    expect(readSettings('example', text).mode).toBe('preview');
  });

  test.each<[wrong: object, sentence: RegExp]>([
    [{ gmsUrl: undefined }, /^gmsUrl is missing/],
    [{ gmsURL: 'x' }, /"gmsURL" is not a known field: did you mean gmsUrl\?$/],
    [{ color: 'blue' }, /"color" is not a known field: the fields are gmsUrl, mode/],
    [{ gmsUrl: 'datahub.example.com' }, /^gmsUrl: .*must begin with http/],
    [{ gmsUrl: 'https://datahub.example.com/gms/operations' }, /must not end in \/operations/],
    [{ gmsUrl: 'http://datahub-gms.datahub.svc.cluster.local:8080' }, /only resolves inside its Kubernetes cluster/],
    [{ gmsUrl: 'http://datahub-gms.datahub.svc:8080' }, /only resolves inside its Kubernetes cluster/],
    [{ gmsUrl: 'http://datahub-gms:8080' }, /datahub-gms is a host without a domain, which Lambda cannot resolve/],
    [{ gmsUrl: 'http://localhost:8080' }, /localhost is the function itself, not your server: expose GMS/],
    [{ mode: 'enforced' }, /mode must be "preview" or "enforce", not "enforced"/],
    [{ mode: 'enforce', schedule: 'rate(1 day)' }, /rate\(1 day\) fires at every deployment/],
    [{ schedule: '30 3 * * *' }, /schedule 30 3 \* \* \* cannot be used: it is neither/],
    [{ schedule: 'cron(30 3 * * ? 2020)' }, /cannot be used: no date from now on matches it, so it would never run/],
    [{ timeZone: 'Europe/Berln' }, /Europe\/Berln is not a time zone: write an IANA name/],
    [{ timeZone: 'europe/berlin' }, /europe\/berlin is spelled Europe\/Berlin/],
    [{ timeZone: '+02:00' }, /\+02:00 is not a time zone/],
    [{ emails: ['team'] }, /^emails 1 must be an email address, not "team"\.$/],
    [{ emails: ['a@example.com', 'a@example.com'] }, /names an address twice/],
    [{ slackChannelId: 'C0123456789' }, /^slackWorkspaceId is missing: Slack needs both/],
    [{ slackWorkspaceId: 'T0123456789' }, /^slackChannelId is missing: Slack needs both/],
    [{ slackWorkspaceId: 'T0123456789', slackChannelId: '#alerts' }, /channel id such as C0123456789, not its name/],
    [
      { teamsChannelId: '19%3aX%40thread.tacv2' },
      /^teamsTenantId is missing: Teams needs teamsTenantId, teamsTeamId, /,
    ],
    [{ teamsTenantId: 'contoso' }, /teamsTenantId must be the ID of a Teams tenant, such as/],
    [{ teamsChannelId: 'alerts' }, /the ID in the link of a Teams channel, such as 19%3a/],
    [{ subnetIds: ['subnet-0a1b2c3d'] }, /^securityGroupIds is missing/],
    [{ securityGroupIds: ['sg-0a1b2c3d'] }, /^subnetIds is missing/],
    [{ topicArn: 'team-alerts' }, /topicArn must be an ARN such as arn:aws:sns/],
    [{ tokenKeyArn: 'alias/token' }, /tokenKeyArn must be an ARN such as arn:aws:kms/],
    [
      { topicKeyArn: 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd' },
      /topicKeyArn is the key of topicArn, which is missing: encryptionKeyArn encrypts our own topic/,
    ],
    [
      { slackWorkspaceId: 'T0123456789', slackChannelId: 'C0123456789', httpsFormat: 'json' },
      /^httpsFormat must be amazon-q, or be left out, where there is a slackChannelId/,
    ],
    [{ parameterPrefix: 'retention' }, /parameterPrefix must be a path such as/],
    [{ parameterPrefix: '/aws/retention' }, /must not begin with \/aws or \/ssm/],
    [{ tokenParameter: '/datahub-retention/prod/policies/token' }, /must not be below .*\/policies/],
    [{ clientCertificateParameter: '/c' }, /^clientKeyParameter is missing: a client certificate needs both/],
    [
      { gmsUrl: 'http://gms.example.com', clientCertificateParameter: '/c', clientKeyParameter: '/k' },
      /^clientCertificateParameter: needs a gmsUrl with https/,
    ],
    [{ headersParameter: '/datahub-retention/prod/policies/h' }, /^headersParameter: must not be below .*\/policies/],
    [{ tokenParameter: '/datahub-retention/prod/paused' }, /^tokenParameter: must not be the pause switch/],
    [
      { caCertificateParameter: '/datahub-retention/prod/token' },
      /^caCertificateParameter: is also the tokenParameter/,
    ],
    [{ noIdentity: true, tokenParameter: '/t' }, /^noIdentity sends no token, and tokenParameter names one/],
    [{ noIdentity: 'true' }, /^noIdentity must be/],
    [
      { alarmTopicArn: `${onCall}.fifo` },
      /^alarmTopicArn: must not be FIFO: alarms, mail and HTTPS need a standard one\.$/,
    ],
    [
      { encryptionKeyArn: 'arn:aws:kms:eu-central-1:111122223333:alias/data' },
      /^encryptionKeyArn: must be the key, not its alias/,
    ],
    [
      { alarmTopicArn: onCall, tokenKeyArn: 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd' },
      /^tokenKeyArn is in eu-west-1, and alarmTopicArn is in eu-central-1: name one that is there\.$/,
    ],
    [{ topicArn: onCall, alarmTopicArn: onCall }, /^alarmTopicArn is the topic of the reports/],
    [{ alarms: false, alarmTopicArn: onCall }, /^alarmTopicArn would get nothing, because alarms is false/],
    [{ tags: { 'aws:team': 'x' } }, /^tags: the key "aws:team" must not begin with aws:/],
    [{ tags: { team: 7 } }, /^tags\.team must be a string, not 7\.$/],
    [{ tags: { team: 'data<script>' } }, /^tags\.team must have at most 256 letters, digits/],
    [{ maxRowsPerRun: 0 }, /^maxRowsPerRun must be at least 1, not 0\.$/],
    [{ maxRunHours: 25 }, /maxRunHours must be at most 24, not 25/],
    [{ alarmIfNotStartedHours: 169 }, /alarmIfNotStartedHours must be at most 168, not 169/],
    [
      { policies: Array.from({ length: 49 }, (_, at) => ({ ...operation, aspect: `a${at}` })) },
      /^policies must have at most 48 /,
    ],
    [{ subnetIds: [], securityGroupIds: ['sg-0a1b2c3d'] }, /^subnetIds must not be empty\.$/],
    [{ policies: [{ ...operation, owner: '{{ team }}' }] }, /^policy 1 contains {{, which Parameter Store reads/],
    [
      { policies: 'x'.repeat(60), timeZone: '' },
      /^timeZone must not be empty; policies must be an array, not "x+\.{3}$/,
    ],
    [
      {
        policies: [
          { ...operation, entityType: 'a_b', aspect: 'c' },
          { ...operation, entityType: 'A', aspect: 'B_c' },
        ],
      },
      /^policy 2 is for the same index as policy 1 \(A\.B_c\): keep one of them\.$/,
    ],
  ])('with %j is refused in one sentence', (wrong, sentence) => {
    const message = refusal(() => read(wrong));
    expect(message).toMatch(sentence);
    expect(message).not.toContain('\n');
    expect(message.length).toBeLessThan(600);
  });

  test('is refused with all its mistakes at once, of every kind', () => {
    const wrong = { mode: 'x', slackChannelId: 'C0123456789', policies: [operation, operation, { entityType: 'a.b' }] };
    expect(refusal(() => read(wrong)).split('; ')).toEqual([
      expect.stringMatching(/^mode must be/),
      expect.stringMatching(/^slackWorkspaceId is missing/),
      expect.stringMatching(/^policy 2 is for the same index as policy 1/),
      expect.stringMatching(/^policy 3: entityType must be a name/),
      expect.stringMatching(/^policy 3: aspect is missing/),
      expect.stringMatching(/^policy 3: retentionDays is missing/),
    ]);
  });

  test('may have comments, and name its schema for editors', () => {
    const text = given({ $schema: '../../docs/stage.schema.json' }).replace('{', '{ // who may write here?\n');
    expect(readSettings('prod', text).mode).toBe('preview');
    expect(refusal(() => readSettings('prod', `${text} /* without an end`))).toMatch(
      /is not JSON here: unexpected end of comment \(line 2, column \d+\)/,
    );
  });

  test('that is not JSON is refused', () => {
    expect(refusal(() => readSettings('prod', '{\n  "gmsUrl": "https://a.example",\n}'))).toBe(
      'The file has a trailing comma: nothing follows it before } (line 2, column 32).',
    );
  });

  test('that gives a setting twice is refused', () => {
    const text = given({ mode: 'preview' }).replace('{', '{"mode":"enforce",');
    expect(refusal(() => readSettings('prod', text))).toMatch(/^The file has the key "mode" twice in one object/);
  });

  test.each(['Prod', 'prod_eu', '1st', 'a-stage-with-a-very-long-name'])('cannot be called %s', (stage) => {
    expect(refusal(() => read({}, stage))).toMatch(/lower-case letters, digits and hyphens/);
  });

  test.each(['http://10.1.2.3:8080', 'http://[fd00::1]:8080', 'https://datahub.example.com/gms'])(
    'may name %s',
    (gmsUrl) => {
      expect(read({ gmsUrl }).gmsUrl).toBe(gmsUrl);
    },
  );
});

test.each([
  ['tokenParameter', 'eyJhbGciOiJIUzI1NiJ9.c2VjcmV0.c2ln'],
  ['tokenParameter', 'tok_8f3a9c2e7b1d4f60'],
  ['parameterPrefix', 'eyJhbGciOiJIUzI1NiJ9.c2VjcmV0.c2ln'],
  ['gmsUrl', 'https://user:eyJhbGciOiJI@datahub.example.com'],
])('What %s holds is refused without being printed where it looks like a secret: %s', (field, secret) => {
  const message = refusal(() => read({ [field]: secret }));
  expect(message).toContain(field);
  expect(message).not.toMatch(/eyJhbGciOiJI|tok_8f3a9c2e/);
});

const topic = 'arn:aws:sns:eu-central-1:';
const inPrivateNetwork = { subnetIds: ['subnet-0a1b2c3d'], securityGroupIds: ['sg-0a1b2c3d'] };
const warnings = (fields: object) =>
  warningsOf(read({ gmsUrl: 'https://datahub.corp.test/gms', emails: ['team@corp.test'], ...fields })).map(
    ({ id, text }) => `${id}: ${text}`,
  );

describe('A stage that can work, but hardly as it was meant, brings a warning', () => {
  test.each<[fields: object, warning: RegExp]>([
    [{ noIdentity: true }, /^no-identity: No token is sent .* can delete rows, too/],
    [{ gmsUrl: 'http://datahub.corp.test' }, /^plain-http: .* the token can be read in transit/],
    [{ gmsUrl: 'http://datahub-gms.datahub:8080', ...inPrivateNetwork }, /^cluster-host: .* looks like a service and/],
    [{ gmsUrl: 'http://10.1.2.3:8080' }, /^no-network: .* is in a private network, and the functions are in none/],
    [{ gmsUrl: 'https://internal-gms-1.eu-central-1.elb.amazonaws.com' }, /^no-network: /],
    [{ emails: [] }, /^nobody-told: .* no emails, no channel of Slack or Teams, and no topic/],
    [{ policies: [] }, /^no-policy: .* until there is one below \/datahub-retention\/prod\/policies/],
    [{ schedule: 'cron(0 3 ? * SUN *)' }, /^alarm-gap: .* set alarmIfNotStartedHours to at least 168/],
    [
      { schedule: 'cron(30 2 * * ? *)', timeZone: 'Europe/Berlin' },
      /^skipped-time: Nothing starts on \d{4}-03-\d\d: daylight saving in Europe\/Berlin skips 02:30/,
    ],
    [{ gmsUrl: 'https://datahub.example.com/api/gms' }, /^placeholder-gmsUrl: .* has the address of an example/],
    [{ emails: ['team@example.com'] }, /^placeholder-emails-0: .* has the mailbox of an example/],
    [{ topicArn: `${topic}111122223333:alerts` }, /^placeholder-topicArn: .* has the account of an example/],
    [{ tokenParameter: '/datahub/YOUR_TOKEN' }, /^placeholder-tokenParameter: .* has the text of an example/],
    [{ schedule: 'cron(0 3 1 * ? *)' }, /^alarm-gap: .* 744 hours apart: CloudWatch looks back at most 168 hours/],
  ])('%j', (fields, warning) => {
    expect(warnings(fields)).toEqual([expect.stringMatching(warning)]);
  });

  test.each([
    {},
    { gmsUrl: 'https://corp.test/api/gms' },
    { gmsUrl: 'https://datahub.myexample.com' },
    { gmsUrl: 'http://gms.internal.corp.test:8080', ...inPrivateNetwork },
    { gmsUrl: 'http://10.1.2.3:8080', ...inPrivateNetwork },
    { emails: [], slackWorkspaceId: 'T0123456789', slackChannelId: 'C0123456789' },
    {
      emails: [],
      teamsTenantId: '1234abcd-12ab-34cd-56ef-1234567890ab',
      teamsTeamId: 'abcd1234-12ab-34cd-56ef-1234567890ab',
      teamsChannelId: '19%3a0123456789abcdef%40thread.tacv2',
    },
    { emails: [], topicArn: `${topic}222233334444:alerts` },
    { timeZone: 'Europe/Berlin' },
  ])('and one that is well brings none: %j', (fields) => {
    expect(warnings(fields)).toEqual([]);
  });
});
