import { oneLine } from '../text/text.ts';
import type { Command } from '../words/reader.ts';
import { runbookPlace } from '../words/runbook.ts';
import type { Place } from '../words/table.ts';
import type { Item } from './items.ts';

/**
 * One problem as lines of plain text: what, why, owner and note, the next step, the runbook. Only commands are
 * indented, and the line above says what they do; a text stays on one line, so nothing that it quotes looks like one.
 */
export function paragraph({ head, words, owner }: Item, place: Place): string[] {
  return [
    head,
    words.why,
    words.aside ?? '',
    owner,
    words.next === undefined ? '' : `Next: ${words.next}`,
    ...commandLines(words.look),
    ...commandLines(words.act),
    ...commandLines(words.instead),
    words.section === undefined ? '' : runbookLine(words.section, place),
  ]
    .filter((line) => line !== '')
    .map((line) => (line.startsWith('  ') ? `  ${oneLine(line, 2000)}` : oneLine(line, 700)));
}

function commandLines(command: Command | undefined): string[] {
  if (command === undefined) return [];
  const where = command.typedIn === 'search-engine' ? " (in the search engine's console)" : '';
  return [`${command.say}${where}:`, `  ${command.line}`];
}

function runbookLine(section: NonNullable<Item['words']['section']>, place: Place): string {
  const found = runbookPlace(section, place);
  return 'url' in found ? `Runbook, "${section}": ${found.url}` : `Runbook${found.where}: ${found.command}`;
}
