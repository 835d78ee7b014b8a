import { grouped, share, size } from '../screen/text.ts';
import { ageBar } from './charts/age-bar.ts';
import { nightsFigure, type Span } from './charts/nights-chart.ts';
import { type Compared, mostCompared, overviewChart } from './charts/overview-chart.ts';
import { document } from './document.ts';
import { breakable, type Child, type Html, html } from './html.ts';
import type { Attention, Bar, Fact, IndexPicture, Page } from './model.ts';

/** A page's data as one HTML file: what needs attention, all indices together, each by itself, and the message as it was sent. */
export function renderPage(page: Page): string {
  const { title, indices } = page;
  const sections: Array<[id: string, heading: string, content: Child]> = [
    ...(page.kind === 'history'
      ? []
      : [['attention', page.kind === 'survey' ? 'To look at first' : 'Needs attention', attention(page)] as const]),
    ...(indices.length > 1 ? [['all', 'All indices', overview(page)] as const] : []),
    ['indices', indices.length === 1 ? 'The index' : 'Index by index', indexCards(page)],
    ...beside(page),
  ].map(([id, heading, content]) => [id as string, heading as string, content as Child]);
  return document(title, [
    html`<a class="skip" href="#main">Skip to the content</a>${patterns}`,
    head(page),
    html`<main id="main">${sections.map(
      ([id, heading, content]) =>
        html`<section aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>${content}</section>`,
    )}</main>`,
    html`<footer><p>Made by datahub-retention. This page asks nothing of any network and holds no script.</p></footer>`,
  ]);
}

/** What the hatched parts of all pictures are filled with. */
const patterns = html`<svg class="defs" aria-hidden="true"><defs>${[
  ['overdue', 'warm', 6, 1.6] as const,
  ['later', 'warm', 6, 3.2] as const,
  ['missing', 'bad', 7, 4] as const,
].map(
  ([id, className, step, width]) =>
    html`<pattern id="${id}" width="${step}" height="${step}" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="under" width="${step}" height="${step}"/><line class="${className}" x1="0" y1="0" x2="0" y2="${step}" stroke-width="${width * 2}"/></pattern>`,
)}</defs></svg>`;

const head = ({ title, heading, about, totals }: Page): Html =>
  html`<header><p class="kicker">${title}</p><h1>${heading}</h1>${facts('about', about)}${
    totals.length > 0 && facts('totals', totals)
  }</header>`;

const facts = (className: string, all: readonly Fact[]): Html | undefined =>
  all.length === 0
    ? undefined
    : html`<dl class="${className}">${all.map(({ term, text }) => html`<div><dt>${term}</dt><dd>${text}</dd></div>`)}</dl>`;

function attention({ attention: all, allWell }: Page): Child {
  return all.length === 0 ? html`<p class="card well">${allWell}</p>` : all.map(alert);
}

function alert({ severity, title, lines, instructions, next }: Attention): Html {
  return html`<article class="card alert ${severity}"><h3>${breakable(title)}</h3>${lines.map((line) => html`<p>${line}</p>`)}${
    instructions.length > 0 &&
    html`<ol>${instructions.map(({ say, request }) => html`<li>${say}${request && code(request)}</li>`)}</ol>`
  }${next && html`<p class="next"><b>Next:</b> ${next.text}</p>${next.command && html`<p>${next.command.effect}</p>${code(next.command.line)}`}`}</article>`;
}

const code = (text: string): Html => html`<pre><code>${text}</code></pre>`;

function overview({ indices }: Page): Child {
  const compared = indices.flatMap(({ name, bar, nights }): Compared[] => {
    const counts = bar ? countsOf(bar) : lastCounts(nights);
    return counts ? [{ name, ...counts }] : [];
  });
  const largest = [...compared].sort((one, other) => other.rows - one.rows).slice(0, mostCompared);
  const all = new Map(compared.map((one) => [one.name, one]));
  const total = compared.reduce((sum, one) => ({ rows: sum.rows + one.rows, past: sum.past + one.past }), {
    rows: 0,
    past: 0,
  });
  const hasSizes = indices.some(({ sizeMb }) => sizeMb !== undefined);
  const number = (value: number | undefined) => (value === undefined ? '\u2013' : grouped(value));
  return html`<div class="card">${largest.length > 1 && overviewChart('overview', largest)}${
    compared.length > largest.length && html`<p class="aside">The ${largest.length} largest of ${compared.length}.</p>`
  }<figure><table><caption>Every index, with the rows that go or are past the retention</caption><thead><tr><th scope="col">Index</th><th scope="col">Rows</th><th scope="col">Go, or past</th><th scope="col" class="roomy">Share</th>${
    hasSizes && html`<th scope="col" class="roomy">Size</th>`
  }</tr></thead><tbody>${indices.map(({ name, badge, sizeMb }, at) => {
    const counts = all.get(name);
    return html`<tr><th scope="row"><a href="#index-${at + 1}">${breakable(name)}</a>${badge && badgeOf(badge)}</th><td>${number(counts?.rows)}</td><td>${number(counts?.past)}</td><td class="roomy">${counts ? share(counts.past, counts.rows) : '\u2013'}</td>${
      hasSizes && html`<td class="roomy">${sizeMb === undefined ? '\u2013' : size(sizeMb)}</td>`
    }</tr>`;
  })}</tbody><tfoot><tr><th scope="row">All</th><td>${grouped(total.rows)}</td><td>${grouped(total.past)}</td><td class="roomy">${share(total.past, total.rows)}</td>${
    hasSizes && html`<td class="roomy">${size(indices.reduce((sum, { sizeMb = 0 }) => sum + sizeMb, 0))}</td>`
  }</tr></tfoot></table></figure></div>`;
}

