import type { Report } from '../../lambda/model/report-schema.ts';
import type { Message } from '../../lambda/report/message.ts';
import type { Context } from '../../lambda/report/sentences/phrases.ts';
import type { NotifyFormat } from '../command-line/options.ts';
import { slackMessage } from './slack.ts';
import { teamsMessage } from './teams.ts';

/** What is posted to a webhook, by `--notify-format`: always JSON. */

interface Format {
  /** For `It does not take …`. */
  what: string;
  body(message: Message, report: Report, context: Context): object;
}

export const formats: Record<NotifyFormat, Format> = {
  slack: { what: 'messages for Slack', body: slackMessage },
  teams: { what: 'cards for Teams', body: teamsMessage },
  json: { what: 'the report', body: ({ default: json }) => JSON.parse(json) },
};
