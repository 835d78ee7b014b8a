import { describe, expect, it } from 'vitest';
import { PublishError, snsPublisher } from '../../../lambda/aws/publish.ts';
import type { TopicFormats } from '../../../lambda/aws/sns-message.ts';
import { serverAddress } from '../../../lambda/gms/http/base-url.ts';
import type { Report, ReportData } from '../../../lambda/model/report-schema.ts';
import type { Mode } from '../../../lambda/model/run-input.ts';
import { serialize } from '../../../lambda/report/destination.ts';
import { destinations } from '../../../lambda/report/destinations/registry.ts';
import { messageOf } from '../../../lambda/report/message.ts';
import { withSentences } from '../../../lambda/report/sentences/sentences.ts';
import { report } from '../../../lambda/run/report.ts';
import type { RunSettings, Subscriptions } from '../../../lambda/run/services.ts';
import { anEntry, aReport } from '../../support/reports.ts';
import { aRunState } from '../../support/states.ts';
import { fakeSns } from './fake-sns.ts';

const topicArn = 'arn:aws:sns:eu-central-1:111122223333:datahub-retention-prod';
const usual = { default: 'json', email: 'mail', https: 'amazon-q' } as const;
const audience = { kind: 'aws', parameterPrefix: '/datahub-retention/prod' } as const;

const well = aReport([anEntry('truncated', { kind: 'verified' }, { rowsDeleted: 9 })]);
const missing = { kind: 'missing', expected: 9000, found: 4500 } as const;
const troubled = aReport([anEntry('rows-missing', missing, { rowsMissing: 4500 })]);

function logOf() {
  const logged: string[] = [];
  const keep = (level: string) => (message: string) => {
    logged.push(`${level}: ${message}`);
  };
  return { logged, log: { info: keep('info'), warn: keep('warn'), error: keep('error') } };
}

let sns: Awaited<ReturnType<typeof fakeSns>>;

async function publish(
  report: Report,
  answers: Parameters<typeof fakeSns>[0] = {},
  {
    notify = 'always',
    byHand = false,
    timeoutMillis = 10_000,
    formats = usual,
  }: { notify?: 'always' | 'problems'; byHand?: boolean; timeoutMillis?: number; formats?: TopicFormats } = {},
) {
  sns = await fakeSns(answers);
  const { logged, log } = logOf();
  const publisher = snsPublisher({ client: sns.client, topicArn, notify, formats, audience, log, timeoutMillis });
  const error = await publisher.publish(report, byHand).then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  return { error, logged };
}

describe('the SNS publisher', () => {
  it('sends one message with subject, a text per protocol and attributes', async () => {
    const { error, logged } = await publish(troubled);
    expect(error).toBeUndefined();
    const [call, ...others] = sns.publishes();
    expect(others).toEqual([]);
    const expected = messageOf(troubled, { audience });
    expect(call?.get('TopicArn')).toBe(topicArn);
    expect(call?.get('Subject')).toBe(expected.subject);
    expect(call?.get('MessageStructure')).toBe('json');
    const body = JSON.parse(call?.get('Message') ?? '');
    expect(body).toEqual({
      default: serialize(destinations.json.render(expected)),
      email: serialize(destinations.mail.render(expected)),
      https: serialize(destinations['amazon-q'].render(expected)),
      sms: expected.subject,
    });
    expect(JSON.parse(body.default).runId).toBe(troubled.runId);
    const attribute = (at: number, part: string) => call?.get(`MessageAttributes.entry.${at}.${part}`);
    expect([1, 2, 3].map((at) => [attribute(at, 'Name'), attribute(at, 'Value.StringValue')])).toEqual([
      ['stage', 'prod'],
      ['result', 'failed'],
      ['mode', 'enforce'],
    ]);
    expect(logged).toEqual(['info: report published']);
  });

  it('sends each protocol the format that the stage names for it', async () => {
    await publish(troubled, {}, { formats: { default: 'slack', email: 'json', https: 'teams' } });
    const { slack, json, teams } = destinations;
    const expected = messageOf(troubled, { audience });
    expect(JSON.parse(sns.publishes()[0]?.get('Message') ?? '')).toEqual({
      default: serialize(slack.render(expected)),
      email: serialize(json.render(expected)),
      https: serialize(teams.render(expected)),
      sms: expected.subject,
    });
  });

  it('fails in a sentence when SNS does not take the report', async () => {
    const { error } = await publish(troubled, {
      fail: { Publish: { status: 403, code: 'AuthorizationError', message: 'not authorized to perform SNS:Publish' } },
    });
    expect(error).toBeInstanceOf(PublishError);
    expect(error?.name).toBe('PublishError');
    expect(error?.message).toMatch(
      /^The report of run nightly-2026-08-14 could not be published to arn:aws:sns:.*AuthorizationError.*: not authorized to perform SNS:Publish\. Check that/,
    );
    expect(error?.message).not.toContain('\n');
  });

  it.each(['silent', 'begun'] as const)(
    'ends by itself and says why where the answer of SNS is %s',
    async (Publish) => {
      const { error } = await publish(troubled, { hang: { Publish } }, { timeoutMillis: 50 });
      expect(error).toBeInstanceOf(PublishError);
      expect(error?.message).toMatch(
        /could not be published to arn:aws:sns:\S+: AbortError: .*\. SNS does not take it for now/,
      );
    },
  );

  it('does not publish a good run if only problems are wanted, and logs that', async () => {
    const { error, logged } = await publish(well, {}, { notify: 'problems' });
    expect(error).toBeUndefined();
    expect(sns.publishes()).toEqual([]);
    expect(logged).toEqual([expect.stringMatching(/^info: not published: the result is ok/)]);
  });

  it.each([
    ['a run with problems', troubled, false],
    ['a good run that a person started', well, true],
  ])('publishes %s if only problems are wanted', async (_, report, byHand) => {
    await publish(report, {}, { notify: 'problems', byHand });
    expect(sns.publishes()).toHaveLength(1);
  });
});

