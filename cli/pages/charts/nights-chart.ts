import { type ScaleTime, scaleLinear, scaleSymlog, scaleUtc } from 'd3-scale';
import { line } from 'd3-shape';
import { dayMillis } from '../../../lambda/facts/limits.ts';
import { date } from '../../../lambda/wording/numbers.ts';
import { grouped, short, size } from '../../screen/text.ts';
import { type Html, html } from '../html.ts';
import type { NightPoint } from '../model.ts';
import { across, numbers, picture } from './frame.ts';

/**
 * The history of an index: how many rows it had, how large it was, and what was deleted, night by night, over one span
 * of time.
 */

/** Nights in the table next to the pictures; `--json` has all of them. */
const tableNights = 60;
const briefNights = 7;

/** The time span of all pictures that are to be compared. */
export type Span = readonly [from: number, to: number];

export interface NightsFigure {
  /** Unique on the page. */
  id: string;
  name: string;
  nights: readonly NightPoint[];
  span: Span;
  /** True if the chart is one of many: the table then has only the last week. */
  isBrief: boolean;
}

export function nightsFigure({ id, name, nights, span, isBrief }: NightsFigure): Html {
  if (nights.length === 1) return oneNight(nights[0]!);
  const time = scaleUtc(span[0] === span[1] ? [span[0] - dayMillis, span[1] + dayMillis] : [...span], [0, 1]);
  const shown = nights.slice(isBrief ? -briefNights : -tableNights);
  const charts = [
    lineChart({
      id: `${id}-rows`,
      name,
      what: 'Rows',
      nights,
      time,
      of: ({ rows }) => rows,
      part: ({ overdue }) => overdue,
      say: short,
    }),
    lineChart({ id: `${id}-mb`, name, what: 'Size', nights, time, of: ({ mb }) => mb, say: size }),
    wentChart(`${id}-went`, name, nights, time),
  ].filter((chart) => chart !== undefined);
  return html`<figure><div class="plots">${charts}</div>${numbers({
    caption: `${name}: ${shown.length < nights.length ? `the last ${shown.length} of ${nights.length} nights` : count(nights.length, 'night')}`,
    columns: [
      { title: 'Night (UTC)' },
      { title: 'Rows' },
      { title: 'Past retention' },
      { title: 'Size' },
      { title: 'Went' },
    ],
    rows: [...shown]
      .reverse()
      .map(({ at, rows, overdue, mb, deleted, outcome }) => [
        html`${date(at)}${outcome && html` <span class="roomy">${outcome}</span>`}`,
        number(rows),
        number(overdue),
        mb === undefined ? none : size(mb),
        number(deleted),
      ]),
  })}</figure>`;
}

/** One night is not a history: its numbers say it all. */
function oneNight({ at, rows, overdue, mb, deleted }: NightPoint): Html {
  const numbers = [
    ...(rows === undefined ? [] : [count(rows, 'row')]),
    ...(overdue === undefined ? [] : [`${grouped(overdue)} past the retention`]),
    ...(mb === undefined ? [] : [size(mb)]),
    ...(deleted === undefined ? [] : [`${grouped(deleted)} went`]),
  ];
  return html`<p class="aside">One night is remembered, ${date(at)}${numbers.length > 0 && `: ${numbers.join(', ')}`}.</p>`;
}

const none = '\u2013';
const number = (value: number | undefined): string => (value === undefined ? none : grouped(value));
const count = (value: number, one: string): string => `${grouped(value)} ${one}${value === 1 ? '' : 's'}`;

const plot = { top: 14, height: 72, labels: 18 } as const;
const bottom = plot.top + plot.height;

interface LineChart {
  id: string;
  name: string;
  what: string;
  nights: readonly NightPoint[];
  time: ScaleTime<number, number>;
  of(night: NightPoint): number | undefined;
  /** The part past the retention. */
  part?(night: NightPoint): number | undefined;
  say(value: number): string;
}

