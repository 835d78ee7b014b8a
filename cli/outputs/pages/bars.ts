import { exact } from '../../../lambda/message/sentences/numbers.ts';
import { type Age, ages, type IndexCounts, type Suggestion, share } from '../../telling/findings.ts';
import { breakable, type Child, type Html, html } from './html.ts';

/**
 * Bars of rows, which a screen reader can name and describe. They have no view box, so that they use the available width
 * and their text keeps its size on a phone: horizontal positions are percentages, vertical ones are pixels.
 */

interface Picture {
  title: string;
  /** How someone would describe it. */
  description: string;
  height: number;
  drawing: Child;
}

const picture = ({ title, description, height, drawing }: Picture): Html =>
  html`<svg role="img" aria-label="${title}. ${description}" width="100%" height="${height}">${drawing}</svg>`;

/** A horizontal position as SVG takes it; two decimals are less than a tenth of a pixel on a phone. */
const across = (part: number): string => `${Math.round(part * 1e4) / 100}%`;

/** What a first run would do with rows: delete them, or leave them although they are past the retention. */
type Fate = 'goes' | 'waits' | 'stays';

interface Part {
  rows: number;
  /** Ages in days. */
  from: number;
  to?: number;
  fate: Fate;
}

/** The rows of one index by age, the oldest on the left, each fate in a colour of its own. */
export function ageBar(name: string, counts: IndexCounts & { kind: 'counted' }, suggestion?: Suggestion): Html {
  const { rowsTotal } = counts;
  if (rowsTotal === 0) return html`<p class="ends"><span class="stay">No rows</span></p>`;
  const parts = partsOf(counts, suggestion);
  const { past = 0, goes = 0, stays } = suggestion ?? {};
  const title = `${name}: rows by age`;
  const fates = { goes: ', would be deleted', waits: ', past the retention', stays: '' };
  const description = `The oldest first. ${parts.map((part) => `${exact(part.rows)} rows, ${span(part)}, ${share(part.rows, rowsTotal)}${fates[part.fate]}.`).join(' ')}`;
  const drawing = blocks(parts, rowsTotal).map(
    ({ left, width, className }) =>
      html`<rect class="part ${className}" x="${across(left)}" y="4" width="${across(width)}" height="26"/>`,
  );
  const going = goes > 0 && html`<b>${exact(goes)}</b> would be deleted (${share(goes, rowsTotal)})`;
  const reason =
    stays !== undefined &&
    html`<p class="aside"><b>${exact(past - goes)}</b> past the retention (${share(past - goes, rowsTotal)}) would stay: ${stays}.</p>`;
  return html`<figure><p class="ends"><span class="gone">${going}</span><span class="stay"><b>${exact(rowsTotal - goes)}</b> stay</span></p>${picture({ title, description, height: 34, drawing })}${legend(parts)}${reason}</figure>`;
}

/** Rows between the ages that were counted, the oldest first. Rows may arrive between two counts: none is negative. */
function partsOf({ rowsTotal, older }: IndexCounts & { kind: 'counted' }, suggestion: Suggestion | undefined): Part[] {
  const { past = 0, goes = 0 } = suggestion ?? {};
  let before = 0;
  const parts = [...ages, 0]
    .sort((one, other) => other - one)
    .flatMap((from, at): Part[] => {
      const upTo = from === 0 ? rowsTotal : Math.min(rowsTotal, Math.max(before, older[from as Age]));
      const to = [...ages].reverse()[at - 1];
      // A limit may end in the middle.
      const ends = [goes, past].filter((end) => end > before && end < upTo);
      return [...ends, upTo].map((end) => {
        const rows = end - before;
        before = end;
        return { rows, from, to, fate: end <= goes ? 'goes' : end <= past ? 'waits' : 'stays' };
      });
    });
  return parts.filter(({ rows }) => rows > 0);
}

/** Where each part is drawn; the parts farthest from the cut have the strongest colour. */
function blocks(parts: readonly Part[], total: number) {
  let [drawn, going, staying] = [0, 0, parts.filter(({ fate }) => fate === 'stays').length];
  return parts.map(({ rows, fate }) => {
    const left = drawn / total;
    drawn += rows;
    const shade = fate === 'goes' ? ++going : 7 - staying--;
    const className = fate === 'waits' ? 'w' : `${fate === 'goes' ? 'g' : 's'}${Math.max(1, Math.min(6, shade))}`;
    return { left, width: rows / total, className };
  });
}

const span = ({ from, to }: Part): string => {
  if (to === undefined) return `over ${from} days`;
  return from === 0 ? `up to ${to} days` : `${from} to ${to} days`;
};

function legend(parts: readonly Part[]): Html {
  const classes = blocks(parts, 1).map(({ className }) => className);
  return html`<ul class="legend">${parts.map(
    (part, at) => html`<li>${sample(classes[at] ?? '')}${span(part)} <b>${exact(part.rows)}</b></li>`,
  )}</ul>`;
}

export interface ComparedIndex {
  name: string;
  rows: number;
  past: number;
  goes: number;
}

/** More cannot be compared by eye; each has its own card. */
const mostCompared = 10;

/** The largest indices side by side: how many rows each has, and how many of them a first run would delete. */
export function comparedBars(indices: readonly ComparedIndex[]): Html {
  const largest = [...indices].sort((one, other) => other.rows - one.rows).slice(0, mostCompared);
  const most = Math.max(1, ...largest.map(({ rows }) => rows));
  const bars = largest.map(({ name, rows, past, goes }) => {
    const bar = (className: string, from: number, to: number) =>
      to > from &&
      html`<rect class="${className}" x="${across(from / most)}" width="${across((to - from) / most)}" height="9"/>`;
    const drawing = [bar('g3', 0, goes), bar('w', goes, past), bar('s4', past, rows)];
    const description = `${exact(rows)} rows, ${exact(goes)} would be deleted, ${exact(past - goes)} more are past the retention.`;
    return html`<li><p class="ends"><b>${breakable(name)}</b><span>${goes > 0 && html`${exact(goes)} of `}${exact(rows)}</span></p>${picture({ title: name, description, height: 9, drawing })}</li>`;
  });
  const key = [
    ['g3', 'a first run would delete'],
    ['w', 'past the retention, would stay'],
    ['s4', 'would stay'],
  ] as const;
  return html`<figure><ul class="compared">${bars}</ul><ul class="legend">${key.map(([colour, meaning]) => html`<li>${sample(colour)}${meaning}</li>`)}</ul>${
    indices.length > largest.length && html`<p class="aside">The ${largest.length} largest of ${indices.length}.</p>`
  }</figure>`;
}

const sample = (colour: string): Html =>
  html`<svg width="11" height="11" aria-hidden="true"><rect class="${colour}" width="11" height="11" rx="2"/></svg>`;
