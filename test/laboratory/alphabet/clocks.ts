import type { Happening } from './happening.ts';

/** Wall clocks jump back and forth until the night is over; the monotonic clock does not. */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

export const clocks = {
  'server’s clock jumps': {
    says: 'its answers, and the names that it gives, tell another time',
    happen: ({ world }, chances) => {
      const millis = chances.pick([
        -400 * day,
        -2 * hour,
        -15 * minute,
        -3 * minute,
        3 * minute,
        15 * minute,
        25 * day,
      ]);
      world.servers[0].engine.set({ clockSkewSeconds: millis / 1000 });
    },
  },
  'our clock jumps': {
    says: 'the functions’ clock of the wall, at any moment of a run',
    happen: ({ world }, chances) => {
      world.clocks.functions = chances.pick([
        -40 * day,
        -2 * hour,
        -4 * minute,
        4 * minute,
        15 * minute,
        2 * hour,
        25 * day,
      ]);
    },
  },
  'starts ahead': {
    says: 'an execution gets a start that is not now',
    happen: ({ world }, chances) => {
      world.clocks.starts = chances.pick([-3 * day, -hour, 30_000, 5 * minute, 8 * day, 25 * day]);
    },
  },
  'all our clocks ahead': {
    says: 'functions and starts agree, and are wrong',
    happen: ({ world }, chances) => {
      const millis = chances.pick([-2 * day, 15 * minute, 25 * day]);
      world.clocks.functions = millis;
      world.clocks.starts = millis;
    },
  },
} as const satisfies Record<string, Happening>;
