import type { DecidedFacts, Report } from '../facts/report-schema.ts';
import { oneLine } from '../text/text.ts';
import { counted, duration, moment, size } from '../words/numbers.ts';
import { nameOf, sentences } from '../words/parts.ts';
import { withStop } from '../words/punctuation.ts';
import type { Place } from '../words/table.ts';
import { titles, wordsOf } from '../words/words.ts';
import { countsOf, fineOf, type Item, problemsOf, remarksOf, urgencyLine, verdictsOf } from './items.ts';
import { paragraph } from './paragraph.ts';
import { lateness, manner, summary } from './subject.ts';

/** The mail, for a phone: plain lines, the worst first. */

/** Lines of problems told in full, and lines after which problems are only counted. */
const fullLines = 34;
const namedLines = 38;
/** The same for verdicts, which people have heard of only where their whole paragraph is there: 25 or so. */
const verdictLines = 160;
/** Above this number, indices without a problem share one line. Every DataHub has nine. */
const fineLines = 12;

/**
 * @returns lines joined by line breaks, at most 60 of them if few verdicts are problems; and the verdicts that it tells.
 * Problems that did not fit are named, or counted, with where they are
 */
export function mailOf(report: Report, place: Place): { text: string; told: Set<string> } {
  const problems = problemsOf(report, place);
  const lines = [...opening(report, problems, place), ''];
  const told = new Set<string>();
  const untold: Item[] = [];
  for (const item of problems) {
    const full = paragraph(item, place);
    const verdicts = verdictsOf(item);
    const room = verdicts.length > 0 ? verdictLines : fullLines;
    const isFirst = item === problems[0];
    if (!isFirst && (untold.length > 0 || lines.length + full.length > room)) {
      untold.push(item);
      continue;
    }
    lines.push(...full, '');
    for (const verdict of verdicts) told.add(verdict);
  }
  lines.push(...shortly(untold, namedLines - lines.length));
  lines.push(...fine(report, place), ...remarks(report, place), ...footer(report, place));
  return { text: lines.join('\n'), told };
}

function opening(report: Report, problems: readonly Item[], place: Place): string[] {
  const which = [oneLine(report.stage, 60) || 'unnamed', hostOf(report.server)]
    .filter((part) => part !== '')
    .join(', ');
  const preview = report.mode === 'preview' ? 'PREVIEW, nothing was deleted. ' : manner(report).replace(' ', '. ');
  const late = lateness(report);
  return [
    `${late === '' ? '' : `${late}; look at status first. `}${preview}${which}. ${problems.length > 0 ? urgencyLine(problems) : withStop(summary(report, place))}`,
  ];
}

function hostOf(server: string | undefined): string {
  if (server === undefined) return '';
  return oneLine(URL.canParse(server) ? new URL(server).host : server, 100);
}

/** One line for each, as far as there is room; the others are counted. */
function shortly(items: readonly Item[], room: number): string[] {
  if (items.length === 0) return [];
  const shown = items.slice(0, Math.max(0, room));
  const left = items.slice(shown.length).reduce((sum, { entries }) => sum + Math.max(1, entries.length), 0);
  return [
    ...shown.map(({ head }) => `- ${oneLine(head, 240)}`),
    ...(left > 0 ? [`- ${left} more with problems; the report has them all.`] : []),
    '',
  ];
}

function fine(report: Report, place: Place): string[] {
  const entries = fineOf(report);
  if (entries.length === 0) return [];
  // What another run decided is reported by this message alone.
  const untold = entries.filter((entry) => entry.untold !== undefined);
  const remarkable = entries.filter(
    (entry) =>
      entry.untold === undefined &&
      (entry.reindexes || (entry.rowsMissing ?? 0) > 0 || entry.indexNow !== undefined || entry.noIndex),
  );
  const room = Math.max(0, fineLines - 1 - untold.length);
  const shown = entries.length <= fineLines ? entries : [...untold, ...remarkable.slice(0, room)];
  const rest = entries.filter((entry) => !shown.includes(entry));
  return [
    ...shown.map((entry) => fineLine(entry, place)),
    ...(rest.length > 0 ? [`Fine: ${countsOf(rest)}.`] : []),
    '',
  ];
}

function fineLine(entry: DecidedFacts, place: Place): string {
  const { what, why, aside } = wordsOf(entry, place);
  return oneLine(sentences(`${nameOf(entry)}: ${titles[entry.outcome]}, ${what}.`, why, aside), 600);
}

const remarks = (report: Report, place: Place): string[] => {
  const all = remarksOf(report, place).map((text) => `- ${oneLine(text, 400)}`);
  const shown = all.slice(0, 4);
  const more = all.length - shown.length;
  return [
    ...shown,
    ...(more > 0 ? [`- ${counted(more, 'more note', 'more notes')} in the report.`] : []),
    ...(all.length > 0 ? [''] : []),
  ];
};

function footer(report: Report, { kind }: Place): string[] {
  const [largest] = report.unmanagedIndices;
  const unmanaged = report.unmanagedIndices.length;
  const megabytes = largest?.sizeMb === undefined ? '' : `, ${size(largest.sizeMb)}`;
  const seconds = (Date.parse(report.finishedAt) - Date.parse(report.startedAt)) / 1000;
  const took = seconds >= 0 ? `, took ${duration(seconds)}` : '';
  const enforce = report.mode === 'preview' && report.policies.some(({ outcome }) => outcome === 'would-truncate');
  return [
    ...(enforce && report.result === 'ok'
      ? [`To delete these rows, ${kind === 'machine' ? 'use the verb enforce' : 'set the mode to enforce'}.`]
      : []),
    ...(largest === undefined
      ? []
      : [
          `Without a policy: ${counted(unmanaged, 'index', 'indices')} (the largest: ${nameOfUnmanaged(largest)}${megabytes}).`,
        ]),
    `Run ${oneLine(report.runId, 100)}, ${moment(Date.parse(report.startedAt))}${took}.`,
  ];
}

/** As a policy would name it; an index whose name does not reveal that, by its own. */
const nameOfUnmanaged = ({ indexName, entityType, aspect }: Report['unmanagedIndices'][number]): string =>
  entityType && aspect ? nameOf({ entityType, aspect }) : oneLine(indexName, 120);
