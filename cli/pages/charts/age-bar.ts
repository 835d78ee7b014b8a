import { scaleLinear } from 'd3-scale';
import { grouped, share, size } from '../../screen/text.ts';
import { type Html, html } from '../html.ts';
import type { Bar, Fate, Part } from '../model.ts';
import { across, anchor, numbers, picture } from './frame.ts';

/**
 * The rows of one index by age, the oldest on the left, with the policy's cut: rows to delete to its left, rows that
 * stay to its right.
 */

const place = { top: 18, height: 26 } as const;

export function ageBar(id: string, name: string, bar: Bar): Html {
  const { parts: given, cutDays, threshold, ceiling, freedMb, remark } = bar;
  const parts = given.filter(({ rows }) => rows > 0);
  const total = sum(parts);
  const toShare = scaleLinear([0, Math.max(1, total)], [0, 1]);
  const past = sum(parts.filter(({ fate }) => isPast(fate)));
  const cut = toShare(past);
  const bottom = place.top + place.height;
  const apart = threshold !== undefined && ceiling !== undefined && ceiling - threshold < 60;
  const height = bottom + (threshold === undefined && ceiling === undefined ? 4 : apart ? 36 : 22);
  let drawn = 0;
  const segments = shaded(parts).map(({ part, className }) => {
    const left = toShare(drawn);
    drawn += part.rows;
    const width = toShare(drawn) - left;
    // A thin part would consist only of its edges.
    const thin = width < 0.01 ? ' thin' : '';
    return html`<rect class="part ${className}${thin}" x="${across(left)}" y="${place.top}" width="${across(width)}" height="${place.height}"/>`;
  });
  return html`<figure>${ends(parts, total, freedMb)}${picture({
    id,
    title: `${name}: rows by age`,
    description: describe(parts, total, cutDays, threshold, ceiling),
    height,
    drawing: [
      total === 0 && html`<rect class="empty" x="0" y="${place.top}" width="100%" height="${place.height}"/>`,
      segments,
      cutDays !== undefined && total > 0 && cutMark(cut, cutDays, bottom),
      threshold !== undefined && total > 0 && limitMark('threshold', threshold, bottom, 0),
      ceiling !== undefined && total > 0 && limitMark('ceiling', ceiling, bottom, apart ? 14 : 0),
    ],
  })}${legend(parts)}${remark && html`<p class="aside">${remark}</p>`}${numbers({
    caption: `Rows of ${name} by age`,
    columns: [{ title: 'Age' }, { title: 'What becomes of them', isText: true }, { title: 'Rows' }, { title: 'Share' }],
    rows: [
      ...parts.map((part) => [span(part), fateWords[part.fate], grouped(part.rows), share(part.rows, total)]),
      ['all', '', grouped(total), ''],
    ],
  })}</figure>`;
}

const fateWords: Record<Fate, string> = {
  went: 'went',
  goes: 'would go',
  later: 'go in later runs',
  overdue: 'past the retention, kept for now',
  missing: 'missing: should have stayed',
  stays: 'stay',
};

const isPast = (fate: Fate): boolean => fate !== 'stays' && fate !== 'missing';
const sum = (parts: readonly Part[]): number => parts.reduce((all, { rows }) => all + rows, 0);

/** Each part with its colour: on both sides, the parts farthest from the cut are the strongest. */
function shaded(parts: readonly Part[]): Array<{ part: Part; className: string }> {
  const going = parts.filter(({ fate }) => fate === 'went' || fate === 'goes');
  const staying = parts.filter(({ fate }) => fate === 'stays');
  return parts.map((part) => {
    switch (part.fate) {
      case 'went':
      case 'goes':
        return { part, className: `g${1 + paler(going.indexOf(part), going.length)}` };
      case 'stays':
        return { part, className: `s${6 - paler(staying.length - 1 - staying.indexOf(part), staying.length)}` };
      case 'missing':
        return { part, className: 'missing-part' };
      default:
        return { part, className: part.fate };
    }
  });
}

