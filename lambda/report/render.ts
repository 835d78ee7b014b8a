import { schedule } from '../model/asked-by.ts';
import { maxUnmanaged, type Report } from '../model/report-schema.ts';
import type { Command } from './guide/audience.ts';
import type { Section } from './guide/runbook.ts';
import { countsOf, type Item, urgencyLine } from './items.ts';
import type { Message } from './message.ts';
import { counted, duration, moment, size } from './sentences/numbers.ts';
import { asSentence, type Context, joined, nameOf, withPeriod } from './sentences/phrases.ts';
import { clip, oneLine } from './sentences/text.ts';
import { lateNotice } from './subject.ts';

/** The text of a message: the same items in the same order for every destination, as far as each has room. */

/** One line of a message. A command stays whole, so that it can be pasted. */
export interface Line {
  kind: 'heading' | 'text' | 'command' | 'blank';
  text: string;
}

/** How one form marks its texts, and how much of them it has room for. */
export interface Form {
  /** Any text, put on one line of at most `max` characters and escaped for this form. */
  plain(text: string, max: number): string;
  /** A command with the line that says what it does; no lines where none are shown. */
  command(command: Command): Line[];
  /** Where people find a section of the runbook. */
  runbook(section: Section, context: Context): string;
  /** Characters of each part. */
  room: Readonly<Record<'head' | 'why' | 'owner' | 'next' | 'remark', number>>;
  /** How many of these are shown at most; above `fine`, indices without a problem are counted. */
  max: Readonly<Record<'problems' | 'links' | 'fine' | 'remarks', number>>;
  /** Whether the text has room for all of these lines, the last of which belong to `part`. */
  fits(lines: readonly Line[], part: Part): boolean;
  /** Characters left, beside these lines, for the names of problems that had no room. */
  left(lines: readonly Line[]): number;
}

const blank: Line = { kind: 'blank', text: '' };
export const textLine = (text: string): Line => ({ kind: 'text', text });
const heading = (text: string): Line => ({ kind: 'heading', text });

/** @returns the worst first; every index with a problem is named */
export function render(message: Message, form: Form): Line[] {
  const changed = changes(message, form);
  const first = [heading(opening(message, form)), blank, ...(changed.length > 0 ? [...changed, blank] : [])];
  const last = textLine(runLine(message.report, form));
  const lines = [...first, ...problems(message, [...first, last], form)];
  const add = (more: readonly string[]) => {
    for (const line of more.map(textLine)) if (form.fits([...lines, line, last], 'rest')) lines.push(line);
  };
  for (const part of [fine(message, form), unread(message, form), remarks(message, form)]) {
    add(part);
    if (part.length > 0) lines.push(blank);
  }
  add(hints(message, form));
  return [...lines, last];
}

function opening({ report, kind, problems, summary }: Message, form: Form): string {
  const which = [oneLine(report.stage, 60) || 'unnamed', hostOf(report.server)]
    .filter((part) => part !== '')
    .join(', ');
  const late = lateNotice(report);
  return form.plain(
    joined(
      late !== '' && `${late}; look at status first.`,
      report.mode === 'preview' ? `${kind}, nothing was deleted.` : withPeriod(kind),
      `${which}.`,
      problems.length > 0 ? urgencyLine(problems) : asSentence(summary),
    ),
    500,
  );
}

function hostOf(server: string | undefined): string {
  if (server === undefined) return '';
  return oneLine(URL.canParse(server) ? new URL(server).host : server, 100);
}

type Part = 'problem' | 'line' | 'rest';

/** Full paragraphs while there is room, then lines, then names. */
function problems(
  { problems, coveredByError, context }: Pick<Message, 'problems' | 'coveredByError' | 'context'>,
  around: readonly Line[],
  form: Form,
): Line[] {
  const lines: Line[] = [];
  const namesLeft = [...coveredByError];
  let part: Part = 'problem';
  problems.forEach((item, at) => {
    const { head, rest } = headOf(item, form);
    const coming = [...namesLeft, ...rest, ...problems.slice(at + 1).flatMap(namesOf)];
    const fits = (more: readonly Line[]) =>
      form.fits([...around, ...lines, ...more, textLine(namesLine(coming, minNameLength))], part);
    if (part === 'problem') {
      const full = [...paragraph(item, head, at, context, form), blank];
      const isAmongFew = at < form.max.problems && problems.length <= 2 * form.max.problems;
      if (at === 0 || (isAmongFew && fits(full))) {
        lines.push(...full);
        namesLeft.push(...rest);
        return;
      }
      part = 'line';
    }
    const line = textLine(`- ${form.plain(head, form.room.head)}`);
    if (part === 'line' && fits([line])) {
      lines.push(line);
      namesLeft.push(...rest);
      return;
    }
    part = 'rest';
    namesLeft.push(...namesOf(item));
  });
  const room = form.left([...around, ...lines]);
  if (namesLeft.length > 0) lines.push(textLine(form.plain(cutEvenly(namesLeft, room), room)));
  return lines.length === 0 || lines.at(-1) === blank ? lines : [...lines, blank];
}

/** What the last line says of an item that has no room. */
const namesOf = ({ names, subject }: Item): readonly string[] => (names.length > 0 ? names : [subject]);

/** The most names in the first line of an item; the last line of all problems names the others. */
const namesInHead = 5;

