import type { Chances } from '../world/chances.ts';
import type { Happening, Stage } from './happening.ts';

/** Rows arrive with any timestamp, from the distant past to the future. */

const dayMillis = 86_400_000;
const midnight = (at: number): number => at - (at % dayMillis);

const rows =
  (timestamp: (now: number, chances: Chances) => number) =>
  ({ world, policies }: Stage, chances: Chances): void => {
    for (const { index } of policies) {
      const count = chances.pick([1, 3, 20, 60, 200]);
      const timestamps = Array.from({ length: count }, () => timestamp(world.time.now(), chances));
      world.server.engine.write(index, timestamps);
    }
  };

export const arrivals = {
  'rows of now': { says: 'operations and profiles', happen: rows((now) => now) },
  'rows of midnight': { says: 'daily usage is stamped with the day that it is about', happen: rows(midnight) },
  'rows of yesterday': {
    says: 'usage of the day before comes in when its source is read',
    happen: rows((now, chances) => midnight(now) - dayMillis + chances.between(0, 1) * 1000),
  },
  'rows of last weeks': {
    says: 'a new source looks back 30 days',
    happen: rows((now, chances) => midnight(now) - chances.between(0, 30) * dayMillis),
  },
  'rows of last year': {
    says: 'somebody loads history',
    happen: rows((now, chances) => now - chances.between(31, 300) * dayMillis),
  },
  'rows of tomorrow': {
    says: 'somebody else has a wrong clock or time zone',
    happen: rows((now, chances) => now + chances.between(1, 48) * 3_600_000),
  },
} as const satisfies Record<string, Happening>;
