import { scaleLinear } from 'd3-scale';
import { grouped } from '../../screen/text.ts';
import { type Html, html } from '../html.ts';
import { across, picture } from './frame.ts';

/** The largest indices side by side: how many rows each has, and how many of them are past the retention. */

export interface Compared {
  name: string;
  rows: number;
  past: number;
}

const rowHeight = 36;
/** More cannot be compared by eye; the table has them. */
export const mostCompared = 10;

export function overviewChart(id: string, indices: readonly Compared[]): Html {
  const largest = Math.max(1, ...indices.map(({ rows }) => rows));
  const width = scaleLinear([0, largest], [0, 1]);
  const labels = labelsOf(indices.map(({ name }) => name));
  return html`<figure>${picture({
    id,
    title: 'Rows by index',
    description: `${indices.length} bars, the largest first; of each the part past its retention comes first. ${indices
      .map(({ name, rows, past }) => `${name}: ${grouped(rows)} rows, ${grouped(past)} of them past it.`)
      .join(' ')}`,
    height: indices.length * rowHeight,
    drawing: indices.map(({ rows, past }, at) => {
      const top = at * rowHeight;
      return html`<text class="strong" x="0" y="${top + 13}">${labels[at]}</text><text x="100%" y="${top + 13}" text-anchor="end">${grouped(rows)}</text>${
        // Anything with a row is visible, however small.
        rows > 0 && html`<rect class="s4" x="0" y="${top + 18}" width="2" height="9"/>`
      }<rect class="g3" x="0" y="${top + 18}" width="${across(width(past))}" height="9"/><rect class="s4" x="${across(width(past))}" y="${top + 18}" width="${across(width(rows - past))}" height="9"/>`;
    }),
  })}<ul class="legend"><li><svg width="11" height="11" aria-hidden="true"><rect class="g3" width="11" height="11" rx="2"/></svg>past the retention</li><li><svg width="11" height="11" aria-hidden="true"><rect class="s4" width="11" height="11" rx="2"/></svg>within it</li></ul></figure>`;
}

/** Characters of a name that fit on a phone next to the number. */
const nameRoom = 30;

/** All labels in one form: full names if they all fit, otherwise the aspects, if these tell the indices apart. */
function labelsOf(names: readonly string[]): string[] {
  if (names.every((name) => name.length <= nameRoom)) return [...names];
  const aspects = names.map((name) => name.slice(name.indexOf('.') + 1));
  const chosen = new Set(aspects).size === names.length ? aspects : names;
  return chosen.map((text) => (text.length <= nameRoom ? text : `${text.slice(0, nameRoom - 1)}…`));
}
