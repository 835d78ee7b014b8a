import type { Message } from '../../lambda/message/message.ts';
import type { CustomNotification } from '../../lambda/message/slack.ts';

/** The body for Slack's incoming webhooks (and for compatible chats, such as Mattermost). */
interface SlackMessage {
  /** For notifications, and for whatever does not show blocks. */
  text: string;
  blocks: object[];
}

/** Slack's limits for the text of a header and of a section, characters. */
const maxHeader = 150;
const maxSection = 3000;

/**
 * The message that a stage's channel gets, in Slack's own form: built from the one for Amazon Q Developer, which has
 * the same facts.
 */
export function slackMessage({ https }: Pick<Message, 'https'>): SlackMessage {
  const { title, description } = (JSON.parse(https) as CustomNotification).content;
  return {
    text: title,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: clipped(title, maxHeader), emoji: true } },
      { type: 'section', text: { type: 'mrkdwn', text: clipped(description, maxSection) } },
    ],
  };
}

const clipped = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);
