import type { Destination } from '../destination.ts';
import { fullForm } from '../full-form.ts';
import type { Message } from '../message.ts';
import { type Form, type Line, render } from '../render.ts';

/** The mail, for a phone: plain lines, the worst first; after about 40 lines, further problems are only named. */

/** Whatever other runs have decided has a line for each index. */
const maxCharacters = 40_000;

export const mail = {
  name: 'mail',
  what: 'the mail as plain text',
  limits: { characters: maxCharacters },
  render: (message) => textOf(mailLines(message)),
} as const satisfies Destination;

/** Room for the names of problems that had no other. */
const maxNames = 10_000;

const form: Form = {
  ...fullForm,
  fits: (lines, part) =>
    textOf(lines).length <= maxCharacters - maxNames &&
    (part === 'rest' || lines.length <= (part === 'problem' ? 36 : 40)),
  left: (lines) => maxCharacters - textOf(lines).length - 1,
};

/** The mail's lines, for a screen that marks and wraps them. */
export const mailLines = (message: Message): Line[] => render(message, form);

/** Only commands are indented. */
export const plainLine = ({ kind, text }: Line): string => (kind === 'command' ? `  ${text}` : text);

const textOf = (lines: readonly Line[]): string => lines.map(plainLine).join('\n');
