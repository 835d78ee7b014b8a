import { resultOf } from '../../lambda/facts/outcomes.ts';
import type { Report } from '../../lambda/facts/report-schema.ts';
import type { Message } from '../../lambda/message/message.ts';
import { nameOf } from '../../lambda/message/phrases.ts';

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

/** Teams refuses a message of about 28 KB (in UTF-16, as people have measured), and the flow says nothing of it. */
const maxBytes = 18_000;

/**
 * The mail as a card: its lines, with commands in a fixed width. Where it is too long it ends earlier. Its last line
 * names every index with a problem that is not above it.
 */
export function teamsMessage({ subject, email }: Pick<Message, 'subject' | 'email'>, report: Report): TeamsMessage {
  const title: Block = {
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: subject, weight: 'Bolder', size: 'Large' }],
  };
  const lines = email.trimEnd().split('\n');
  for (let count = lines.length; count > 0; count--) {
    const shown = lines.slice(0, count);
    const cut = count < lines.length ? ['Shortened for Teams; the report has it all.'] : [];
    const card = cardOf([title, ...blocksOf([...shown, '', ...cut, ...namesMissing(shown, report)])]);
    if (Buffer.byteLength(JSON.stringify(card)) <= maxBytes) return card;
  }
  return cardOf([title]);
}

/** Most names are 40 characters; the longest possible, of all policies, would be no message. */
const maxNamesLength = 6000;

function namesMissing(shown: readonly string[], { policies }: Report): string[] {
  const text = shown.join('\n');
  const troubled = policies.filter(({ outcome }) => resultOf[outcome] !== 'ok').map(nameOf);
  const names = troubled.filter((name) => !text.includes(name)).join(', ');
  return names === '' ? [] : [`Problems also in: ${names.slice(0, maxNamesLength)}.`];
}

/** A blank line begins a paragraph. */
function blocksOf(lines: readonly string[]): Block[] {
  return lines.flatMap((line, at) => {
    if (line.trim() === '') return [];
    const spacing = lines[at - 1]?.trim() === '' ? ('Medium' as const) : ('None' as const);
    const isCommand = line.startsWith('  ');
    const run = { type: 'TextRun' as const, text: line.trim(), ...(isCommand && { fontType: 'Monospace' as const }) };
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
