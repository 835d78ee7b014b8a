import { expect, test } from 'vitest';
import * as z from 'zod';
import { teamsMessage } from '../../../cli/outputs/teams.ts';
import type { Report } from '../../../lambda/model/report-schema.ts';
import { messageOf } from '../../../lambda/report/message.ts';
import { contextOf } from '../../../lambda/report/sentences/sentences.ts';
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
  const message = teamsMessage(messageOf(report, { audience }), report, contextOf(report, audience));
  const [attached] = posted.parse(message).attachments;
  const runs = attached!.content.body.flatMap(({ inlines }) => inlines);
  return { bytes: Buffer.byteLength(JSON.stringify(message)), runs, text: runs.map(({ text }) => text).join('\n') };
}

test('A card for Teams has the whole mail, its commands in a fixed width', () => {
  const ceiling = anEntry('above-ceiling', { kind: 'above-ceiling', approveRows: 100 });
  const report = aReport([ceiling], {}, audience);
  const { runs, text } = shown(report);
  const { subject, email } = messageOf(report, { audience });
  const lines = email.split('\n').map((line) => line.trim());
  expect(text).toBe([subject, ...lines].filter((line) => line !== '').join('\n'));
  const commands = runs.filter(({ fontType }) => fontType === 'Monospace').map((one) => one.text);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) expect(command).toMatch(/^\.\/retention /);
});

test('A card for Teams stays below its 28 KB, and names each of 64 indices of the worst', () => {
  const names = Array.from({ length: 64 }, (_, at) => `aspect_${at}_${'x'.repeat(40)}`);
  const lost = names.map((aspect) =>
    anEntry('rows-missing', { kind: 'missing', expected: 100, found: 0 }, { aspect, owner: 'o'.repeat(80) }),
  );
  const { bytes, text } = shown(aReport(lost, {}, audience));
  expect(bytes).toBeLessThan(14_000);
  for (const name of names) expect(text).toContain(name);
});
