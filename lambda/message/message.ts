import type { Report } from '../facts/report-schema.ts';
import type { Reader } from '../words/words.ts';

/** What one publish sends: a subject, a text for each protocol, and attributes to filter on. */
export interface Message {
  subject: string;
  /** The report as JSON: for SQS, Lambda, Firehose and any other protocol without its own text. */
  default: string;
  /** Plain text. */
  email: string;
  /** The custom notification of Amazon Q Developer in chat applications, as JSON. */
  https: string;
  /** The subject. */
  sms: string;
  attributes: { stage: string; result: string; mode: string };
}

export interface MessageSettings {
  reader: Reader;
  /** Texts that must not appear in any message: the token in use. */
  secrets?: readonly string[] | undefined;
}

/** The message about one run, from its report alone: texts for people, the report's JSON for machines. */
export declare function messageOf(report: Report, settings: MessageSettings): Message;

/** The `Message` of a publish with `MessageStructure: json`. */
export declare const messageBody: (message: Message) => string;

/** The attributes of a publish, in SNS's format. */
export declare const messageAttributes: (
  message: Message,
) => Record<string, { DataType: string; StringValue: string }>;

/** Bytes that SNS counts: the message, its subject, and name, type and value of every attribute. */
export declare function publishedBytes(message: Message): number;

/**
 * Rule 12, for `notify: problems`: a result that is not ok; something lost, or perhaps lost; something that is asked of
 * somebody; or a person started the run.
 */
export declare function isWorthTelling(report: Report, byHand?: boolean): boolean;
