import { freedExplained, grouped, share, size } from '../screen/text.ts';
import { type Compared, mostCompared, overviewChart } from './charts/overview-chart.ts';
import { breakable, type Child, html } from './html.ts';
import type { Bar, Page } from './model.ts';
import { badgeOf } from './pieces.ts';

/** All indices together: the largest next to each other, and every one in a table that links to its card. */
export function overview({ indices }: Page): Child {
  const compared = indices.flatMap(({ name, bar, counts = bar && countsOf(bar) }): Compared[] =>
    counts ? [{ name, ...counts }] : [],
  );
  const largest = [...compared].sort((one, other) => other.rows - one.rows).slice(0, mostCompared);
  const all = new Map(compared.map((one) => [one.name, one]));
  const sum = (field: 'rows' | 'past') => compared.reduce((total, one) => total + one[field], 0);
  const hasSizes = indices.some(({ sizeMb }) => sizeMb !== undefined);
  const number = (value: number | undefined) => (value === undefined ? '\u2013' : grouped(value));
  const sizeCell = (mb: number | undefined) =>
    hasSizes && html`<td class="roomy">${mb === undefined ? '\u2013' : size(mb)}</td>`;
  const freed = indices.flatMap(({ bar }) => bar?.freedMb ?? []);
  const freedCell = (mb: number | undefined) =>
    freed.length > 0 && html`<td>${mb === undefined ? '\u2013' : size(mb)}</td>`;
  const head = html`<tr><th scope="col">Index</th><th scope="col">Rows</th><th scope="col">Past retention</th><th scope="col" class="roomy">Share</th>${freed.length > 0 && html`<th scope="col">Would free</th>`}${
    hasSizes && html`<th scope="col" class="roomy">Size</th>`
  }</tr>`;
  const rows = indices.map(({ name, badge, bar, sizeMb }, at) => {
    const counts = all.get(name);
    return html`<tr><th scope="row"><a href="#index-${at + 1}">${breakable(name)}</a>${badge && badgeOf(badge)}</th><td>${number(counts?.rows)}</td><td>${number(counts?.past)}</td><td class="roomy">${counts ? share(counts.past, counts.rows) : '\u2013'}</td>${freedCell(bar?.freedMb)}${sizeCell(sizeMb)}</tr>`;
  });
  const foot = html`<tr><th scope="row">All</th><td>${grouped(sum('rows'))}</td><td>${grouped(sum('past'))}</td><td class="roomy">${share(sum('past'), sum('rows'))}</td>${freedCell(
    freed.reduce((total, mb) => total + mb, 0),
  )}${sizeCell(indices.reduce((total, { sizeMb = 0 }) => total + sizeMb, 0))}</tr>`;
  return html`<div class="card">${largest.length > 1 && overviewChart('overview', largest)}${
    compared.length > largest.length && html`<p class="aside">The ${largest.length} largest of ${compared.length}.</p>`
  }<figure><table><caption>Every index, with its rows past the retention</caption><thead>${head}</thead><tbody>${rows}</tbody><tfoot>${foot}</tfoot></table>${freed.length > 0 && html`<p class="aside">${freedExplained}</p>`}</figure></div>`;
}

function countsOf({ parts }: Bar): { rows: number; past: number } {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const staying = parts
    .filter(({ fate }) => fate === 'stays' || fate === 'missing')
    .reduce((sum, part) => sum + part.rows, 0);
  return { rows, past: rows - staying };
}
