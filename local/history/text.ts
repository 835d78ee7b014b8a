import { dayMillis } from '../../lambda/facts/limits.ts';
import { type Night, nightsKeptDays } from '../../lambda/memory/night.ts';
import { growthOf } from '../../lambda/memory/trends.ts';
import { counted, date } from '../../lambda/wording/numbers.ts';
import { type Column, grouped, short, size, table, widthOf, wrap } from '../screen/text.ts';
import type { Memory } from './memory.ts';
import { nameOfIndex } from './names.ts';
import { type Sparkline, sparkline } from './sparkline.ts';

/** The memory of nights on a screen. */

export type Span = readonly [from: number, to: number];

/** The first and the last night of all. */
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
      (lastOf(others, 'rows') ?? -1) - (lastOf(nights, 'rows') ?? -1) || index.localeCompare(other),
  );

/** The last known value. */
export const lastOf = (nights: readonly Night[], field: 'rows' | 'overdue' | 'mb'): number | undefined =>
  nights.findLast((night) => night[field] !== undefined)?.[field];

export const deletedIn = (nights: readonly Night[]): number =>
  nights.reduce((sum, { deleted = 0 }) => sum + deleted, 0);

/** How many different nights were seen; a night is a run. */
export const nightsIn = (memory: Memory): number =>
  new Set([...memory.values()].flatMap((nights) => nights.map(({ night }) => night))).size;

const widest = 40;
const narrowest = 10;

/** Every index on one line, if there is room. */
export function renderHistory(memory: Memory, width: number): string[] {
  const span = spanOf(memory);
  const columns: Column[] = [
    { title: 'Index' },
    { title: 'Nights', align: 'right' },
    { title: 'Rows', align: 'right' },
    { title: 'Past', align: 'right' },
    { title: 'Size', align: 'right' },
    { title: 'Went', align: 'right' },
  ];
  const rows = largestFirst(memory).map(([index, nights]) => ({ nights, cells: cells(index, nights) }));
  const lines = table(
    columns,
    rows.map(({ cells }) => cells),
  );
  const used = Math.max(...lines.map(widthOf));
  const room = Math.min(width - used - 2, widest);
  const isRoomy = room >= narrowest;
  const lineWidth = columnsFor(span, isRoomy ? room : width - 4);
  const sparks = rows.map(({ nights }) => rowsLine(nights, span, lineWidth));
  const [head, ...body] = lines;
  const drawn = isRoomy
    ? [
        `${head!.padEnd(used)}  Rows, night by night`,
        ...body.map((line, at) => `${line.padEnd(used)}  ${sparks[at]!.text}${mark(sparks[at]!)}`.trimEnd()),
      ]
    : [head!, ...body.flatMap((line, at) => [line, `  ${sparks[at]!.text}${mark(sparks[at]!)}`.trimEnd()])];
  return [
    `${counted(nightsIn(memory), 'night', 'nights')} of ${counted(memory.size, 'index', 'indices')}, ${dates(span)}.`,
    '',
    ...drawn,
    '',
    ...wrap('Past: past the retention, at the end; Went: in all these nights.', width),
    ...legend(sparks, width),
  ];
}

function cells(index: string, nights: readonly Night[]): string[] {
  const mb = lastOf(nights, 'mb');
  const number = (value: number | undefined) => (value === undefined ? '-' : short(value));
  return [
    nameOfIndex(index),
    grouped(nights.length),
    number(lastOf(nights, 'rows')),
    number(lastOf(nights, 'overdue')),
    mb === undefined ? '-' : size(mb),
    short(deletedIn(nights)),
  ];
}

/** How many nights of one index are listed; `--json` has all of them. */
const listed = 60;

/** One index, night by night. */
export function renderIndex(index: string, nights: readonly Night[], width: number): string[] {
  const span = spanOf(new Map([[index, nights]]));
  const lineWidth = columnsFor(span, Math.min(width - 32, 60));
  const growth = growthOf(nights);
  const sum = (one: number, other: number) => one + other;
  const of = (field: 'rows' | 'overdue' | 'mb') => seenOf(nights, (night) => night[field]);
  const went = seenOf(nights, ({ rows, deleted = rows && 0 }) => deleted);
  const lines = [
    { name: 'Rows', spark: sparkline(of('rows'), span, lineWidth), now: lastOf(nights, 'rows'), say: short },
    {
      name: 'Past retention',
      spark: sparkline(of('overdue'), span, lineWidth),
      now: lastOf(nights, 'overdue'),
      say: short,
    },
    { name: 'Size', spark: sparkline(of('mb'), span, lineWidth), now: lastOf(nights, 'mb'), say: size },
    { name: 'Went', spark: sparkline(went, span, lineWidth, sum), now: deletedIn(nights), say: short },
  ].filter(({ spark }) => spark.text !== '');
  const shown = nights.slice(-listed).reverse();
  return [
    `${nameOfIndex(index)}: ${counted(nights.length, 'night', 'nights')}, ${dates(span)}.`,
    ...(growth ? [`It grows by ${grouped(Math.round(growth.rowsPerDay))} rows a day.`] : []),
    '',
    ...lines.map(({ name, spark, now, say }) =>
      `  ${name.padEnd(15)} ${(now === undefined ? '-' : say(now)).padStart(9)}  ${spark.text}${mark(spark)}`.trimEnd(),
    ),
    '',
    ...legend(
      lines.map(({ spark }) => spark),
      width,
    ),
    '',
    ...table(
      [
        { title: 'Night (UTC)' },
        { title: 'Rows', align: 'right' },
        { title: 'Past retention', align: 'right' },
        { title: 'Size', align: 'right' },
        { title: 'Went', align: 'right' },
        { title: 'Outcome' },
      ],
      shown.map(({ night, rows, overdue, mb, deleted, outcome }) => [
        night.slice(0, 16).replace('T', ' '),
        exact(rows),
        exact(overdue),
        mb === undefined ? '-' : size(mb),
        exact(deleted),
        outcome ?? '-',
      ]),
    ),
    ...(shown.length < nights.length
      ? ['', `The last ${listed} of ${grouped(nights.length)} nights; --json has all of them.`]
      : []),
  ];
}

const exact = (value: number | undefined): string => (value === undefined ? '-' : grouped(value));

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

/** A column is a day at least, so that the time between two nights does not look like a missing night. */
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
  `No night is remembered in ${place}. Runs that enforce remember what they see, for ${nightsKeptDays} days; previews and surveys leave no trace.`;
