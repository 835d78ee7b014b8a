import type { Report } from '../model/report-schema.ts';
import { type Form, type Line, render, textLine } from './render.ts';
import type { Command } from './sentences/audience.ts';
import type { Context } from './sentences/phrases.ts';
import { runbookPlace, type Section } from './sentences/runbook.ts';
import { oneLine } from './sentences/text.ts';

/** The mail, for a phone: plain lines, the worst first; after about 40 lines, further problems are only named. */

/** The form of a message that has room for everything. */
export const full: Pick<Form, 'plain' | 'command' | 'runbook' | 'room' | 'most'> = {
  plain: oneLine,
  command: commandLines,
  runbook: runbookText,
  room: { head: 900, why: 900, owner: 700, next: 700, remark: 400 },
  most: { problems: Number.POSITIVE_INFINITY, links: Number.POSITIVE_INFINITY, fine: 12, remarks: 4 },
};

const form: Form = {
  ...full,
  fits: (lines, part) => part === 'rest' || lines.length <= (part === 'problem' ? 36 : 40),
  left: () => Number.POSITIVE_INFINITY,
};

export const mailOf = (report: Report, context: Context): Line[] => render(report, context, form);

/** Only commands are indented. */
export const plainLine = ({ kind, text }: Line): string => (kind === 'command' ? `  ${text}` : text);

/** What a command does, and below it the command whole. */
export function commandLines({ say, line, typedIn }: Command): Line[] {
  const where = typedIn === 'search-engine' ? " (in the search engine's console)" : '';
  return [textLine(`${say}${where}:`), { kind: 'command', text: oneLine(line, 2000) }];
}

export function runbookText(section: Section, { audience }: Context): string {
  const found = runbookPlace(section, audience);
  return oneLine(
    'url' in found ? `Runbook, "${section}": ${found.url}` : `Runbook${found.where}: ${found.command}`,
    700,
  );
}
