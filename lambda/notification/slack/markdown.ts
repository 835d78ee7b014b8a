import { oneLine } from '../../facts/text.ts';
import type { MessageContext } from '../context.ts';
import { runbookFile, runbookLink } from '../runbook.ts';

/** Texts as Slack shows them. */

export const slackLimits = { title: 200, description: 2800, nextStep: 300, nextSteps: 4, keyword: 50 } as const;

/** Text of at most `max` characters that Slack shows as it is: its three escapes, no formatting, nobody called by name. */
export function markdown(text: string, max: number): string {
  const plain = oneLine(text.replace(/[*`~]/g, ' ').replace(/@(?=here|channel|everyone)/gi, '(at)'), max);
  const escaped = slackText(plain);
  // Cutting an escaped text could cut an escape in two; a text full of markup loses it instead.
  return escaped.length <= max ? escaped : plain.replace(/[&<>]/g, ' ');
}

export const codeBlock = (command: string): string => `\`\`\`${slackText(command.replaceAll('`', "'"))}\`\`\``;

const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const link = (context: MessageContext, heading: string): string[] => [
  context.runbookUrl
    ? `<${runbookLink(context.runbookUrl, heading)}|Runbook>`
    : `Runbook: ${runbookFile}, "${heading}"`,
];
