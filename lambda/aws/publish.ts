import { GetTopicAttributesCommand, PublishCommand, SNSClient, type SNSClientConfig } from '@aws-sdk/client-sns';
import type { Report } from '../model/report-schema.ts';
import type { Audience } from '../report/guide/audience.ts';
import { isWorthPublishing, messageOf } from '../report/message.ts';
import { oneLine } from '../report/sentences/text.ts';
import type { Log, Publisher, Subscriptions } from '../run/services.ts';
import { isThrottling, timeouts } from './calls.ts';
import { type SnsMessage, snsMessage, type TopicFormats } from './sns-message.ts';

interface SnsPublisherOptions {
  client: SNSClient;
  topicArn: string;
  /** `problems`: only what rule 12 wants published. */
  notify: 'always' | 'problems';
  formats: TopicFormats;
  log: Log;
  /** Who reads it, and where they type: the commands in it are made for that place. */
  audience: Audience;
  /** How long SNS may take in all, milliseconds, so that the function can still log the reason before its time ends. */
  timeoutMillis: number;
}

/** For the count of subscriptions; only a preview's message waits for it. */
const countingMillis = 3000;

export const snsClient = (config: SNSClientConfig = {}): SNSClient =>
  new SNSClient({ maxAttempts: 3, requestHandler: timeouts(10_000), ...config });

export class PublishError extends Error {
  override readonly name = 'PublishError';
}

/**
 * Publishes a report to SNS, once per call; the SDK's own retries may make it arrive twice, with the same run id.
 * `publish` throws PublishError if SNS does not accept it. A topic without confirmed subscriptions is logged and
 * counted, but is not a failure: SQS and Lambda subscribers confirm automatically, but people may not have clicked yet.
 * Assumed: topic-has-readers.
 */
export function snsPublisher(options: SnsPublisherOptions): Publisher {
  return {
    subscriptions: () => countSubscriptions(options),
    async publish(report, byHand = false) {
      if (options.notify === 'problems' && !isWorthPublishing(report, byHand)) {
        options.log.info('not published: the result is ok, and this stage reports problems only', {
          result: report.result,
        });
      } else {
        const message = messageOf(report, { audience: options.audience });
        await send(options, report, snsMessage(message, options.formats));
      }
      return true;
    },
  };
}

async function send(
  { client, topicArn, log, timeoutMillis }: SnsPublisherOptions,
  report: Report,
  { subject, body, attributes }: SnsMessage,
): Promise<void> {
  try {
    const { MessageId } = await client.send(
      new PublishCommand({
        TopicArn: topicArn,
        Subject: subject,
        MessageStructure: 'json',
        Message: body,
        MessageAttributes: attributes,
      }),
      { abortSignal: AbortSignal.timeout(timeoutMillis) },
    );
    log.info('report published', { messageId: MessageId, result: report.result });
  } catch (error) {
    throw new PublishError(
      `The report of run ${report.runId} could not be published to ${topicArn}: ${errorText(error)}. ` +
        remedyOf((error as Partial<Error>).name ?? ''),
    );
  }
}

const remedyOf = (name: string): string =>
  isThrottling(name) || /Internal|Abort|Timeout/.test(name)
    ? 'SNS does not take it for now; a later try may succeed.'
    : 'Check that the topic exists and that the Report function may publish to it (sns:Publish, and its key where it is encrypted).';

async function countSubscriptions({ client, topicArn, log }: SnsPublisherOptions): Promise<Subscriptions | undefined> {
  let confirmed: number;
  let pending: number;
  try {
    const { Attributes } = await client.send(new GetTopicAttributesCommand({ TopicArn: topicArn }), {
      abortSignal: AbortSignal.timeout(countingMillis),
    });
    confirmed = Number.parseInt(Attributes?.['SubscriptionsConfirmed'] ?? '', 10);
    pending = Number.parseInt(Attributes?.['SubscriptionsPending'] ?? '', 10) || 0;
  } catch (error) {
    log.warn(`the topic's subscriptions could not be counted: ${errorText(error)}`);
    return undefined;
  }
  if (Number.isNaN(confirmed)) {
    log.warn('the topic does not say how many subscriptions are confirmed');
    return undefined;
  }
  if (confirmed === 0) {
    log.warn(
      'nobody is notified of this run: the topic has no confirmed subscription; confirm the one in the email from AWS Notifications, or subscribe someone',
      { topicArn },
    );
  }
  return { confirmed, pending };
}

const errorText = (error: unknown): string =>
  error instanceof Error ? oneLine(`${error.name}: ${error.message}`, 300).replace(/\.$/, '') : 'no reason given';
