import type { Destination } from '../destination.ts';
import { fullForm } from '../full-form.ts';
import { type Form, type Line, render } from '../render.ts';

/**
 * The body for a webhook of Teams' Workflows ("When a Teams webhook request is received"): the whole report as one
 * Adaptive Card, with commands in a fixed width.
 */
export const teams = {
  name: 'teams',
  what: 'cards for Teams',
  // Teams refuses a message of about 28 KB (in UTF-16, as people have measured), and the flow says nothing of it.
  limits: { characters: 14_000 },
  remedies: { 401: "In the flow's trigger, let anyone start it." },
  render(message) {
    const title = block({ text: message.subject, weight: 'Bolder', size: 'Large' });
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      // What Teams shows on every device.
      version: '1.4',
      msteams: { width: 'Full' },
      body: [title, ...blocksOf(render(message, form))],
    };
    const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
    return { type: 'message', attachments: [attachment] };
  },
} as const satisfies Destination;

/** Characters of the blocks, as JSON; beyond the first number, there is room for the names of what had none. */
const length = { most: 9500, withNames: 13_000 };

const form: Form = {
  ...fullForm,
  fits: (lines) => lengthOf(lines) <= length.most,
  left: (lines) => length.withNames - lengthOf(lines),
};

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
