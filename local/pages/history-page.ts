import type { Night } from '../../lambda/memory/night.ts';
import { growthOf } from '../../lambda/memory/trends.ts';
import { counted, date, moment } from '../../lambda/wording/numbers.ts';
import type { Memory } from '../history/memory.ts';
import { nameOfIndex } from '../history/names.ts';
import { deletedIn, largestFirst, lastOf, nightsIn, spanOf } from '../history/text.ts';
import { grouped, size } from '../screen/text.ts';
import type { Fact, IndexPicture, Page } from './model.ts';
import { nightPoints } from './night-points.ts';

/** The memory of nights, as a page. */

export interface Remembered {
  memory: Memory;
  /** The file or the table. */
  place: string;
  /** Epoch milliseconds. */
  now: number;
}

export function historyPage({ memory, place, now }: Remembered): Page {
  const indices = largestFirst(memory).map(([index, nights]) => pictureOf(index, nights));
  const [from, to] = spanOf(memory);
  const went = [...memory.values()].reduce((sum, nights) => sum + deletedIn(nights), 0);
  const rows = [...memory.values()].reduce((sum, nights) => sum + (lastOf(nights, 'rows') ?? 0), 0);
  const megabytes = [...memory.values()].map((nights) => lastOf(nights, 'mb')).filter((mb) => mb !== undefined);
  return {
    kind: 'history',
    title: 'DataHub retention: history',
    heading:
      memory.size === 0
        ? 'No night is remembered'
        : `${counted(nightsIn(memory), 'night', 'nights')} of ${counted(memory.size, 'index', 'indices')}`,
    severity: 'ok',
    about: [
      { term: 'Memory', text: place },
      ...(memory.size === 0
        ? []
        : [
            { term: 'From', text: date(from) },
            { term: 'to', text: date(to) },
          ]),
      { term: 'Read', text: moment(now) },
    ],
    totals:
      memory.size === 0
        ? []
        : [
            { term: 'rows, latest', text: grouped(rows) },
            ...(megabytes.length > 0
              ? [{ term: 'primaries, latest', text: size(megabytes.reduce((sum, mb) => sum + mb, 0)) }]
              : []),
            { term: 'rows deleted in all these nights', text: grouped(went) },
          ],
    attention: [],
    allWell: '',
    indices,
    toKnow: [],
    unmanaged: [],
  };
}

function pictureOf(index: string, nights: readonly Night[]): IndexPicture {
  const last = nights.findLast(({ rows }) => rows !== undefined);
  const name = nights.findLast((night) => night.name !== undefined)?.name;
  const growth = growthOf(nights);
  const outcome = last?.outcome;
  const fact = (term: string, text: string | undefined): Fact[] => (text === undefined ? [] : [{ term, text }]);
  return {
    name: nameOfIndex(index),
    ...(outcome !== undefined && {
      sentence: `Last: ${outcome.replaceAll('-', ' ')}, ${date(Date.parse(last!.night))}.`,
    }),
    facts: [...fact('Grows', growth && `${grouped(Math.round(growth.rowsPerDay))} rows a day`), ...fact('Index', name)],
    sizeMb: lastOf(nights, 'mb'),
    nights: nightPoints(nights),
  };
}
