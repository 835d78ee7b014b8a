import { afterEach, describe, expect, it } from 'vitest';
import { PublishError, snsPublisher } from '../../../lambda/aws/publish.ts';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import { messageOf } from '../../../lambda/message/message.ts';
import { anEntry, aReport } from './a-report.ts';
import { type FakeSns, fakeSns } from './fake-sns.ts';

const topicArn = 'arn:aws:sns:eu-central-1:111122223333:datahub-retention-prod';
const reader = { kind: 'aws', stage: 'prod', parameterPrefix: '/datahub-retention/prod' } as const;

const well = aReport([anEntry('truncated', { cause: { kind: 'verified' }, rowsDeleted: 9 })]);
const missing = { kind: 'missing', expected: 9000, found: 4500 } as const;
const troubled = aReport([anEntry('rows-missing', { cause: missing, rowsMissing: 4500 })]);

let sns: FakeSns;
afterEach(() => sns.stop());

async function publish(
  report: Report,
  answers: Parameters<typeof fakeSns>[0] = {},
  { notify = 'always', byHand = false }: { notify?: 'always' | 'problems'; byHand?: boolean } = {},
) {
  sns = await fakeSns(answers);
  const logged: string[] = [];
  const written: string[] = [];
  const keep = (level: string) => (message: string) => {
    logged.push(`${level}: ${message}`);
  };
  const publisher = snsPublisher({
    client: sns.client,
    topicArn,
    notify,
    reader,
    log: { info: keep('info'), warn: keep('warn'), error: keep('error') },
    writeLine: (line) => written.push(line),
  });
  const error = await publisher.publish(report, byHand).then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  return { error, logged, written };
}

describe('the SNS publisher', () => {
  it('sends one message with subject, a text per protocol and attributes', async () => {
    const { error, logged } = await publish(troubled);
    expect(error).toBeUndefined();
    const [call, ...others] = sns.publishes();
    expect(others).toEqual([]);
    const expected = messageOf(troubled, { reader });
    expect(call?.get('TopicArn')).toBe(topicArn);
    expect(call?.get('Subject')).toBe(expected.subject);
    expect(call?.get('MessageStructure')).toBe('json');
    const body = JSON.parse(call?.get('Message') ?? '');
    expect(body).toEqual({
      default: expected.default,
      email: expected.email,
      https: expected.https,
      sms: expected.subject,
    });
    expect(JSON.parse(body.default).runId).toBe('run-1');
    const attributes = Object.fromEntries(
      [1, 2, 3].map((at) => [
        call?.get(`MessageAttributes.entry.${at}.Name`),
        [
          call?.get(`MessageAttributes.entry.${at}.Value.DataType`),
          call?.get(`MessageAttributes.entry.${at}.Value.StringValue`),
        ],
      ]),
    );
    expect(attributes).toEqual({
      stage: ['String', 'prod'],
      result: ['String', 'failed'],
      mode: ['String', 'enforce'],
    });
    expect(logged).toEqual(['info: report published']);
  });

  it('fails in a sentence when SNS does not take the report', async () => {
    const { error } = await publish(troubled, {
      fail: { Publish: { status: 403, code: 'AuthorizationError', message: 'not authorized to perform SNS:Publish' } },
    });
    expect(error).toBeInstanceOf(PublishError);
    expect(error?.name).toBe('PublishError');
    expect(error?.message).toMatch(
      /^The report of run run-1 could not be published to arn:aws:sns:.*AuthorizationError.*: not authorized to perform SNS:Publish\. Check that/,
    );
    expect(error?.message).not.toContain('\n');
  });

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

  it('counts confirmed subscriptions as a metric of the stage', async () => {
    const { written, logged } = await publish(well, { confirmed: '3' });
    expect(written.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ stage: 'prod', ConfirmedSubscriptions: 3 }),
    ]);
    expect(logged.join()).not.toContain('warn');
  });

  it('reports in log and metric that there is no subscription, and publishes all the same', async () => {
    const { written, logged } = await publish(well, { confirmed: '0' });
    expect(logged[0]).toMatch(/^warn: nobody is notified of this run: the topic has no confirmed subscription/);
    expect(JSON.parse(written[0]!)).toMatchObject({ ConfirmedSubscriptions: 0 });
    expect(sns.publishes()).toHaveLength(1);
  });

  it('counts subscriptions also for a run that is not published', async () => {
    const { written } = await publish(well, { confirmed: '0' }, { notify: 'problems' });
    expect(written).toHaveLength(1);
  });

  it.each([
    ['may not be read', { fail: { GetTopicAttributes: { status: 403, code: 'AuthorizationError', message: 'no' } } }],
    ['are not told', { confirmed: '' }],
  ])('publishes when the subscriptions %s', async (_, answers) => {
    const { error, logged, written } = await publish(well, answers);
    expect(error).toBeUndefined();
    expect(sns.publishes()).toHaveLength(1);
    expect(logged[0]).toMatch(/^warn: the topic/);
    expect(written).toEqual([]);
  });
});
