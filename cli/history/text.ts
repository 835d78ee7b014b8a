import { dayMillis } from '../../lambda/facts/limits.ts';
import { type Night, nightsKeptDays } from '../../lambda/memory/night.ts';
import { growthOf } from '../../lambda/memory/trends.ts';
import { counted, date } from '../../lambda/wording/numbers.ts';
import { type Column, grouped, short, size, table, widthOf, wrap } from '../screen/text.ts';
import type { Memory } from './memory.ts';
import { nameOfIndex } from './names.ts';
import { presentOf, sizeAfter } from './present.ts';
import { type Sparkline, sparkline } from './sparkline.ts';

/** The memory of nights on a screen. */

export type Span = readonly [from: number, to: number];

/** The first and the last of all nights. */
export function spanOf(memory: Memory): Span {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const nights of memory.values()) {
    for (const { night } of nights) [from, to] = [Math.min(from, Date.parse(night)), Math.max(to, Date.parse(night))];
  }
  return from <= to ? [from, to] : [0, 0];
}

/** Indices with the most rows first. */
export const largestFirst = (memory: Memory): Array<[index: string, nights: readonly Night[]]> =>
  [...memory].sort(
    ([index, nights], [other, others]) =>
      (presentOf(others).rows ?? -1) - (presentOf(nights).rows ?? -1) || index.localeCompare(other),
  );

export const deletedIn = (nights: readonly Night[]): number =>
  nights.reduce((sum, { deleted = 0 }) => sum + deleted, 0);

/** How many different nights were seen; a night is a run. */
export const nightsIn = (memory: Memory): number =>
  new Set([...memory.values()].flatMap((nights) => nights.map(({ night }) => night))).size;

const widest = 40;
const lineTitle = 'Rows, night by night';

/** Every index on one line if there is room, otherwise on several. */
export function renderHistory(memory: Memory, width: number): string[] {
  const span = spanOf(memory);
  const indices = largestFirst(memory).map(([index, nights]) => ({ index, nights, cells: cells(index, nights) }));
  const lines = table(
    columns,
    indices.map(({ cells }) => cells),
  );
  const used = Math.max(...lines.map(widthOf));
  const room = Math.min(width - used - 2, widest);
  const isRoomy = room >= lineTitle.length;
  const lineWidth = columnsFor(span, isRoomy ? room : width - 4);
  const sparks = indices.map(({ nights }) => rowsLine(nights, span, lineWidth));
  const drawn = (at: number) => `${sparks[at]!.text}${mark(sparks[at]!)}`;
  const [head, ...body] = lines;
  const below = (at: number) => [`  ${drawn(at)}`.trimEnd()];
  return [
    ...wrap(
      `${counted(nightsIn(memory), 'night', 'nights')} of ${counted(memory.size, 'index', 'indices')}, ${dates(span)}.`,
      width,
    ),
    '',
    ...(isRoomy
      ? [
          `${head!.padEnd(used)}  ${lineTitle}`,
          ...body.map((line, at) => `${line.padEnd(used)}  ${drawn(at)}`.trimEnd()),
        ]
      : used <= width
        ? [head!, ...body.flatMap((line, at) => [line, ...below(at)])]
        : indices.flatMap((one, at) => [...inWords(one, width), ...below(at)])),
    '',
    ...wrap(
      'Rows, Past and Size: after the last night; Past: past the retention; Went: in all these nights. The lines show what each night found before it deleted.',
      width,
    ),
    ...legend(sparks, width),
  ];
}

const columns: readonly Column[] = [
  { title: 'Index' },
  { title: 'Nights', align: 'right' },
  { title: 'Rows', align: 'right' },
  { title: 'Past', align: 'right' },
  { title: 'Size', align: 'right' },
  { title: 'Went', align: 'right' },
];

function cells(index: string, nights: readonly Night[]): string[] {
  const { rows, overdue, mb } = presentOf(nights);
  return [
    nameOfIndex(index),
    grouped(nights.length),
    say(short, rows),
    say(short, overdue),
    say(size, mb),
    short(deletedIn(nights)),
  ];
}

/** What the columns say, as text, for screens that are too narrow for them. */
function inWords({ index, nights }: { index: string; nights: readonly Night[] }, width: number): string[] {
  const { rows, overdue, mb } = presentOf(nights);
  const parts = [
    ...(rows === undefined ? [] : [`${short(rows)} rows`]),
    ...(overdue === undefined ? [] : [`${short(overdue)} past`]),
    ...(mb === undefined ? [] : [size(mb)]),
    `${short(deletedIn(nights))} went in ${counted(nights.length, 'night', 'nights')}`,
  ];
  return [nameOfIndex(index), ...wrap(parts.join(', '), width, '  ')];
}

const say = (as: (value: number) => string, value: number | undefined): string =>
  value === undefined ? '-' : as(value);

/** How many nights of one index are listed; `--json` has all of them. */
const listed = 60;