/** The claim, after as many names as have room with it (at least one), and the names left over. */
function headOf({ names, claim }: Item, { room }: Form): { head: string; rest: readonly string[] } {
  const heads = names.slice(0, namesInHead).map((_, at) => {
    const rest = names.slice(at + 1);
    const more = rest.length > 0 ? ` and ${rest.length} more` : '';
    return { head: `${names.slice(0, at + 1).join(', ')}${more}: ${claim}`, rest };
  });
  return heads.findLast(({ head }) => head.length <= room.head) ?? heads[0] ?? { head: claim, rest: [] };
}

/** A problem gets its full text only if this many characters of each name still to come have room as well. */
const minNameLength = 40;

const namesLine = (names: readonly string[], longest: number): string =>
  names.length === 0 ? '' : `More with problems: ${names.map((name) => clip(name, longest)).join(', ')}.`;

/** If there is no room for all names, the longest are cut. */
function cutEvenly(names: readonly string[], room: number): string {
  let longest = Math.max(...names.map(({ length }) => length));
  while (longest > 4 && namesLine(names, longest).length > room) longest--;
  return namesLine(names, longest);
}

/**
 * One problem: what, why, owner and note, the next step, commands, the runbook. A text stays on one line, so nothing
 * that it quotes looks like a command.
 */
function paragraph(
  { sentences: { why = '', next, inspect, act, instead, section }, owner }: Item,
  head: string,
  at: number,
  context: Context,
  form: Form,
): Line[] {
  const commands = [inspect, act, instead].flatMap((command) => (command === undefined ? [] : form.command(command)));
  const texts = [
    form.plain(why, form.room.why),
    form.plain(owner, form.room.owner),
    next === undefined ? '' : form.plain(`Next: ${next}`, form.room.next),
  ];
  const link = section !== undefined && at < form.max.links ? form.runbook(section, context) : '';
  return [heading(form.plain(head, form.room.head)), ...texts.map(textLine), ...commands, textLine(link)].filter(
    ({ text }) => text !== '',
  );
}

/**
 * A line for each index if they are few; otherwise a line for each verdict of another run and each remarkable index,
 * and a count of the others.
 */
function fine({ fine: all }: Message, { plain, max, room }: Form): string[] {
  const fine = all.filter(({ isUnread }) => !isUnread);
  const ofOthers = fine.filter((index) => index.ofAnotherRun);
  const worthReading = fine.filter((index) => !index.ofAnotherRun && index.remarkable);
  const few = fine.length <= max.fine;
  const shown = few ? fine : [...ofOthers, ...worthReading.slice(0, Math.max(0, max.fine - 1 - ofOthers.length))];
  const counts = countsOf(fine.filter((index) => !shown.includes(index)));
  return [
    ...shown.map(({ text }) => plain(text, room.head + room.why)),
    ...(counts === '' ? [] : [plain(`Fine: ${counts}.`, 200)]),
  ];
}

const changes = ({ changes }: Message, form: Form): Line[] =>
  listed(changes, Math.min(12, 4 * form.max.fine), 'change', form).map(textLine);

function listed(texts: readonly string[], most: number, what: 'change' | 'note', { plain, room }: Form): string[] {
  const more = texts.length - most;
  const rest = more > 0 ? [`- ${counted(more, `more ${what}`, `more ${what}s`)} in the report.`] : [];
  return [...texts.slice(0, most).map((text) => `- ${plain(text, room.remark)}`), ...rest];
}

function unread({ fine }: Message, { plain, room }: Form): string[] {
  const texts = fine.filter(({ isUnread }) => isUnread).map(({ text }) => plain(text, room.head + room.why));
  return texts.length === 0 ? [] : [`Not done by this preview, and nobody has read it yet:`, ...texts];
}

const remarks = ({ remarks }: Message, form: Form): string[] => listed(remarks, form.max.remarks, 'note', form);

function hints({ report, kind, context: { guide } }: Message, { plain }: Form): string[] {
  const said: string[] = [];
  const isDue = report.policies.some(({ outcome }) => outcome === 'would-truncate');
  if (isDue && report.result === 'ok' && kind === 'PREVIEW') said.push(`To delete these rows, ${guide.enforce}.`);
  const [largest] = report.unmanagedIndices;
  if (largest === undefined) return said;
  const { length } = report.unmanagedIndices;
  const howMany = `${length >= maxUnmanaged ? 'at least ' : ''}${counted(length, 'index', 'indices')}`;
  const megabytes = largest.sizeMb === undefined ? '' : `, ${size(largest.sizeMb)}`;
  said.push(plain(`Without a policy: ${howMany} (the largest: ${nameOfUnmanaged(largest)}${megabytes}).`, 250));
  return said;
}

/** The index as a policy would name it or, if its name does not reveal that, by its own name. */
const nameOfUnmanaged = ({ indexName, entityType, aspect }: Report['unmanagedIndices'][number]): string =>
  entityType && aspect ? nameOf({ entityType, aspect }) : oneLine(indexName, 120);

function runLine({ runId, by, startedAt, finishedAt, jobVersion }: Report, { plain }: Form): string {
  const seconds = (Date.parse(finishedAt) - Date.parse(startedAt)) / 1000;
  const took = seconds >= 0 ? `, took ${duration(seconds)}` : '';
  const asked = by === undefined || by === schedule ? '' : `, by ${plain(by, 100)}`;
  const version = jobVersion === undefined ? '' : ` Version ${plain(jobVersion, 60)}.`;
  return `Run ${plain(runId, 100)}${asked}, ${moment(Date.parse(startedAt))}${took}.${version}`;
}