const badgeOf = ({ text, severity }: NonNullable<IndexPicture['badge']>): Html =>
  html`<span class="badge ${severity}">${text}</span>`;

function countsOf({ parts }: Bar): { rows: number; past: number } {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const staying = parts
    .filter(({ fate }) => fate === 'stays' || fate === 'missing')
    .reduce((sum, part) => sum + part.rows, 0);
  return { rows, past: rows - staying };
}

function lastCounts(nights: IndexPicture['nights']): { rows: number; past: number } | undefined {
  const last = nights?.findLast(({ rows }) => rows !== undefined);
  return last?.rows === undefined ? undefined : { rows: last.rows, past: last.overdue ?? 0 };
}

/** From so many on, what is past of each index is folded away: the page is scrolled through for what matters now. */
const many = 24;

function indexCards({ indices }: Page): Child {
  if (indices.length === 0) return html`<p class="card">There is no index to show.</p>`;
  const span = spanOf(indices);
  return indices.map((index, at) => {
    const { name, badge, sentence, bar, nights } = index;
    const id = `index-${at + 1}`;
    const history = nights && nightsFigure(`${id}-n`, name, nights, span);
    return html`<section class="card" aria-labelledby="${id}"><div class="top"><h3 id="${id}">${breakable(name)}</h3>${badge && badgeOf(badge)}</div>${
      sentence && html`<p class="sentence">${sentence}</p>`
    }${bar && ageBar(`${id}-b`, name, bar)}${facts('facts', index.facts)}${
      history &&
      (indices.length > many && nights.length > 0
        ? html`<details><summary>Night by night</summary>${history}</details>`
        : history)
    }</section>`;
  });
}

/** One span for all, so that pictures beneath each other can be compared. */
function spanOf(indices: readonly IndexPicture[]): Span {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { nights = [] } of indices) {
    for (const { at } of nights) [from, to] = [Math.min(from, at), Math.max(to, at)];
  }
  return from <= to ? [from, to] : [0, 0];
}

function beside({ toKnow, unmanaged, suggestions, message }: Page): Array<readonly [string, string, Child]> {
  const list = (texts: readonly string[]) => html`<ul>${texts.map((text) => html`<li>${text}</li>`)}</ul>`;
  return [
    ...(toKnow.length > 0 ? [['to-know', 'To know', html`<div class="card">${list(toKnow)}</div>`] as const] : []),
    ...(suggestions
      ? [
          [
            'policies',
            'Policies to begin with',
            html`<div class="card">${list(suggestions.reasons)}<details><summary>As a policies file</summary>${code(suggestions.json)}</details></div>`,
          ] as const,
        ]
      : []),
    ...(unmanaged.length > 0 ? [['unmanaged', 'Without a policy', unmanagedTable(unmanaged)] as const] : []),
    ...(message
      ? [
          [
            'message',
            'The message, as it was sent',
            html`<div class="card"><p><b>${message.subject}</b></p>${code(message.text)}</div>`,
          ] as const,
        ]
      : []),
  ];
}

const unmanagedTable = (unmanaged: Page['unmanaged']): Html =>
  html`<div class="card"><table><caption>Nothing is deleted there</caption><thead><tr><th scope="col">Index</th><th scope="col">Size</th><th scope="col">Grows a day</th></tr></thead><tbody>${unmanaged.map(
    ({ name, sizeMb, mbPerDay }) =>
      html`<tr><th scope="row">${breakable(name)}</th><td>${sizeMb === undefined ? '\u2013' : size(sizeMb)}</td><td>${mbPerDay === undefined ? '\u2013' : size(mbPerDay)}</td></tr>`,
  )}</tbody></table></div>`;
