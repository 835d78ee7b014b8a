import type { Night } from '../../lambda/memory/night.ts';
import { growthOf } from '../../lambda/memory/trends.ts';
import { counted, date, moment } from '../../lambda/wording/numbers.ts';
import type { Memory } from '../history/memory.ts';
import { nameOfIndex } from '../history/names.ts';
import { presentOf } from '../history/present.ts';
import { deletedIn, largestFirst, nightsIn, spanOf } from '../history/text.ts';
import { grouped, size } from '../screen/text.ts';
import type { Fact, IndexPicture, Page } from './model.ts';
import { nightPoints } from './night-points.ts';

/** The memory of nights, as a page; there is at least one night. */

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
  const present = [...memory.values()].map(presentOf);
  const rows = present.reduce((sum, { rows = 0 }) => sum + rows, 0);
  const megabytes = present.flatMap(({ mb }) => mb ?? []);
  return {
    kind: 'history',
    title: 'DataHub retention: history',
    heading: `${counted(nightsIn(memory), 'night', 'nights')} of ${counted(memory.size, 'index', 'indices')}`,
    severity: 'ok',
    about: [
      { term: 'Memory', text: place },
      { term: 'From', text: date(from) },
      { term: 'to', text: date(to) },
      { term: 'Read', text: moment(now) },
    ],
    totals: [
      { term: 'rows after the last night', text: grouped(rows) },
      ...(megabytes.length > 0
        ? [{ term: 'primaries after the last night', text: size(megabytes.reduce((sum, mb) => sum + mb, 0)) }]
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
  const last = nights.findLast((night) => night.outcome !== undefined);
  const name = nights.findLast((night) => night.name !== undefined)?.name;
  const growth = growthOf(nights);
  const { rows, overdue = 0, mb } = presentOf(nights);
  const outcome = last?.outcome;
  const fact = (term: string, text: string | undefined): Fact[] => (text === undefined ? [] : [{ term, text }]);
  return {
    name: nameOfIndex(index),
    ...(outcome !== undefined && {
      sentence: `Last: ${outcome.replaceAll('-', ' ')}, ${date(Date.parse(last!.night))}.`,
    }),
    facts: [...fact('Grows', growth && `${grouped(Math.round(growth.rowsPerDay))} rows a day`), ...fact('Index', name)],
    ...(rows !== undefined && { counts: { rows, past: Math.min(rows, overdue) } }),
    sizeMb: mb,
    nights: nightPoints(nights),
  };
}