/** One index, night by night. */
export function renderIndex(index: string, nights: readonly Night[], width: number): string[] {
  const span = spanOf(new Map([[index, nights]]));
  const lineWidth = columnsFor(span, Math.min(width - 32, 60));
  const growth = growthOf(nights);
  const present = presentOf(nights);
  const sum = (one: number, other: number) => one + other;
  const of = (field: 'rows' | 'overdue' | 'mb') =>
    sparkline(
      seenOf(nights, (night) => night[field]),
      span,
      lineWidth,
    );
  const went = seenOf(nights, ({ rows, deleted = rows && 0 }) => deleted);
  const lines = [
    { name: 'Rows', spark: of('rows'), now: say(short, present.rows) },
    { name: 'Past retention', spark: of('overdue'), now: say(short, present.overdue) },
    { name: 'Size', spark: of('mb'), now: say(size, present.mb) },
    { name: 'Went', spark: sparkline(went, span, lineWidth, sum), now: short(deletedIn(nights)) },
  ].filter(({ spark }) => spark.text !== '');
  return [
    ...wrap(`${nameOfIndex(index)}: ${counted(nights.length, 'night', 'nights')}, ${dates(span)}.`, width),
    ...(growth ? wrap(`It grows by ${grouped(Math.round(growth.rowsPerDay))} rows a day.`, width) : []),
    '',
    ...lines.map(({ name, spark, now }) =>
      `  ${name.padEnd(15)} ${now.padStart(9)}  ${spark.text}${mark(spark)}`.trimEnd(),
    ),
    '',
    ...wrap('The numbers: after the last night; the lines: what each night found before it deleted.', width),
    ...legend(
      lines.map(({ spark }) => spark),
      width,
    ),
    '',
    ...nightByNight(nights, width),
    ...(nights.length > listed
      ? ['', ...wrap(`The last ${listed} of ${grouped(nights.length)} nights; --json has all of them.`, width)]
      : []),
  ];
}

/** The widest table that fits: with exact numbers, with rounded ones, or with only what matters most. */
function nightByNight(nights: readonly Night[], width: number): string[] {
  const shown = nights
    .map((night, at) => ({ ...night, came: sizeAfter(nights, at) }))
    .slice(-listed)
    .reverse();
  const right = (title: string): Column => ({ title, align: 'right' });
  const full = (as: (rows: number) => string) =>
    table(
      [{ title: 'Night (UTC)' }, ...['Rows', 'Past', 'Size', 'Went', 'Size after'].map(right), { title: 'Outcome' }],
      shown.map(({ night, rows, overdue, mb, deleted, came, outcome }) => [
        night.slice(0, 16).replace('T', ' '),
        say(as, rows),
        say(as, overdue),
        say(size, mb),
        say(as, deleted),
        say(size, came),
        outcome ?? '-',
      ]),
    );
  const least = table(
    [{ title: 'Night' }, ...['Rows', 'Went', 'Size'].map(right), { title: 'Outcome' }],
    shown.map(({ night, rows, mb, deleted, came, outcome }) => [
      night.slice(0, 10),
      say(short, rows),
      say(short, deleted),
      say(size, came ?? mb),
      outcome ?? '-',
    ]),
  );
  return [full(grouped), full(short)].find((lines) => Math.max(...lines.map(widthOf)) <= width) ?? least;
}

const seenOf = (nights: readonly Night[], value: (night: Night) => number | undefined) =>
  nights.flatMap((night) => {
    const found = value(night);
    return found === undefined ? [] : [{ at: Date.parse(night.night), value: found }];
  });

/** Rows, or megabytes if only those are remembered (an index without a policy). */
function rowsLine(nights: readonly Night[], span: Span, width: number): Sparkline {
  const rows = seenOf(nights, ({ rows }) => rows);
  return sparkline(rows.length > 0 ? rows : seenOf(nights, ({ mb }) => mb), span, width);
}

/** A column is at least a day, so that the time between two nights does not look like a missing night. */
const columnsFor = ([from, to]: Span, room: number): number =>
  Math.max(1, Math.min(room, Math.round((to - from) / dayMillis) + 1));

const mark = ({ isLog }: Sparkline): string => (isLog ? ' *' : '');

const dates = ([from, to]: Span): string => (date(from) === date(to) ? date(from) : `${date(from)} to ${date(to)}`);

const legend = (sparks: readonly Sparkline[], width: number): string[] => [
  ...wrap(
    'The lines begin at 0, and each has its own height; a blank is a time that is not remembered, _ is none at all.',
    width,
  ),
  ...(sparks.some(({ isLog }) => isLog)
    ? wrap('* a factor of a thousand or more lies between lowest and highest: each step is a factor.', width)
    : []),
];

/** The text if there is nothing to show. */
export const nothingRemembered = (place: string): string =>
  `No night is remembered in ${place}. Runs that enforce remember what they see, for ${nightsKeptDays} days, and so does the one on sample data; previews and surveys leave no trace.`;