interface Point {
  at: number;
  value: number;
}

/** With more points than this, only the line is drawn. */
const mostDots = 14;

function lineChart({ id, name, what, nights, time, of, part, say }: LineChart): Html | undefined {
  const points = pointsOf(nights, of);
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return undefined;
  const parts = part ? pointsOf(nights, part) : [];
  const { toY, ticks, isLog } = scale(points, parts);
  // The nested picture is stretched to the available width, except for its strokes.
  const toPath = line<Point>()
    .x(({ at }) => Math.round(time(at) * 1000))
    .y(({ value }) => round(toY(value)));
  const path = (of: readonly Point[], className: string) => {
    const pieces = unbroken(of).map((points) => ({
      d: toPath(points) ?? '',
      left: Math.round(time(points[0]!.at) * 1000),
    }));
    const filled = pieces.map(({ d, left }) => `${d}V${bottom}H${left}Z`).join('');
    return html`${!isLog && html`<path class="area${className}" d="${filled}"/>`}<path class="line${className}" d="${pieces.map(({ d }) => d).join('')}"/>`;
  };
  const dots = (of: readonly Point[], className: string) =>
    dotted(of).map(
      ({ at, value }) =>
        html`<circle class="dot${className}" cx="${across(time(at))}" cy="${round(toY(value))}" r="2.5"/>`,
    );
  const lowest = points.reduce((low, point) => (point.value < low.value ? point : low));
  const highest = points.reduce((high, point) => (point.value > high.value ? point : high));
  const gaps = unbroken(points).length - 1;
  return html`<div><h4>${what}${isLog && ', log scale'}<span>${say(last.value)}</span></h4>${picture({
    id,
    title: `${name}: ${what.toLowerCase()}, night by night`,
    description: [
      points.length === 1
        ? `One night, ${date(first.at)}: ${say(first.value)}.`
        : `${count(points.length, 'night')} from ${date(first.at)} to ${date(last.at)}: ${say(first.value)} at the start, ${say(last.value)} at the end, lowest ${say(lowest.value)}, highest ${say(highest.value)}.`,
      ...(gaps > 0 ? [`${count(gaps, 'gap')} in which no night is remembered.`] : []),
      ...(isLog ? ['The scale is logarithmic.'] : []),
      ...(parts.length > 0 ? [`Past the retention at the end: ${say(parts.at(-1)!.value)}.`] : []),
    ].join(' '),
    height: bottom + plot.labels,
    drawing: [
      ticks.map(
        (tick) => html`<line class="grid" x1="0" x2="100%" y1="${round(toY(tick))}" y2="${round(toY(tick))}"/>`,
      ),
      html`<svg width="100%" height="${bottom + 2}" viewBox="0 0 1000 ${bottom + 2}" preserveAspectRatio="none">${path(points, '')}${parts.length > 0 && path(parts, ' warm')}</svg>`,
      dots(points, ''),
      dots(parts, ' warm'),
      ticks.map((tick) => tick > 0 && html`<text class="halo" x="0" y="${round(toY(tick)) - 3}">${say(tick)}</text>`),
      dates(time, points),
    ],
  })}${parts.length > 0 && html`<ul class="legend"><li><svg width="11" height="11" aria-hidden="true"><rect class="g3" width="11" height="11" rx="2"/></svg>past the retention <b>${say(parts.at(-1)!.value)}</b></li></ul>`}</div>`;
}

