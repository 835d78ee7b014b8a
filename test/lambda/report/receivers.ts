import * as z from 'zod';
import { reportSchema } from '../../../lambda/model/report-schema.ts';
import type { DestinationName } from '../../../lambda/report/destinations/registry.ts';

/** What each destination's receiver takes, by its own documentation. */

/** "Reference: Blocks" in Slack's documentation. */
const slackMessage = z.strictObject({
  text: z.string().min(1),
  blocks: z.tuple([
    z.strictObject({
      type: z.literal('header'),
      text: z.strictObject({ type: z.literal('plain_text'), text: z.string().min(1).max(150), emoji: z.boolean() }),
    }),
    z.strictObject({
      type: z.literal('section'),
      text: z.strictObject({ type: z.literal('mrkdwn'), text: z.string().min(1).max(3000) }),
    }),
  ]),
});

/**
 * The event schema of custom notifications in "Amazon Q Developer in chat applications", administrator guide. It
 * silently drops what does not fit. The lengths are ours: Slack accepts 3,000 characters in one block.
 */
const customNotification = z.strictObject({
  version: z.literal('1.0'),
  source: z.literal('custom'),
  content: z.strictObject({
    textType: z.literal('client-markdown'),
    title: z.string().min(1).max(250),
    description: z.string().min(1).max(3000),
    keywords: z.array(z.string().min(1).max(50)).min(1),
  }),
  metadata: z.strictObject({
    threadId: z.string().min(1).max(100),
    summary: z.string().min(1).max(250),
    eventType: z.string().min(1),
    additionalContext: z.record(z.string(), z.string()),
  }),
});

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
export const teamsMessage = z.strictObject({ type: z.literal('message'), attachments: z.array(attachment).length(1) });

/** The compiler asks for a new one. */
export const taken: Readonly<Record<DestinationName, z.ZodType>> = {
  slack: slackMessage,
  teams: teamsMessage,
  json: reportSchema,
  mail: z.string().min(1),
  'amazon-q': customNotification,
};
