import { redactor } from '../gms/secrets.ts';
import type { NoteKind } from '../model/note.ts';
import type { Report } from '../model/report-schema.ts';
import { mailOf, plainLine } from './mail.ts';
import type { Line } from './render.ts';
import type { Audience } from './sentences/audience.ts';
import { contextOf, textOfNote } from './sentences/sentences.ts';
import { mapTexts, oneLine, safeJson } from './sentences/text.ts';
import { shorten } from './shorten.ts';
import { slackOf } from './slack.ts';
import { subjectOf } from './subject.ts';

/** What one publish sends: a subject, a text for each protocol, and attributes to filter on. */
export interface Message {
  subject: string;
  /** The report as JSON: for SQS, Lambda, Firehose and any other protocol without its own text. */
  default: string;
  /** Plain text, and its lines for a screen. */
  email: string;
  lines: readonly Line[];
  /** The custom notification of Amazon Q Developer in chat applications, as JSON. */
  https: string;
  /** The subject. */
  sms: string;
  attributes: { stage: string; result: string; mode: string };
}

interface MessageSettings {
  /** Who reads it: every command is made for where they type. */
  audience: Audience;
  /** Removes the token in use, where there is one, and what looks like one. */
  clean?: (text: string) => string;
}

/** SNS takes 262,144 bytes of message and attributes; the rest is room for the request around them. */
const maxPublishedBytes = 260_000;

/**
 * The message about one run, from its report alone: texts for people, the report's JSON for machines. The JSON is
 * exactly the report, unless that had to be shortened (a note in it says so) or contained a secret or a stack trace.
 */
export function messageOf(report: Report, { audience, clean = redactor([]) }: MessageSettings): Message {
  const cleaned = cleanReport(report, clean);
  const context = contextOf(cleaned, audience);
  const subject = subjectOf(cleaned, context);
  const lines = mailOf(cleaned, context);
  const people = {
    subject,
    lines,
    email: lines.map(plainLine).join('\n'),
    https: safeJson(slackOf(cleaned, context)),
    sms: subject,
    attributes: { stage: oneLine(cleaned.stage, 100) || 'unnamed', result: cleaned.result, mode: cleaned.mode },
  };
  const withJson = (candidate: Report): Message => ({ ...people, default: safeJson(candidate) });
  const fits = (candidate: Report) => publishedBytes(withJson(candidate)) <= maxPublishedBytes;
  return withJson(shorten(cleaned, fits, (note) => textOfNote(note, context)));
}

/**
 * Rule 12, for `notify: problems`: a result that is not ok; something lost, or perhaps lost; something that a person has
 * to do; a release, by whichever run; or a person started the run.
 */
export const isWorthPublishing = (report: Report, byHand = false): boolean => byHand || isProblem(report);

/** The `Message` of a publish with `MessageStructure: json`. */
export const messageBody = ({ default: json, email, https, sms }: Message): string =>
  safeJson({ default: json, email, https, sms });

/** The attributes of a publish, in SNS's format. */
export const messageAttributes = ({ attributes }: Message) =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, { DataType: 'String', StringValue: value }]),
  );

/** Bytes that SNS counts: the message, its subject, and name, type and value of every attribute. */
export function publishedBytes(message: Message): number {
  const attributes = Object.entries(message.attributes).map(([name, value]) => `${name}String${value}`);
  return Buffer.byteLength([messageBody(message), message.subject, ...attributes].join(''));
}

/** The report with `clean` applied to every text in it; the same object if nothing had to be removed. */
export function cleanReport(report: Report, clean: (text: string) => string): Report {
  const cleaned = mapTexts(report, clean, isOwnWord);
  return JSON.stringify(cleaned) === JSON.stringify(report) ? report : cleaned;
}

/**
 * Properties whose values are our own words. A server without authentication takes any token: if the token is
 * `still-running`, that outcome must stay what it is.
 */
export const ownWords: ReadonlySet<string> = new Set([
  ...[
    'kind',
    'outcome',
    'result',
    'mode',
    'by',
    'operation',
    'sent',
    'step',
    'announced',
    'method',
    'unknown',
    'wants',
  ],
  ...['what', 'which', 'why', 'work'],
]);

/** Properties that name an index or a task: they were checked when they were read, and are not free text. */
const names = new Set(['entityType', 'aspect', 'index', 'indexName', 'indexBefore', 'indexNow', 'taskId']);

const isOwnWord = (key: string, value: unknown): boolean =>
  typeof value === 'string' &&
  ((ownWords.has(key) && /^[a-z]+(?:-[a-z]+)*$/.test(value)) || (names.has(key) && /^[\w.:-]+$/.test(value)));

/** Notes that need no person: they only say how the run went. */
const quietNotes: readonly NoteKind[] = ['no-date-header', 'field-refused', 'paused', 'other-address', 'shortened'];

/**
 * Whether this report reaches people who have subscribed only to problems (rule 12): a result is not ok, something was
 * lost or may be, or a person has to do something. A report that is not sent informs nobody. (If a person started the
 * run, they always get it.)
 */
export const isProblem = (report: Report): boolean =>
  report.result !== 'ok' ||
  // After a reindex, or if someone replaced the index, rows may be only in the old index; if someone deleted it, they
  // are gone.
  report.policies.some(
    ({ rowsMissing = 0, method, indexNow, noIndex }) =>
      rowsMissing > 0 || method === 'reindex' || indexNow !== undefined || noIndex,
  ) ||
  (report.notes ?? []).some((note) => !quietNotes.includes(note.kind) || (note.kind === 'paused' && note.problem));
