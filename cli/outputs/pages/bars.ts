import { dottedName } from '../../../lambda/policy/aspects.ts';
import { exact } from '../../../lambda/report/sentences/numbers.ts';
import { rowsOf, type Suggestion, type SurveyedIndex, share } from '../../events/findings.ts';
import { breakable, type Html, html } from './html.ts';

/**
 * A bar of rows, which a screen reader can name and describe. It has no view box, so that it uses the available width
 * on a phone, too: horizontal positions are percentages, vertical ones are pixels.
 */

/**
 * What a first run would do with the rows of an index, the oldest on the left.
 * @param most rows of a bar of full width
 */
export function rowsBar(index: SurveyedIndex, suggestion: Suggestion | undefined, most: number): Html {
  const [name, rows] = [dottedName(index), rowsOf(index)];
  const heading = html`<b>${breakable(name)}</b>`;
  const { rowsPastRetention = 0, rowsToDelete = 0, whyNotMore }: Partial<Suggestion> = suggestion ?? {};
  if (rows === 0) return html`<p class="ends">${heading}<span class="stay">No rows</span></p>`;
  const part = (className: string, from: number, to: number) =>
    to > from &&
    html`<rect class="${className}" x="${across(from / most)}" width="${across((to - from) / most)}" height="14"/>`;
  const parts = [
    part('g', 0, rowsToDelete),
    part('w', rowsToDelete, rowsPastRetention),
    part('s', rowsPastRetention, rows),
  ];
  const description = `Rows: ${exact(rows)}, to be deleted: ${exact(rowsToDelete)}, also past the retention: ${exact(rowsPastRetention - rowsToDelete)}.`;
  const going =
    rowsToDelete > 0 &&
    html`<span class="gone">${whyNotMore && 'up to '}<b>${exact(rowsToDelete)}</b> would be deleted (${share(rowsToDelete, rows)})</span> `;
  return html`<p class="ends">${heading}<span>${going}<span class="stay"><b>${exact(rows - rowsToDelete)}</b> stay</span></span></p><svg role="img" aria-label="${name}. ${description}" width="100%" height="14">${parts}</svg>`;
}

/** A horizontal position as SVG takes it; two decimals are less than a tenth of a pixel on a phone. */
const across = (part: number): string => `${Math.round(part * 1e4) / 100}%`;

export const legend: Html = html`<ul class="legend">${[
  ['g', 'a first run would delete'],
  ['w', 'past the retention, would stay'],
  ['s', 'would stay'],
].map(
  ([color = '', meaning]) =>
    html`<li><svg width="11" height="11" aria-hidden="true"><rect class="${color}" width="11" height="11" rx="2"/></svg>${meaning}</li>`,
)}</ul>`;
