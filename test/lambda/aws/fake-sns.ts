import { createServer } from 'node:http';
import { SNSClient } from '@aws-sdk/client-sns';
import { onTestFinished } from 'vitest';
import { listening, textOf } from '../../support/loopback.ts';

/**
 * The part of SNS that the publisher uses: query protocol in, XML out, over real HTTP on loopback, until the test ends.
 * @param answers by action: what is answered instead of success
 */
export async function fakeSns(
  answers: {
    confirmed?: string;
    pending?: string;
    fail?: Record<string, { status: number; code: string; message: string }>;
    /** Actions that are not answered, or whose answer begins and does not end. */
    hang?: Record<string, 'silent' | 'begun'>;
  } = {},
) {
  const calls: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    const call = new URLSearchParams(await textOf(request));
    calls.push(call);
    const action = call.get('Action') ?? '';
    const hanging = answers.hang?.[action];
    if (hanging === 'begun') response.writeHead(200, { 'content-type': 'text/xml' }).write('<');
    if (hanging) return;
    const failure = answers.fail?.[action];
    const [status, xml] = failure
      ? [
          failure.status,
          `<ErrorResponse><Error><Type>Sender</Type><Code>${failure.code}</Code><Message>${failure.message}</Message></Error></ErrorResponse>`,
        ]
      : [200, success(action, answers)];
    response.writeHead(status, { 'content-type': 'text/xml' }).end(xml);
  });
  const { url, close } = await listening(server);
  const client = new SNSClient({
    region: 'eu-central-1',
    endpoint: url,
    credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
    maxAttempts: 1,
  });
  onTestFinished(async () => {
    client.destroy();
    await close();
  });
  /** `publishes`: the parameters of each, in order. */
  return { client, publishes: () => calls.filter((call) => call.get('Action') === 'Publish') };
}

const entryXml = (key: string, value: string) => `<entry><key>${key}</key><value>${value}</value></entry>`;

const success = (
  action: string,
  { confirmed = '2', pending = '0' }: { confirmed?: string; pending?: string },
): string =>
  action === 'Publish'
    ? '<PublishResponse><PublishResult><MessageId>m-1</MessageId></PublishResult></PublishResponse>'
    : `<GetTopicAttributesResponse><GetTopicAttributesResult><Attributes>${entryXml('SubscriptionsConfirmed', confirmed)}${entryXml('SubscriptionsPending', pending)}</Attributes></GetTopicAttributesResult></GetTopicAttributesResponse>`;
