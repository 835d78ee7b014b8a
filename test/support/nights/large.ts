import { anIndexOf, type Nights, policyFor } from './night.ts';

const two = (at: number): string => String(at).padStart(2, '0');
const aspects = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, at) => `${name}${two(at + 1)}`);

/** Nights with so much to report that it has to be grouped. */
export const large: Nights = {
  'sixty-policies': {
    async play(begin) {
      const quiet = aspects(40, 'quiet');
      const young = aspects(8, 'young');
      const busy = aspects(8, 'busy');
      const old = aspects(2, 'old');
      const mistyped = aspects(2, 'mistyped');
      const { night } = await begin({
        indices: [
          ...quiet.map((aspect, at) => anIndexOf(at, 1_000, aspect)),
          ...young.map((aspect) => anIndexOf(0, 500, aspect)),
          ...busy.map((aspect, at) => anIndexOf(1_000 + at, 1_000, aspect)),
          ...old.map((aspect) => anIndexOf(700, 0, aspect)),
        ],
        policies: [...quiet, ...young, ...busy, ...old, ...mistyped].map((aspect) => policyFor(aspect)),
      });
      return night();
    },
  },

  'two-hundred-policies': {
    async play(begin) {
      const all = Array.from({ length: 200 }, (_, at) => `aspectNumber${String(at).padStart(3, '0')}`);
      const { night } = await begin({
        indices: all
          .filter((_, at) => at % 40 !== 7)
          .map((aspect, at) => anIndexOf(at % 10 === 3 ? 100 + at : at % 10, 100, aspect)),
        policies: all.map((aspect, at) => policyFor(aspect, at % 50 === 13 ? { maxDeletePercent: 40 } : {})),
      });
      return night();
    },
  },
};
