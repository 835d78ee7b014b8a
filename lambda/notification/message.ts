import type { Report } from '../facts/report-schema.ts';
import { redactor } from '../facts/secrets.ts';
import { oneLine, safeJson } from '../facts/text.ts';
import type { MessageContext } from './context.ts';
import { email } from './email/email.ts';
import { shorten } from './shorten.ts';
import { customNotification } from './slack/slack.ts';
import { subject } from './subject.ts';

export type { MessageContext } from './context.ts';

/** What one publish sends: a subject, a text per protocol, and attributes to filter on. */
export interface ComposedMessage {
  subject: string;
  /** The report, as JSON: for SQS, Lambda, Firehose and any other protocol without its own text. */
  default: string;
  /** Plain text. */
  email: string;
  /** The custom notification of Amazon Q Developer in chat applications, as JSON. */
  https: string;
  /** The subject. */
  sms: string;
  attributes: { stage: string; result: string; mode: string };
}

/** SNS takes 262,144 bytes of message and attributes; the rest is room for the request around them. */
export const maxPublishedBytes = 260_000;

/** The most that people read in an email. */
const maxMailCharacters = 24_000;

/**
 * The message about one run, from its report alone: texts for people, the report's JSON for machines. JSON is the
 * report exactly, unless it has to be shortened (a note in it says so) or contained a secret or a stack trace.
 */
export function composeMessage(report: Report, context: MessageContext = {}): ComposedMessage {
  const cleaned = cleanReport(report, redactor(context.secrets ?? []));
  const head = subject(cleaned);
  const people = {
    subject: head,
    email: email(cleaned, context, maxMailCharacters),
    sms: head,
    https: safeJson(customNotification(cleaned, context)),
    attributes: { stage: oneLine(cleaned.stage, 100) || 'unnamed', result: cleaned.result, mode: cleaned.mode },
  };
  const withJson = (candidate: Report): ComposedMessage => ({ ...people, default: safeJson(candidate) });
  return withJson(shorten(cleaned, (candidate) => publishedBytes(withJson(candidate)) <= maxPublishedBytes));
}

/** The `Message` of a publish with `MessageStructure: json`. */
export const messageBody = ({ default: json, email, https, sms }: ComposedMessage): string =>
  safeJson({ default: json, email, https, sms });

/** The attributes of a publish, in SNS's format. */
export const messageAttributes = ({ attributes }: ComposedMessage) =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, { DataType: 'String', StringValue: value }]),
  );

/** Bytes that SNS counts: the message, its subject, and name, type and value of every attribute. */
export function publishedBytes(message: ComposedMessage): number {
  const attributes = Object.entries(message.attributes).map(([name, value]) => `${name}String${value}`);
  return Buffer.byteLength([messageBody(message), message.subject, ...attributes].join(''));
}

/** The report with `clean` applied to every text in it; the same object if nothing had to be removed. */
export function cleanReport(report: Report, clean: (text: string) => string): Report {
  const cleaned = mapTexts(report, clean);
  return JSON.stringify(cleaned) === JSON.stringify(report) ? report : (cleaned as Report);
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), mapTexts(item, change)]));
}
