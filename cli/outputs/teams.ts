import type { Report } from '../../lambda/model/report-schema.ts';
import { full } from '../../lambda/report/mail.ts';
import type { Message } from '../../lambda/report/message.ts';
import { type Form, type Line, render } from '../../lambda/report/render.ts';
import type { Context } from '../../lambda/report/sentences/phrases.ts';

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

/**
 * The body for a webhook of Teams' Workflows ("When a Teams webhook request is received"): the whole report as one
 * Adaptive Card, with commands in a fixed width.
 */
export function teamsMessage({ subject }: Pick<Message, 'subject'>, report: Report, context: Context) {
  const title = block({ text: subject, weight: 'Bolder', size: 'Large' });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    // What Teams shows on every device.
    version: '1.4',
    msteams: { width: 'Full' },
    body: [title, ...blocksOf(render(report, context, form))],
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
  return { type: 'message', attachments: [attachment] };
}

/** Not a TextBlock, which reads names with underscores as markup: a text run is shown as it is. */
const block = (run: { text: string } & Record<string, string>, spacing?: 'None' | 'Medium') => ({
  type: 'RichTextBlock',
  spacing,
  inlines: [{ type: 'TextRun', ...run }],
});

const lengthOf = (lines: readonly Line[]): number => JSON.stringify(blocksOf(lines)).length;

/** A blank line begins a paragraph. */
const blocksOf = (lines: readonly Line[]) =>
  lines.flatMap(({ kind, text }, at) => {
    if (kind === 'blank') return [];
    const spacing = lines[at - 1]?.kind === 'blank' ? 'Medium' : 'None';
    return [block(kind === 'command' ? { text, fontType: 'Monospace' } : { text }, spacing)];
  });
