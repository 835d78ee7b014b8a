import { exact } from '../../../lambda/message/numbers.ts';
import type { PolicyInput } from '../../../lambda/policy/schema.ts';
import { ages, type IndexCounts, share } from '../../telling/findings.ts';
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

interface Part {
  rows: number;
  /** Ages in days. */
  from: number;
  to?: number;
  goes: boolean;
}

/**
 * The rows of one index by age, the oldest on the left: rows that the suggested policy would delete in one colour, rows
 * that stay in another.
 */
export function ageBar(name: string, counts: IndexCounts & { kind: 'counted' }, policy?: PolicyInput): Html {
  const { rowsTotal } = counts;
  if (rowsTotal === 0) return html`<p class="ends"><span class="stay">No rows</span></p>`;
  const parts = partsOf(counts, policy?.enabled === false ? undefined : policy?.retentionDays);
  const goes = parts.filter((part) => part.goes).reduce((sum, { rows }) => sum + rows, 0);
  const title = `${name}: rows by age`;
  const description = `The oldest first. ${parts.map((part) => `${exact(part.rows)} rows, ${span(part)}, ${share(part.rows, rowsTotal)}${part.goes ? ', past the retention' : ''}.`).join(' ')}`;
  const drawing = blocks(parts, rowsTotal).map(
    ({ left, width, className }) =>
      html`<rect class="part ${className}" x="${across(left)}" y="4" width="${across(width)}" height="26"/>`,
  );
  const past = goes > 0 && html`<b>${exact(goes)}</b> past the retention (${share(goes, rowsTotal)})`;
  return html`<figure><p class="ends"><span class="gone">${past}</span><span class="stay"><b>${exact(rowsTotal - goes)}</b> stay</span></p>${picture({ title, description, height: 34, drawing })}${legend(parts)}</figure>`;
}

/** Rows between the ages that were counted, the oldest first. Rows may arrive between two counts: none is negative. */
function partsOf({ rowsTotal, older }: IndexCounts & { kind: 'counted' }, days: number | undefined): Part[] {
  let before = 0;
  const parts = [...ages].reverse().map((from, at): Part => {
    const upTo = Math.min(rowsTotal, Math.max(before, older[from]));
    const rows = upTo - before;
    before = upTo;
    return { rows, from, to: [...ages].reverse()[at - 1], goes: days !== undefined && from >= days };
  });
  return [...parts, { rows: rowsTotal - before, from: 0, to: ages[0], goes: false }].filter(({ rows }) => rows > 0);
}

/** Where each part is drawn; the parts farthest from the cut have the strongest colour. */
function blocks(parts: readonly Part[], total: number) {
  const counts = { true: 0, false: parts.filter(({ goes }) => !goes).length };
  let drawn = 0;
  return parts.map(({ rows, goes }) => {
    const left = drawn / total;
    drawn += rows;
    const shade = goes ? ++counts.true : 7 - counts.false--;
    return { left, width: rows / total, className: `${goes ? 'g' : 's'}${Math.max(1, Math.min(6, shade))}` };
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

export interface Compared {
  name: string;
  rows: number;
  goes: number;
}

/** More cannot be compared by eye; each has its own card. */
const mostCompared = 10;

/** The largest indices side by side: how many rows each has, and how many of them a first run would delete. */
export function comparedBars(indices: readonly Compared[]): Html {
  const largest = [...indices].sort((one, other) => other.rows - one.rows).slice(0, mostCompared);
  const most = Math.max(1, ...largest.map(({ rows }) => rows));
  const bars = largest.map(({ name, rows, goes }) => {
    const [going, staying] = [goes / most, (rows - goes) / most];
    const drawing = html`<rect class="g3" x="0" width="${across(going)}" height="9"/><rect class="s4" x="${across(going)}" width="${across(staying)}" height="9"/>`;
    const description = `${exact(rows)} rows, ${exact(goes)} would be deleted.`;
    return html`<li><p class="ends"><b>${breakable(name)}</b><span>${exact(rows)}</span></p>${picture({ title: name, description, height: 9, drawing })}</li>`;
  });
  const key = [
    ['g3', 'a first run would delete'],
    ['s4', 'would stay'],
  ] as const;
  return html`<figure><ul class="compared">${bars}</ul><ul class="legend">${key.map(([colour, meaning]) => html`<li>${sample(colour)}${meaning}</li>`)}</ul>${
    indices.length > largest.length && html`<p class="aside">The ${largest.length} largest of ${indices.length}.</p>`
  }</figure>`;
}

const sample = (colour: string): Html =>
  html`<svg width="11" height="11" aria-hidden="true"><rect class="${colour}" width="11" height="11" rx="2"/></svg>`;
