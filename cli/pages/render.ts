import { commandsOf } from '../../lambda/notification/next/step.ts';
import type { Instruction } from '../../lambda/wording/instruction.ts';
import { size } from '../screen/text.ts';
import { indexCards } from './cards.ts';
import { document } from './document.ts';
import { breakable, type Child, type Html, html } from './html.ts';
import type { Attention, Page } from './model.ts';
import { overview } from './overview.ts';
import { code, facts } from './pieces.ts';

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

/** The fill of the hatched parts in all pictures. */
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

function attention({ attention: all, allWell }: Page): Child {
  return all.length === 0 ? html`<p class="card well">${allWell}</p>` : all.map(alert);
}

function alert({ severity, title, lines, instructions, next }: Attention): Html {
  return html`<article class="card alert ${severity}"><h3>${breakable(title)}</h3>${lines.map((line) => html`<p>${line}</p>`)}${
    instructions.length > 0 && html`<ol>${instructions.map((one) => html`<li>${instruction(one)}</li>`)}</ol>`
  }${next && html`<p class="next"><b>Next:</b> ${next.text}</p>${commandsOf(next).map(({ say, line }) => html`<p>${say}:</p>${code(line)}`)}`}</article>`;
}

const instruction = ({ say, line }: Instruction): Html =>
  line === undefined ? html`${say}.` : html`${say}:${code(line)}`;

function beside({ toKnow, unmanaged, suggestions, message }: Page): Array<readonly [string, string, Child]> {
  const list = (texts: readonly string[]) => html`<ul>${texts.map((text) => html`<li>${text}</li>`)}</ul>`;
  return [
    ...(toKnow.length > 0 ? [['to-know', 'To know', html`<div class="card">${list(toKnow)}</div>`] as const] : []),
    ...(suggestions
      ? [
          [
            'policies',
            'Suggested policies',
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
