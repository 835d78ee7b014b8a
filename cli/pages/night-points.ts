import type { Night } from '../../lambda/memory/night.ts';
import type { NightPoint } from './model.ts';

/** Remembered nights as points in time, oldest first; a night with an invalid time is skipped. */
export const nightPoints = (nights: readonly Night[]): NightPoint[] =>
  nights
    .map(({ night, rows, overdue, mb, deleted, outcome }) => ({
      at: Date.parse(night),
      rows,
      overdue,
      mb,
      deleted,
      outcome,
    }))
    .filter(({ at }) => !Number.isNaN(at))
    .sort((one, other) => one.at - other.at);
