import { expect, test } from 'vitest';
import * as z from 'zod';
import type { Report } from '../../../lambda/model/report-schema.ts';
import { mail } from '../../../lambda/report/destinations/mail.ts';
import { teams } from '../../../lambda/report/destinations/teams.ts';
import { messageOf } from '../../../lambda/report/message.ts';
import { anEntry, aReport } from '../../support/reports.ts';

/**
 * What the Workflows' trigger reads, and what its action passes on: Microsoft's page "Create incoming webhooks with
 * Workflows", and the schema of Adaptive Cards 1.4.
 */
const run = z.strictObject({
  type: z.literal('TextRun'),
  text: z.string().min(1),
  weight: z.enum(['Lighter', 'Default', 'Bolder']).optional(),
  size: z.enum(['Small', 'Default', 'Medium', 'Large', 'ExtraLarge']).optional(),
  fontType: z.enum(['Default', 'Monospace']).optional(),
});
const block = z.strictObject({
  type: z.literal('RichTextBlock'),
  spacing: z.enum(['None', 'Small', 'Default', 'Medium', 'Large']).optional(),
  inlines: z.array(run).min(1),
});
const card = z.strictObject({
  $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
  type: z.literal('AdaptiveCard'),
  version: z.literal('1.4'),
  msteams: z.strictObject({ width: z.literal('Full') }),
  body: z.array(block).min(1),
});
const attachment = z.strictObject({
  contentType: z.literal('application/vnd.microsoft.card.adaptive'),
  contentUrl: z.null(),
  content: card,
});
const posted = z.strictObject({ type: z.literal('message'), attachments: z.array(attachment).length(1) });

const audience = { kind: 'machine', program: './retention', options: '--gms-url http://gms' } as const;

function shown(report: Report) {
  const body = teams.render(messageOf(report, { audience }));
  const [attached] = posted.parse(JSON.parse(JSON.stringify(body))).attachments;
  const runs = attached!.content.body.flatMap(({ inlines }) => inlines);
  return { runs, text: runs.map(({ text }) => text).join('\n') };
}

test('A card for Teams has the whole mail, its commands in a fixed width', () => {
  const ceiling = anEntry('above-ceiling', { kind: 'above-ceiling', approveRows: 100 });
  const report = aReport([ceiling], {}, audience);
  const { runs, text } = shown(report);
  const message = messageOf(report, { audience });
  const lines = mail
    .render(message)
    .split('\n')
    .map((line) => line.trim());
  expect(text).toBe([message.subject, ...lines].filter((line) => line !== '').join('\n'));
  const commands = runs.filter(({ fontType }) => fontType === 'Monospace').map((one) => one.text);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) expect(command).toMatch(/^\.\/retention /);
});
