import { freedExplained, grouped, share, size, wrap } from '../screen/text.ts';
import type { Survey } from './count.ts';
import { type DamageLine, damage } from './damage.ts';
import { hints } from './hints.ts';
import { renderFailures, renderTable } from './render.ts';
import { gainOf, reasonOf, suggest } from './suggestion.ts';

/** Everything a survey found, for a screen. */
export function renderSurvey(found: Survey, width: number, now: number): string[] {
  if (found.indices.length === 0) return ['There is no time series index.'];
  return [
    ...damage(found, now).flatMap((line) => damageLines(line, width)),
    ...wrap('Rows older than N days, and what would remain without them:', width),
    '',
    ...renderTable(found.indices, width),
    ...prefixed(
      'What to know:',
      hints(found).flatMap((hint) => wrap(hint, width, '- ')),
    ),
    ...prefixed('Suggested policies:', [
      ...suggest(found, now).flatMap((one) => wrap(reasonOf(one), width, '- ')),
      ...prefixed('', wrap(freedInAll(found, now), width)),
    ]),
    // Last, where people see it: what the figures above leave out.
    ...prefixed('', renderFailures(found, width)),
  ];
}

/** A command is meant for pasting: it stays on one line, however long. */
function damageLines({ kind, text }: DamageLine, width: number): string[] {
  if (kind === 'command') return [`  ${text}`];
  return kind === 'item' ? wrap(text, width, '- ') : ['', ...wrap(text, width), ''];
}

/** What a first run with the suggested policies would delete and free. */
function freedInAll(found: Survey, now: number): string {
  const { rows, of, mb } = gainOf(found, suggest(found, now));
  if (rows === 0) return '';
  const freed = mb === undefined ? '' : ` and free about ${size(mb)}`;
  return `With them a first run would delete ${grouped(rows)} of ${grouped(of)} rows (${share(rows, of)})${freed}.${mb === undefined ? '' : ` ${freedExplained}`}`;
}

const prefixed = (title: string, lines: string[]): string[] =>
  lines.length === 0 ? [] : ['', ...(title === '' ? [] : [title]), ...lines];
