import type { Message } from '../../lambda/message/message.ts';

/** The body for Slack's incoming webhooks (and for compatible chats, such as Mattermost). */
export interface SlackMessage {
  /** For notifications, and for whatever does not show blocks. */
  text: string;
  blocks: object[];
}

/** The part of the notification for Amazon Q Developer that is used here. */
interface CustomNotification {
  content: { title: string; description: string; nextSteps?: string[] };
}

/** Slack's limits for the text of a header and of a section, characters. */
const maxHeader = 150;
const maxSection = 3000;

/**
 * The message that a stage's channel gets, in Slack's own form: built from the one for Amazon Q Developer, which has
 * the same facts.
 */
export function slackMessage({ https }: Pick<Message, 'https'>): SlackMessage {
  const { content } = JSON.parse(https) as CustomNotification;
  const { title, description, nextSteps = [] } = content;
  return {
    text: title,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: clipped(title, maxHeader), emoji: true } },
      section(description),
      ...(nextSteps.length === 0
        ? []
        : [section(['*Next steps*', ...nextSteps.map((step) => `• ${step}`)].join('\n'))]),
    ],
  };
}

const section = (text: string): object => ({
  type: 'section',
  text: { type: 'mrkdwn', text: clipped(text, maxSection) },
});

const clipped = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);
