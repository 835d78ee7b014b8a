import { chatText } from '../chat-text.ts';
import type { Destination } from '../destination.ts';
import { oneLine } from '../sentences/text.ts';

/**
 * The custom notification of Amazon Q Developer in chat applications (formerly AWS Chatbot), version 1.0, which brings
 * it to Slack and Teams. It silently drops whatever does not fit its schema, so every text stays below its limits.
 */
export const amazonQ = {
  name: 'amazon-q',
  what: 'notifications for Amazon Q',
  limits: { characters: 8000 },
  render(message) {
    const { report, kind, summary } = message;
    const { title, description, stage } = chatText(message);
    return {
      version: '1.0',
      source: 'custom',
      content: {
        textType: 'client-markdown',
        title,
        description,
        keywords: ['DataHub retention', stage, report.result],
      },
      metadata: {
        // A report published twice ends up in one thread.
        threadId: oneLine(report.runId, 100) || 'run',
        summary: oneLine(`${kind} ${summary}`, 200),
        eventType: 'retention-run',
        additionalContext: { stage: oneLine(report.stage, 40), result: report.result, mode: report.mode },
      },
    };
  },
} as const satisfies Destination;
