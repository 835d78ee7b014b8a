import type { Random } from '../cli/operations-service/random.ts';

/** The progress of a task: the share (0 to 1) of its rows as a function of the share of its time. */
export interface Course {
  /** Rows that are really done. */
  rows(share: number): number;
  /** What the task's status reports; undefined if it has no counters. */
  counters(share: number): number | undefined;
}

const same = (rows: (share: number) => number): Course => ({ rows, counters: rows });
const linear = (share: number): number => share;

export const shapes = {
  linear: () => same(linear),
  /** Caches are cold, or the cluster is busy at first: it speeds up. */
  'slow start': () => same((share) => share ** 2),
  stalls: (random: Random) => same(stalling(random)),
  /** A sliced task reports the slices that have ended. */
  'zero until the end': () => ({ rows: linear, counters: (share) => (share < 1 ? 0 : 1) }),
  /** A status without counters. */
  'none at all': () => ({ rows: linear, counters: () => undefined }),
} satisfies Record<string, (random: Random) => Course>;

export type ShapeName = keyof typeof shapes;
export const shapeNames = Object.keys(shapes) as ShapeName[];

/** Shapes whose counters show how far the task is. */
export const usable: readonly ShapeName[] = ['linear', 'slow start', 'stalls'];

/** Two to five pauses at any time, each of 2 to 12 % of the working time. */
function stalling(random: Random): (share: number) => number {
  const pauses = Array.from({ length: 2 + Math.floor(random() * 4) }, () => ({
    after: random(),
    lasts: 0.02 + random() * 0.1,
  })).sort((one, other) => one.after - other.after);
  const whole = 1 + pauses.reduce((sum, { lasts }) => sum + lasts, 0);
  return (share) => {
    let left = share * whole;
    let done = 0;
    for (const { after, lasts } of pauses) {
      if (left <= after - done) return done + left;
      left -= after - done;
      done = after;
      if (left <= lasts) return done;
      left -= lasts;
    }
    return Math.min(1, done + left);
  };
}
