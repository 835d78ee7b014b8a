import { type Child, type Html, html } from '../html.ts';

/**
 * What every chart has: a picture that a screen reader can name and describe, and the same numbers in a table next to
 * it.
 *
 * Pictures have no view box, so that they use the available width and their text keeps its size on a phone: horizontal
 * positions are percentages, vertical ones are pixels.
 */

export interface Picture {
  /** Unique on the page. */
  id: string;
  title: string;
  /** How someone would describe it. */
  description: string;
  height: number;
  drawing: Child;
}

export const picture = ({ id, title, description, height, drawing }: Picture): Html =>
  html`<svg role="img" aria-labelledby="${id}-t" aria-describedby="${id}-d" width="100%" height="${height}"><title id="${id}-t">${title}</title><desc id="${id}-d">${description}</desc>${drawing}</svg>`;

export interface Column {
  title: string;
  /** Text is left-aligned, numbers right-aligned. */
  isText?: boolean;
}

export interface Table {
  caption: string;
  columns: readonly Column[];
  /** The first cell of a row is its name. */
  rows: ReadonlyArray<readonly Child[]>;
}

export function dataTable({ caption, columns, rows }: Table): Html {
  const kind = (at: number) => (columns[at]?.isText && at > 0 ? html` class="word"` : undefined);
  return html`<table><caption>${caption}</caption><thead><tr>${columns.map(
    ({ title }, at) => html`<th scope="col"${kind(at)}>${title}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) =>
      html`<tr>${row.map((cell, at) => (at === 0 ? html`<th scope="row">${cell}</th>` : html`<td${kind(at)}>${cell}</td>`))}</tr>`,
  )}</tbody></table>`;
}

/** The table of a picture, collapsed. */
export const numbers = (table: Table): Html =>
  html`<details><summary>The numbers</summary>${dataTable(table)}</details>`;

/** A horizontal position as SVG takes it; two decimals are less than a tenth of a pixel on a phone. */
export const across = (share: number): string => `${Math.round(share * 1e4) / 100}%`;

/** How a text is anchored at a horizontal position so that it stays within the picture. */
export const anchor = (share: number): 'start' | 'middle' | 'end' =>
  share < 0.2 ? 'start' : share > 0.8 ? 'end' : 'middle';
