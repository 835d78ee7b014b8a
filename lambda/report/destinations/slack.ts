import { chatText } from '../chat-text.ts';
import type { Destination } from '../destination.ts';
import { clip } from '../sentences/text.ts';

/** Slack's limit for the text of a header, characters. A section takes 3,000, which the text stays below. */
const maxHeader = 150;

/** The body for Slack's incoming webhooks, and for compatible chats, such as Mattermost. */
export const slack = {
  name: 'slack',
  what: 'messages for Slack',
  limits: { characters: 7000 },
  render(message) {
    const { title, description } = chatText(message);
    return {
      // For notifications, and for whatever does not show blocks.
      text: title,
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: clip(title, maxHeader), emoji: true } },
        { type: 'section', text: { type: 'mrkdwn', text: description } },
      ],
    };
  },
} as const satisfies Destination;
