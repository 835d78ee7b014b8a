import type { Chances } from '../world/chances.ts';
import type { Happening, Scene } from './happening.ts';

/** Rows arrive with any timestamp, from the distant past to the future. */

const dayMillis = 86_400_000;
const midnight = (at: number): number => at - (at % dayMillis);

const rows =
  (timestamp: (now: number, chances: Chances) => number) =>
  ({ world, policies }: Scene, chances: Chances): void => {
    for (const { index } of policies) {
      const count = chances.pick([1, 3, 20, 60, 200]);
      const timestamps = Array.from({ length: count }, () => timestamp(world.time.now(), chances));
      world.server.engine.write(index, timestamps);
    }
  };

export const arrivals = {
  // Operations and profiles.
  'rows of now': rows((now) => now),
  // Daily usage is stamped with the day that it is about.
  'rows of midnight': rows(midnight),
  // Usage of the day before comes in when its source is read.
  'rows of yesterday': rows((now, chances) => midnight(now) - dayMillis + chances.between(0, 1) * 1000),
  // A new source looks back 30 days.
  'rows of last weeks': rows((now, chances) => midnight(now) - chances.between(0, 30) * dayMillis),
  // Somebody loads history.
  'rows of last year': rows((now, chances) => now - chances.between(31, 300) * dayMillis),
  // Somebody else has a wrong clock or time zone.
  'rows of tomorrow': rows((now, chances) => now + chances.between(1, 48) * 3_600_000),
} as const satisfies Record<string, Happening>;
