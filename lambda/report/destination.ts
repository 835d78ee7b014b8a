import type { Message } from './message.ts';
import { safeJson } from './sentences/text.ts';

/** Where a message can go: a topic of SNS and a webhook take any of them by its name. */
export interface Destination {
  /** For `--notify-format`, the chart, and a stage's file. */
  name: string;
  /** What is sent there, as in `It does not take messages for Slack`. */
  what: string;
  /** What a receiver takes, in UTF-16 units: the whole body is never longer, whatever the report holds. */
  limits: { characters: number };
  /** Statuses that mean something of their own there, each with the remedy. */
  remedies?: Readonly<Record<number, string>>;
  /**
   * Names every index that has a problem.
   * @param fits whether there is room where it is sent, if less than `limits` say: for a body that may leave out
   *   something harmless
   */
  render(message: Message, fits?: (body: Body) => boolean): Body;
}

export type Body = string | object;

export const serialize = (body: Body): string => (typeof body === 'string' ? body : safeJson(body));