/** How much paler than the strongest of its kind, 0 to 5; a part that is alone is in between. */
const paler = (at: number, of: number): number => (of === 1 ? 2 : Math.round(at * Math.min(1.6, 5 / (of - 1))));

function ends(parts: readonly Part[], total: number, freed: number | undefined): Html {
  if (total === 0) return html`<p class="ends"><span class="stay">No rows</span></p>`;
  const of = (...fates: Fate[]) => sum(parts.filter(({ fate }) => fates.includes(fate)));
  const gone = (['went', 'goes', 'later', 'overdue'] as const)
    .map((fate) => ({ rows: of(fate), words: endWords[fate] }))
    .filter(({ rows }) => rows > 0);
  const missing = of('missing');
  const stay = of('stays');
  return html`<p class="ends"><span class="gone">${gone.map(
    ({ rows, words }, at) =>
      html`${at > 0 && ', '}<b>${grouped(rows)}</b> ${words}${at === 0 && ` (${share(rows, total)})`}`,
  )}${freed !== undefined && freed > 0 && `, about ${size(freed)}`}</span>${missing > 0 && html`<span class="missing"><b>${grouped(missing)}</b> missing</span>`}<span class="stay"><b>${grouped(stay)}</b> ${stay === 1 ? 'stays' : 'stay'}</span></p>`;
}

const endWords = { went: 'went', goes: 'would go', later: 'later', overdue: 'past retention, kept for now' } as const;

function cutMark(at: number, days: number, bottom: number): Html {
  return html`<line class="mark" x1="${across(at)}" x2="${across(at)}" y1="${place.top - 4}" y2="${bottom + 3}"/><text class="halo" x="${across(at)}" y="11" text-anchor="${anchor(at)}">${days} days</text>`;
}

function limitMark(what: 'threshold' | 'ceiling', percent: number, bottom: number, down: number): Html {
  const at = percent / 100;
  const side = at < 0.5 ? 'start' : 'end';
  return html`<line class="limit" x1="${across(at)}" x2="${across(at)}" y1="${bottom + 1}" y2="${bottom + 19 + down}"/><text x="${across(at)}" y="${bottom + 17 + down}" dx="${side === 'start' ? 4 : -4}" text-anchor="${side}">${what} ${percent} %</text>`;
}

function legend(parts: readonly Part[]): Html | undefined {
  if (parts.length < 2) return undefined;
  return html`<ul class="legend">${shaded(parts).map(
    ({ part, className }) =>
      html`<li><svg width="11" height="11" aria-hidden="true"><rect class="${className}" width="11" height="11" rx="2"/></svg>${label(part)} <b>${grouped(part.rows)}</b></li>`,
  )}</ul>`;
}

/** What the colour alone does not show. */
function label(part: Part): string {
  const words = { went: 'went', goes: '', later: 'later', overdue: 'kept for now', missing: 'missing', stays: '' }[
    part.fate
  ];
  const age = part.from === undefined && part.to === undefined ? '' : span(part);
  const text = [age, words].filter(Boolean).join(', ');
  return text || fateWords[part.fate];
}

function span({ from, to }: Part): string {
  if (from === undefined && to === undefined) return 'not known';
  if (to === undefined) return `over ${from} d`;
  return from ? `${from}\u2013${to} d` : `up to ${to} d`;
}

function describe(
  parts: readonly Part[],
  total: number,
  cutDays: number | undefined,
  threshold: number | undefined,
  ceiling: number | undefined,
): string {
  if (total === 0) return 'The index has no rows.';
  return [
    `One bar of ${grouped(total)} rows, the oldest left.`,
    ...parts.map((part) => {
      const age = part.from === undefined && part.to === undefined ? '' : ` (${span(part)})`;
      return `${grouped(part.rows)} ${fateWords[part.fate]}${age}, ${share(part.rows, total)}.`;
    }),
    ...(cutDays === undefined ? [] : [`The policy cuts at ${cutDays} days.`]),
    ...(threshold === undefined ? [] : [`Threshold: ${threshold} % of the rows.`]),
    ...(ceiling === undefined ? [] : [`Ceiling: ${ceiling} % of the rows.`]),
  ].join(' ');
}
