import type { Urgency } from '../model/outcomes.ts';
import { urgencyOf } from './items.ts';
import type { Message } from './message.ts';
import { type Form, type Line, render } from './render.ts';
import { oneLine } from './sentences/text.ts';
import { newerRowsGone } from './subject.ts';

/** A message in the markup of Slack, which Amazon Q Developer takes as well. */

/** By urgency. A problem that settles itself gets no siren, so that a siren stands out. */
const symbols: Record<Urgency, string> = {
  act: ':rotating_light:',
  week: ':warning:',
  change: ':information_source:',
  nothing: ':information_source:',
};

/** Characters of the description, below the 3,000 of one block of Slack. */
const maxDescription = 2900;
const maxLink = 300;

/** There is no room for blank lines. */
const textOf = (lines: readonly Line[]): string =>
  lines
    .filter(({ kind }) => kind !== 'blank')
    .map(({ kind, text }) => (kind === 'heading' ? `*${text}*` : text))
    .join('\n');

const form: Form = {
  plain: markdown,
  command: () => [],
  runbook(section, { guide }) {
    const found = guide.runbook(section);
    if ('command' in found) return markdown(`Runbook${found.where}: ${found.command}`, maxLink);
    const url = escaped(found.url);
    return url.length > maxLink || /[\s|]/.test(url) ? `Runbook, "${section}"` : `<${url}|Runbook: ${section}>`;
  },
  room: { head: 240, why: 420, owner: 100, next: 200, remark: 150 },
  max: { problems: 3, links: 1, fine: 3, remarks: 1 },
  fits: (lines) => textOf(lines).length <= maxDescription,
  left: (lines) => maxDescription - textOf(lines).length - 1,
};

/**
 * The title has the result; the description has the worst problems, a line or at least the name of each other one, and
 * a link.
 */
export function chatText(message: Message): { stage: string; title: string; description: string } {
  const { report, kind, problems, summary } = message;
  const stage = markdown(report.stage, 40) || 'unnamed';
  // More newer rows are gone than go on any day: tolerated, and nothing to celebrate.
  const fine = newerRowsGone(report) > 0 ? ':information_source:' : ':white_check_mark:';
  const symbol = problems.length === 0 ? fine : symbols[urgencyOf(problems)];
  return {
    stage,
    title: `${symbol} ${kind === '' ? '' : `${kind} `}DataHub retention ${stage}: ${markdown(summary, 110)}`,
    description: textOf(render(message, form)),
  };
}

/** Text of at most `max` characters that Slack shows as it is: its three escapes, no formatting, no mentions. */
function markdown(text: string, max: number): string {
  const plain = oneLine(text.replace(/[*`~]/g, ' ').replace(/@(?=here|channel|everyone)/gi, '(at)'), max);
  const safe = escaped(plain);
  // Cutting an escaped text could cut an escape in two; a text full of markup loses it instead.
  return safe.length <= max ? safe : plain.replace(/[&<>]/g, ' ');
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
