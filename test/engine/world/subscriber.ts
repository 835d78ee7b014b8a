import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { PolicyEntry, Report } from '../../../lambda/facts/report-schema.ts';
import { messageOf } from '../../../lambda/message/message.ts';

/** The receiver of the job's messages. Whatever a report says, it informs nobody if no subscriber received it. */
export interface Subscriber {
  url: string;
  /** The last message since the previous call. */
  taken(): Published | undefined;
  close(): Promise<void>;
}

export interface Published {
  /** The index's entry. */
  entry?: PolicyEntry;
  /** The message as in an email. */
  text: string;
}

export async function openSubscriber(): Promise<Subscriber> {
  let last: Published | undefined;
  const server = createServer(async (request, response) => {
    const report = JSON.parse(await text(request)) as Report;
    const entry = report.policies[0];
    last = {
      ...(entry && { entry }),
      text: messageOf(report, { reader: { kind: 'machine', program: 'datahub-retention' } }).email,
    };
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    taken() {
      const taken = last;
      last = undefined;
      return taken;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