function wentChart(
  id: string,
  name: string,
  nights: readonly NightPoint[],
  time: ScaleTime<number, number>,
): Html | undefined {
  const points = pointsOf(nights, ({ deleted }) => (deleted === 0 ? undefined : deleted));
  if (points.length === 0) return undefined;
  const { toY, ticks, isLog } = scale(points, []);
  const total = points.reduce((sum, { value }) => sum + value, 0);
  return html`<div><h4>What went${isLog && ', log scale'}<span>${short(total)} in all</span></h4>${picture({
    id,
    title: `${name}: rows that went, night by night`,
    description: `${count(points.length, 'truncation')} in which rows went, ${grouped(total)} in all; the largest took ${grouped(Math.max(...points.map(({ value }) => value)))}.${isLog ? ' The scale is logarithmic.' : ''}`,
    height: bottom + plot.labels,
    drawing: [
      ticks.map(
        (tick) => html`<line class="grid" x1="0" x2="100%" y1="${round(toY(tick))}" y2="${round(toY(tick))}"/>`,
      ),
      points.map(
        ({ at, value }) =>
          html`<line class="stem" x1="${across(time(at))}" x2="${across(time(at))}" y1="${bottom}" y2="${round(Math.min(bottom - 2, toY(value)))}"/>`,
      ),
      ticks.map((tick) => tick > 0 && html`<text class="halo" x="0" y="${round(toY(tick)) - 3}">${short(tick)}</text>`),
      dates(
        time,
        pointsOf(nights, () => 0),
      ),
    ],
  })}</div>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

const pointsOf = (nights: readonly NightPoint[], of: (night: NightPoint) => number | undefined): Point[] =>
  nights.flatMap((night) => {
    const value = of(night);
    return value === undefined ? [] : [{ at: night.at, value }];
  });

/** If the largest value exceeds the smallest above 0 by this factor, small ones would not show on a linear scale. */
const logFrom = 1000;

/**
 * Linear from zero, or logarithmic if the values need it; zero is at the bottom of both. Only the top has a number, and
 * no line goes above it; between powers of ten the one in the middle has one as well.
 */
function scale(
  points: readonly Point[],
  parts: readonly Point[],
): { toY(value: number): number; ticks: number[]; isLog: boolean } {
  const values = [...points, ...parts].map(({ value }) => value);
  const highest = Math.max(1, ...values);
  const positive = points.map(({ value }) => value).filter((value) => value > 0);
  const isLog = positive.length > 1 && highest / Math.min(...positive) >= logFrom;
  if (!isLog) {
    const toY = scaleLinear([0, highest], [bottom, plot.top]).nice(4);
    return { toY, ticks: [0, toY.domain()[1]!], isLog };
  }
  const powers = Math.ceil(Math.log10(highest));
  const toY = scaleSymlog([0, 10 ** powers], [bottom, plot.top]);
  return { toY, ticks: [0, 10 ** Math.round(powers / 2), 10 ** powers], isLog };
}

/** A pause longer than this many usual ones (or days) is a gap: nothing is drawn where nothing was seen. */
const gapFactor = 2.5;

/** The points in uninterrupted sequences. */
function unbroken(points: readonly Point[]): Point[][] {
  const pauses = points.slice(1).map(({ at }, before) => at - points[before]!.at);
  const usual = [...pauses].sort((one, other) => one - other)[pauses.length >> 1] ?? 0;
  const longest = Math.max(usual, dayMillis) * gapFactor;
  const runs: Point[][] = [];
  points.forEach((point, at) => {
    if (at === 0 || pauses[at - 1]! > longest) runs.push([]);
    runs.at(-1)!.push(point);
  });
  return runs;
}

/** Points that are dots: all of them if there are few, and those without a neighbour to draw a line to. */
const dotted = (points: readonly Point[]): readonly Point[] =>
  points.length <= mostDots ? points : unbroken(points).flatMap((run) => (run.length === 1 ? run : []));

function dates(time: ScaleTime<number, number>, points: readonly Point[]): Html {
  const [from, to] = time.domain() as [Date, Date];
  const y = bottom + 14;
  const only = points.length === 1 ? points[0] : undefined;
  if (only && +to - +from <= 2 * dayMillis) {
    return html`<text x="${across(time(only.at))}" y="${y}" text-anchor="middle">${date(only.at)}</text>`;
  }
  return html`<text x="0" y="${y}">${date(+from)}</text><text x="100%" y="${y}" text-anchor="end">${date(+to)}</text>`;
}
