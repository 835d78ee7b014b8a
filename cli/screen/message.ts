import type { ComposedMessage } from '../../lambda/notification/message.ts';
import { wrap } from './text.ts';

/** The notification as it looks in an email. */
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

/** Long lines are wrapped as an email program would; indented ones contain commands to paste and are not. */
const fold = (line: string, width: number): string[] => (/^\s/.test(line) ? [line] : wrap(line, width));
