import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SNSClient } from '@aws-sdk/client-sns';

/** The part of SNS that the publisher uses: query protocol in, XML out, over real HTTP on loopback. */
export interface FakeSns {
  client: SNSClient;
  /** The parameters of every call, in order. */
  calls: URLSearchParams[];
  publishes(): URLSearchParams[];
  stop(): Promise<void>;
}

/** @param answers by action: what is answered instead of success */
export async function fakeSns(
  answers: { confirmed?: string; fail?: Record<string, { status: number; code: string; message: string }> } = {},
): Promise<FakeSns> {
  const calls: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const call = new URLSearchParams(body);
    calls.push(call);
    const action = call.get('Action') ?? '';
    const failure = answers.fail?.[action];
    const [status, xml] = failure
      ? [
          failure.status,
          `<ErrorResponse><Error><Type>Sender</Type><Code>${failure.code}</Code><Message>${failure.message}</Message></Error></ErrorResponse>`,
        ]
      : [200, success(action, answers.confirmed ?? '2')];
    response.writeHead(status, { 'content-type': 'text/xml' }).end(xml);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new SNSClient({
    region: 'eu-central-1',
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
    maxAttempts: 1,
  });
  return {
    client,
    calls,
    publishes: () => calls.filter((call) => call.get('Action') === 'Publish'),
    async stop() {
      client.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const success = (action: string, confirmed: string): string =>
  action === 'Publish'
    ? '<PublishResponse><PublishResult><MessageId>m-1</MessageId></PublishResult></PublishResponse>'
    : `<GetTopicAttributesResponse><GetTopicAttributesResult><Attributes><entry><key>SubscriptionsConfirmed</key><value>${confirmed}</value></entry></Attributes></GetTopicAttributesResult></GetTopicAttributesResponse>`;
