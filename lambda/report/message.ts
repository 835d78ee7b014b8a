import { redactor } from '../gms/secrets.ts';
import { isNoteProblem } from '../model/note.ts';
import type { Report } from '../model/report-schema.ts';
import { defaultTolerance } from '../truncation/kept.ts';
import type { Audience } from './guide/audience.ts';
import { type Items, itemsOf } from './items.ts';
import type { Context } from './sentences/phrases.ts';
import { contextOf } from './sentences/sentences.ts';
import { mapTexts } from './sentences/text.ts';
import { type KindOfRun, kindOfRun, subjectOf, summaryOf } from './subject.ts';

/** The message about one run: what every destination shows, made once. */
export interface Message extends Items {
  /** Without a secret or a stack trace. */
  report: Report;
  context: Context;
  /** For a mail, a card and a text message. */
  subject: string;
  /** The first word about a run that truncated nothing on purpose. */
  kind: KindOfRun;
  summary: string;
}

interface MessageSettings {
  /** Who reads it: every command is made for where they type. */
  audience: Audience;
  /** Removes the token in use, where there is one, and what looks like one. */
  clean?: (text: string) => string;
}

export function messageOf(uncleaned: Report, { audience, clean = redactor([]) }: MessageSettings): Message {
  const report = cleanReport(uncleaned, clean);
  const context = contextOf(report, audience);
  const items = itemsOf(report, context);
  return {
    ...items,
    report,
    context,
    subject: subjectOf(report, items.problems),
    kind: kindOfRun(report),
    summary: summaryOf(report, items.problems),
  };
}

/** Whether `notify: problems` publishes it (rule 12): a problem, or a run that a person started. */
export const isWorthPublishing = (report: Report, byHand = false): boolean => byHand || isProblem(report);

/** The report with `clean` applied to every text in it; the same object if nothing had to be removed. */
function cleanReport(report: Report, clean: (text: string) => string): Report {
  const cleaned = mapTexts(report, clean, isOwnWord);
  return JSON.stringify(cleaned) === JSON.stringify(report) ? report : cleaned;
}

/**
 * Properties whose values are our own words. A server without authentication takes any token: if the token is
 * `still-running`, that outcome must stay what it is.
 */
export const ownWords: ReadonlySet<string> = new Set([
  ...['kind', 'engine', 'field', 'notVisible', 'outcome', 'result', 'mode', 'by', 'operation', 'sent', 'step'],
  ...['announced', 'method', 'unknown', 'wants', 'certificate', 'what', 'which', 'why', 'work'],
]);

/** Properties that name an index or a task: they were checked when they were read, and are not free text. */
const names = new Set(['entityType', 'aspect', 'index', 'indexName', 'indexBefore', 'indexNow', 'taskId']);

const isOwnWord = (key: string, value: unknown): boolean =>
  typeof value === 'string' &&
  ((ownWords.has(key) && /^[a-z]+(?:-[a-z]+)*$/.test(value)) || (names.has(key) && /^[\w.:-]+$/.test(value)));

/**
 * Whether a report has a problem (rule 12): its result is not ok, something was lost or may be, a person has to do
 * something, or an index was released.
 */
export const isProblem = (report: Report): boolean =>
  report.result !== 'ok' ||
  // After a reindex, or if someone replaced the index, rows may be only in the old index; if someone deleted it, they
  // are gone.
  report.policies.some(
    ({ rowsMissing = 0, rowsNotVisible = 0, method, indexNow, noIndex }) =>
      rowsMissing > defaultTolerance.rows ||
      rowsNotVisible > 0 ||
      method === 'reindex' ||
      indexNow !== undefined ||
      noIndex,
  ) ||
  (report.notes ?? []).some(isNoteProblem);
