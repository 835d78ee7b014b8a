import type { Message } from '../../lambda/report/message.ts';
import type { CustomNotification } from '../../lambda/report/slack.ts';

/** Slack's limits for the text of a header and of a section, characters. */
const maxHeader = 150;
const maxSection = 3000;

/**
 * The body for Slack's incoming webhooks (and for compatible chats, such as Mattermost): built from the message that a
 * stage's channel gets from Amazon Q Developer, which has the same facts.
 */
export function slackMessage({ https }: Pick<Message, 'https'>) {
  const { title, description } = (JSON.parse(https) as CustomNotification).content;
  return {
    // For notifications, and for whatever does not show blocks.
    text: title,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: clipped(title, maxHeader), emoji: true } },
      { type: 'section', text: { type: 'mrkdwn', text: clipped(description, maxSection) } },
    ],
  };
}

const clipped = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);
