import type { Urgency } from '../facts/outcomes.ts';
import type { Report } from '../facts/report-schema.ts';
import { oneLine } from '../facts/text.ts';
import { runbookPlace } from '../words/runbook.ts';
import type { Place } from '../words/table.ts';
import { countsOf, fineOf, type Item, problemsOf, remarksOf, urgencyLine, urgencyOf } from './items.ts';
import { summary } from './subject.ts';

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
const room = { head: 220, why: 360, owner: 100, next: 190, link: 300 } as const;

/** The result in the title, the worst three problems, how many more, and a link. */
export function slackOf(report: Report, place: Place): CustomNotification {
  const problems = problemsOf(report, place);
  const preview = report.mode === 'preview' ? 'PREVIEW ' : '';
  const stage = markdown(report.stage, 40) || 'unnamed';
  const symbol = problems.length === 0 ? ':white_check_mark:' : symbols[urgencyOf(problems)];
  return {
    version: '1.0',
    source: 'custom',
    content: {
      textType: 'client-markdown',
      title: `${symbol} ${preview}DataHub retention ${stage}: ${markdown(summary(report, place), 110)}`,
      description: description(report, problems, place),
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
}

function description(report: Report, problems: readonly Item[], place: Place): string {
  const shown = problems.slice(0, worst);
  const more = problems.length - shown.length;
  const fine = countsOf(fineOf(report));
  const copied = fineOf(report).filter(({ copies }) => copies).length;
  const [remark] = remarksOf(report, place);
  return [
    ...(report.mode === 'preview' ? ['*PREVIEW: nothing was deleted.*'] : []),
    ...(problems.length > 0 ? [urgencyLine(problems)] : []),
    ...shown.flatMap(told),
    ...(more > 0 ? [`${more} more with problems, in the mail and the report.`] : []),
    ...(fine === '' ? [] : [markdown(`Fine: ${fine}.`, 150)]),
    ...(copied > 0 ? [`${copied} copied: rows written meanwhile may be in the old index alone (nothing to do).`] : []),
    ...(remark === undefined ? [] : [markdown(remark, 150)]),
    ...link(problems, place),
    `Run ${markdown(report.runId, 80)}.`,
  ].join('\n');
}

function told({ head, words, owner }: Item): string[] {
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
