import * as z from 'zod';
import type { MessageContext } from '../../../lambda/notification/context.ts';

/**
 * The event schema of custom notifications in "Amazon Q Developer in chat applications", administrator guide, page
 * "Custom notifications" (version and source fixed, description required, nextSteps and keywords lists of texts). It
 * silently drops what does not fit. The lengths are ours: Slack accepts 3,000 characters in one block.
 */
export const customNotificationSchema = z.strictObject({
  version: z.literal('1.0'),
  source: z.literal('custom'),
  id: z.string().min(1).optional(),
  content: z.strictObject({
    textType: z.literal('client-markdown'),
    title: z.string().min(1).max(200),
    description: z.string().min(1).max(3000),
    nextSteps: z.array(z.string().min(1).max(300)).min(1).max(4).optional(),
    keywords: z.array(z.string().min(1).max(50)).min(1),
  }),
  metadata: z.strictObject({
    threadId: z.string().min(1).max(100),
    summary: z.string().min(1).max(250),
    eventType: z.string().min(1),
    additionalContext: z.record(z.string(), z.string()),
  }),
});

export const context: MessageContext = {
  stateMachineArn: 'arn:aws:states:eu-central-1:111122223333:stateMachine:datahub-retention-prod',
  region: 'eu-central-1',
  runbookUrl: 'https://example.com/docs/runbook.md',
  parameterPrefix: '/datahub-retention/prod',
};

/** The context of messages in a stage of this mode. */
export const contextOf = (mode: 'enforce' | 'preview'): MessageContext => ({
  ...context,
  enforces: mode === 'enforce',
});
