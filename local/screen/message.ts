import type { ComposedMessage } from '../../lambda/notification/message.ts';
import { wrap } from './text.ts';

/** The notification as somebody who reads it as an email sees it. */
export function renderMessage({ subject, email }: ComposedMessage, width: number): string[] {
  const rule = '-'.repeat(Math.min(width, 72));
  return [
    'The notification, as an email:',
    rule,
    ...wrap(subject, width, 'Subject: '),
    '',
    ...email
      .trimEnd()
      .split('\n')
      .flatMap((line) => fold(line, width)),
    rule,
  ];
}

/** Long lines are folded as a mail program does; indented ones hold commands to paste and stay whole. */
const fold = (line: string, width: number): string[] => (/^\s/.test(line) ? [line] : wrap(line, width));
