import type { Command } from './guide/audience.ts';
import type { Section } from './guide/runbook.ts';
import { type Form, type Line, textLine } from './render.ts';
import type { Context } from './sentences/phrases.ts';
import { oneLine } from './sentences/text.ts';

/** The form of a message that has room for everything, commands included. */
export const fullForm: Omit<Form, 'fits' | 'left'> = {
  plain: oneLine,
  command: commandLines,
  runbook: runbookText,
  room: { head: 900, why: 900, owner: 700, next: 700, remark: 400 },
  max: { problems: Number.POSITIVE_INFINITY, links: Number.POSITIVE_INFINITY, fine: 12, remarks: 4 },
};

/** What a command does, and below it the command whole. */
function commandLines({ say, line, body, typedIn }: Command): Line[] {
  const where = typedIn === 'search-engine' ? " (in the search engine's console)" : '';
  const lines = [line, ...(body === undefined ? [] : [body])];
  return [textLine(`${say}${where}:`), ...lines.map((text): Line => ({ kind: 'command', text: oneLine(text, 2000) }))];
}

function runbookText(section: Section, { guide }: Context): string {
  const found = guide.runbook(section);
  return oneLine(
    'url' in found ? `Runbook, "${section}": ${found.url}` : `Runbook${found.where}: ${found.command}`,
    700,
  );
}
