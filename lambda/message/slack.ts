import type { Urgency } from '../facts/outcomes.ts';
import type { Report } from '../facts/report-schema.ts';
import { oneLine } from '../text/text.ts';
import { runbookPlace } from '../words/runbook.ts';
import type { Place } from '../words/table.ts';
import {
  countsOf,
  fineOf,
  type Item,
  itemOf,
  problemsOf,
  remarksOf,
  urgencyLine,
  urgencyOf,
  verdictsOf,
} from './items.ts';
import { lateness, manner, summary } from './subject.ts';

/**
 * The custom notification of Amazon Q Developer in chat applications (formerly AWS Chatbot), version 1.0. It silently
 * drops whatever does not fit its schema, so every text stays below its limits, and the description below the 3,000
 * characters of one Slack block.
 */
export interface CustomNotification {
  version: '1.0';
  source: 'custom';
  content: { textType: 'client-markdown'; title: string; description: string; keywords: string[] };
  metadata: { threadId: string; summary: string; eventType: string; additionalContext: Record<string, string> };
}

/** By urgency, so that the siren stands out: what passes by itself gets none, however it ended. */
const symbols: Record<Urgency, string> = {
  act: ':rotating_light:',
  week: ':warning:',
  change: ':information_source:',
  nothing: ':information_source:',
};

/** Problems that are told; the others are counted. With their longest texts they take 2,600 characters. */
const worst = 3;
const room = { head: 220, why: 360, owner: 100, next: 190, link: 300, line: 160 } as const;

/** Verdicts beyond those have a line each, as long as there is room below the 3,000 characters. */
const descriptionRoom = 2900;

/** The result in the title, the worst three problems, a line for each other verdict, how many more, and a link. */
export function slackOf(report: Report, place: Place): { notification: CustomNotification; told: Set<string> } {
  const problems = problemsOf(report, place);
  const { text, told } = description(report, problems, place);
  const preview = manner(report);
  const stage = markdown(report.stage, 40) || 'unnamed';
  const symbol = problems.length === 0 ? ':white_check_mark:' : symbols[urgencyOf(problems)];
  const notification: CustomNotification = {
    version: '1.0',
    source: 'custom',
    content: {
      textType: 'client-markdown',
      title: `${symbol} ${preview}DataHub retention ${stage}: ${markdown(summary(report, place), 110)}`,
      description: text,
      keywords: ['DataHub retention', stage, report.result],
    },
    metadata: {
      // A report published twice ends up in one thread.
      threadId: oneLine(report.runId, 100) || 'run',
      summary: oneLine(`${preview}${summary(report, place)}`, 200),
      eventType: 'retention-run',
      additionalContext: { stage: oneLine(report.stage, 40), result: report.result, mode: report.mode },
    },
  };
  return { notification, told };
}

function description(report: Report, problems: readonly Item[], place: Place): { text: string; told: Set<string> } {
  const fine = countsOf(fineOf(report));
  const copied = fineOf(report).filter(({ reindexes }) => reindexes).length;
  const [remark] = remarksOf(report, place);
  const late = lateness(report);
  const top = [
    ...(late === '' ? [] : [`*${markdown(late, 40)}; look at status first.*`]),
    ...(report.mode === 'preview' ? ['*PREVIEW: nothing was deleted.*'] : []),
    ...(problems.length > 0 ? [urgencyLine(problems)] : []),
  ];
  const bottom = [
    ...(fine === '' ? [] : [markdown(`Fine: ${fine}.`, 150)]),
    ...(copied > 0
      ? [`${copied} copied: rows written during the copy may be only in the old index (no action needed).`]
      : []),
    ...(remark === undefined ? [] : [markdown(remark, 150)]),
    ...link(problems, place),
    `Run ${markdown(report.runId, 80)}.`,
  ];
  const counted = (count: number) => `${count} more with problems, in the mail and the report.`;
  const length = (lines: readonly string[]) => lines.join('\n').length + 1;
  const fits = (lines: readonly string[]) => length([...top, ...lines, counted(100), ...bottom]) <= descriptionRoom;
  const told = new Set<string>();
  // A line for each verdict is worth more than the whole of the third problem.
  const short = problems.map((item) => (verdictsOf(item).length > 0 ? [`• *${markdown(item.head, room.line)}*`] : []));
  const lines: string[] = [];
  let more = 0;
  problems.forEach((item, at) => {
    const rest = short.slice(at + 1).flat();
    const full = inFull(item);
    const line = short[at] ?? [];
    const chosen = at < worst && (at === 0 || fits([...lines, ...full, ...rest])) ? full : line;
    if (chosen.length === 0 || !fits([...lines, ...chosen])) {
      more++;
      return;
    }
    lines.push(...chosen);
    for (const verdict of verdictsOf(item)) told.add(verdict);
  });
  // What another run has left untold is never one of a number, however well it went.
  for (const entry of fineOf(report).filter(({ untold }) => untold !== undefined)) {
    const full = inFull(itemOf(entry, place));
    if (fits([...lines, ...full])) lines.push(...full);
  }
  return { text: [...top, ...lines, ...(more > 0 ? [counted(more)] : []), ...bottom].join('\n'), told };
}

function inFull({ head, words, owner }: Item): string[] {
  return [
    `• *${markdown(head, room.head)}*`,
    markdown(words.why, room.why),
    markdown(owner, room.owner),
    markdown(words.next ?? '', room.next),
  ].filter((line) => line !== '');
}

/** Where the worst problem is explained. */
function link([first]: readonly Item[], place: Place): string[] {
  if (first?.words.section === undefined) return [];
  const found = runbookPlace(first.words.section, place);
  if ('command' in found) return [markdown(`Runbook${found.where}: ${found.command}`, room.link)];
  const url = escaped(found.url);
  return url.length > room.link || /[\s|]/.test(url)
    ? [`Runbook, "${first.words.section}"`]
    : [`<${url}|Runbook: ${first.words.section}>`];
}

/** Text of at most `max` characters that Slack shows as it is: its three escapes, no formatting, nobody called by name. */
function markdown(text: string, max: number): string {
  const plain = oneLine(text.replace(/[*`~]/g, ' ').replace(/@(?=here|channel|everyone)/gi, '(at)'), max);
  const safe = escaped(plain);
  // Cutting an escaped text could cut an escape in two; a text full of markup loses it instead.
  return safe.length <= max ? safe : plain.replace(/[&<>]/g, ' ');
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
