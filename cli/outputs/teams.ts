import type { Report } from '../../lambda/facts/report-schema.ts';
import { full } from '../../lambda/message/mail.ts';
import type { Message } from '../../lambda/message/message.ts';
import { type Form, type Line, render } from '../../lambda/message/render.ts';
import type { Context } from '../../lambda/message/sentences/phrases.ts';

/** The body for a webhook of Teams' Workflows ("When a Teams webhook request is received"): one Adaptive Card. */
interface TeamsMessage {
  type: 'message';
  attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive'; contentUrl: null; content: AdaptiveCard }];
}

interface AdaptiveCard {
  $schema: 'http://adaptivecards.io/schemas/adaptive-card.json';
  type: 'AdaptiveCard';
  /** What Teams shows on every device. */
  version: '1.4';
  msteams: { width: 'Full' };
  body: Block[];
}

/** Not a TextBlock, which reads names with underscores as markup: a text run is shown as it is. */
interface Block {
  type: 'RichTextBlock';
  spacing?: 'None' | 'Medium';
  inlines: [{ type: 'TextRun'; text: string; weight?: 'Bolder'; size?: 'Large'; fontType?: 'Monospace' }];
}

/**
 * Characters of the blocks, as JSON: up to the first number without the names of what had no room, which have the rest.
 * Teams refuses a message of about 28 KB (in UTF-16, as people have measured), and the flow says nothing of it.
 */
const length = { most: 9500, withNames: 13_000 };

const form: Form = {
  ...full,
  fits: (lines) => lengthOf(lines) <= length.most,
  left: (lines) => length.withNames - lengthOf(lines),
};

/** The whole report as a card, with commands in a fixed width. */
export function teamsMessage({ subject }: Pick<Message, 'subject'>, report: Report, context: Context): TeamsMessage {
  const title: Block = {
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: subject, weight: 'Bolder', size: 'Large' }],
  };
  return cardOf([title, ...blocksOf(render(report, context, form))]);
}

const lengthOf = (lines: readonly Line[]): number => JSON.stringify(blocksOf(lines)).length;

/** A blank line begins a paragraph. */
function blocksOf(lines: readonly Line[]): Block[] {
  return lines.flatMap(({ kind, text }, at) => {
    if (kind === 'blank') return [];
    const spacing = lines[at - 1]?.kind === 'blank' ? ('Medium' as const) : ('None' as const);
    const run = { type: 'TextRun' as const, text, ...(kind === 'command' && { fontType: 'Monospace' as const }) };
    return [{ type: 'RichTextBlock' as const, spacing, inlines: [run] as Block['inlines'] }];
  });
}

const cardOf = (body: Block[]): TeamsMessage => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        msteams: { width: 'Full' },
        body,
      },
    },
  ],
});
