import { ageBar } from './charts/age-bar.ts';
import { nightsFigure, type Span } from './charts/nights-chart.ts';
import { breakable, type Child, type Html, html } from './html.ts';
import type { IndexPicture, Page } from './model.ts';
import { badgeOf, facts } from './pieces.ts';

/** From this many indices on, those where nothing happened are collapsed, and so is the history of the others. */
const many = 24;

/** A card for each index, in the order of the overview. */
export function indexCards({ indices }: Page): Child {
  if (indices.length === 0) return html`<p class="card">There is no index to show.</p>`;
  const span = spanOf(indices);
  const isMany = indices.length > many;
  const cards = indices.map((index, at) => ({
    isQuiet: isMany && index.isQuiet,
    card: cardOf(index, at, span, isMany),
  }));
  const quiet = cards.filter(({ isQuiet }) => isQuiet).map(({ card }) => card);
  return [
    ...cards.filter(({ isQuiet }) => !isQuiet).map(({ card }) => card),
    quiet.length > 0 &&
      html`<details class="rest"><summary>${quiet.length} ${quiet.length === 1 ? 'index' : 'indices'} where nothing was to be done</summary>${quiet}</details>`,
  ];
}

function cardOf(index: IndexPicture, at: number, span: Span, isMany: boolean): Html {
  const { name, badge, sentence, bar, nights = [] } = index;
  const id = `index-${at + 1}`;
  const history = nights.length > 0 && nightsFigure({ id: `${id}-n`, name, nights, span, isBrief: isMany });
  return html`<section class="card" aria-labelledby="${id}"><div class="top"><h3 id="${id}">${breakable(name)}</h3>${badge && badgeOf(badge)}</div>${
    sentence && html`<p class="sentence">${sentence}</p>`
  }${bar && ageBar(`${id}-b`, name, bar)}${facts('facts', index.facts)}${
    isMany && history ? html`<details><summary>Night by night</summary>${history}</details>` : history
  }</section>`;
}

/** One time span for all, so that pictures below each other can be compared. */
function spanOf(indices: readonly IndexPicture[]): Span {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { nights = [] } of indices) {
    for (const { at } of nights) [from, to] = [Math.min(from, at), Math.max(to, at)];
  }
  return from <= to ? [from, to] : [0, 0];
}
