import { type Html, html } from './html.ts';
import type { Fact, IndexPicture } from './model.ts';

/** Small pieces shared by several parts of a page. */

export const badgeOf = ({ text, severity }: NonNullable<IndexPicture['badge']>): Html =>
  html`<span class="badge ${severity}">${text}</span>`;

export const facts = (className: string, all: readonly Fact[]): Html | undefined =>
  all.length === 0
    ? undefined
    : html`<dl class="${className}">${all.map(({ term, text }) => html`<div><dt>${term}</dt><dd>${text}</dd></div>`)}</dl>`;

export const code = (text: string): Html => html`<pre><code>${text}</code></pre>`;
