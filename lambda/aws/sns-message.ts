import * as z from 'zod';
import { type Destination, serialize } from '../report/destination.ts';
import { destinationNames, destinations } from '../report/destinations/registry.ts';
import type { Message } from '../report/message.ts';
import { oneLine, safeJson } from '../report/sentences/text.ts';

const format = z.enum(destinationNames);

/** What subscribers of each protocol get; `default` is for SQS, Lambda, Firehose and every other one but SMS. */
export const topicFormats = z.object({ default: format, email: format, https: format });

export type TopicFormats = z.infer<typeof topicFormats>;

export interface SnsMessage {
  subject: string;
  /** The `Message` of a publish with `MessageStructure: json`. */
  body: string;
  /** To filter on, in SNS's format. */
  attributes: Record<string, { DataType: 'String'; StringValue: string }>;
}

/** SNS takes 262,144 bytes of message and attributes; the rest is room for the request around them. */
const maxPublishedBytes = 260_000;

/** One publish: a text for each protocol. Where they are too long together, what can be shortened is. */
export function snsMessage(message: Message, formats: TopicFormats): SnsMessage {
  const { subject, report } = message;
  const { stage, result, mode } = report;
  const attributes = { stage: oneLine(stage, 100) || 'unnamed', result, mode };
  const asPublished = (texts: Record<string, string>): SnsMessage => ({
    subject,
    body: safeJson({ ...texts, sms: subject }),
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [name, { DataType: 'String', StringValue: value }]),
    ),
  });
  const fits = (texts: Record<string, string>) => publishedBytes(asPublished(texts)) <= maxPublishedBytes;
  const chosen = Object.entries(formats).map(([protocol, name]): [string, Destination] => [
    protocol,
    destinations[name],
  ]);
  let texts = Object.fromEntries(chosen.map(([protocol, { render }]) => [protocol, serialize(render(message))]));
  for (const [protocol, { render }] of chosen) {
    if (fits(texts)) break;
    const others = texts;
    const body = render(message, (candidate) => fits({ ...others, [protocol]: serialize(candidate) }));
    texts = { ...others, [protocol]: serialize(body) };
  }
  return asPublished(texts);
}

/** Bytes that SNS counts: the message, its subject, and name, type and value of every attribute. */
export function publishedBytes({ subject, body, attributes }: SnsMessage): number {
  const texts = Object.entries(attributes).map(([name, value]) => `${name}${value.DataType}${value.StringValue}`);
  return Buffer.byteLength([body, subject, ...texts].join(''));
}