/** Report, with a topic whose subscriptions are so. */
async function reported(mode: Mode, answers: Parameters<typeof fakeSns>[0], notify: 'always' | 'problems' = 'always') {
  sns = await fakeSns(answers);
  const { logged, log } = logOf();
  const counted: (number | undefined)[] = [];
  const publisher = snsPublisher({
    client: sns.client,
    topicArn,
    notify,
    formats: usual,
    audience,
    log,
    timeoutMillis: 10_000,
  });
  const settings = { stage: 'prod', gmsUrl: 'http://gms:8080', mode } as RunSettings;
  const input = { ...aRunState([], { mode }), stage: 'prod', server: serverAddress(settings.gmsUrl) };
  const execution = { name: 'run-1', startTime: '2026-03-01T03:30:01.000Z' };
  const clock = { now: () => Date.parse('2026-03-01T03:40:00.000Z') };
  const count = (_: Report, subscriptions?: Subscriptions) => counted.push(subscriptions?.confirmed);
  const services = {
    settings,
    clock,
    log,
    publisher,
    addSentences: (facts: ReportData) => withSentences(facts, audience),
    count,
  };
  await report({ input, execution, retry: { count: 0, last: 5 } }, services);
  const message = sns.publishes()[0]?.get('Message');
  const { notes = [] }: Partial<Report> = message ? JSON.parse(JSON.parse(message).default) : {};
  return { logged, counted, texts: notes.map(({ text }) => text) };
}

describe('who is subscribed to the topic', () => {
  it('is a metric of the stage', async () => {
    const { counted, logged } = await reported('enforce', { confirmed: '3' });
    expect(counted).toEqual([3]);
    expect(logged.join()).not.toContain('warn');
  });

  it('is nobody: log, metric and the notes of a preview say so, and the message is published all the same', async () => {
    const { counted, logged, texts } = await reported('preview', { confirmed: '0', pending: '1' });
    expect(logged.join()).toContain('warn: nobody is notified of this run: the topic has no confirmed subscription');
    expect(counted).toEqual([0]);
    expect(texts.join()).toContain(
      'Nobody receives the messages of this stage: its topic has no confirmed subscription.',
    );
  });

  it('is not everybody who was asked: a preview tells those who get it', async () => {
    const { texts } = await reported('preview', { confirmed: '1', pending: '2' });
    expect(texts.join()).toContain('2 subscriptions of the topic are not confirmed: no message arrives there.');
  });

  it.each([
    ['enforce', { confirmed: '1', pending: '2' }],
    ['preview', { confirmed: '2' }],
  ] as const)('is no note of a run: %s, %j', async (mode, answers) => {
    expect((await reported(mode, answers)).texts.join()).not.toContain('confirmed');
  });

  it('is counted also for a run that is not published', async () => {
    const { counted } = await reported('enforce', { confirmed: '0' }, 'problems');
    expect(counted).toEqual([0]);
    expect(sns.publishes()).toEqual([]);
  });

  it.each([
    ['may not be read', { fail: { GetTopicAttributes: { status: 403, code: 'AuthorizationError', message: 'no' } } }],
    ['is not told', { confirmed: '' }],
  ])('%s: the message is published all the same', async (_, answers) => {
    const { logged, counted, texts } = await reported('preview', answers);
    expect(texts.join()).not.toContain('confirmed');
    expect(sns.publishes()).toHaveLength(1);
    expect(logged.join()).toMatch(/warn: the topic/);
    expect(counted).toEqual([undefined]);
  });
});
