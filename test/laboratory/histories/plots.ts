import { happens } from '../alphabet/alphabet.ts';
import type { Stage } from '../alphabet/happening.ts';
import { copyByOthers, remove } from '../alphabet/others.ts';
import type { Track } from '../truth/track.ts';
import type { Chances } from '../world/chances.ts';
import { aged, replaced, written } from './policies.ts';

/**
 * Short sequences of letters that chance alone rarely puts into the right order. The letters are from the alphabet;
 * the exact time and the index are still drawn.
 */
export interface Plot {
  says: string;
  /** Called an hour before the night's run. @param start of the run, epoch milliseconds */
  prepare(stage: Stage, chances: Chances, start: number): void;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** At the next real truncate of tonight, once. */
export function atNextSend({ world }: Stage, act: (track: Track) => void): void {
  let done = false;
  const before = world.onSent;
  world.onSent = (track) => {
    before(track);
    if (done) return;
    done = true;
    act(track);
  };
}

const later = ({ world }: Stage, millis: number, act: () => void): void => {
  world.time.at(world.time.now() + millis, act);
};

/** As many rows older than every cutoff as an index may have had at first. */
export function growOld({ world }: Stage, index: string, chances: Chances): void {
  world.server.engine.write(index, aged(chances.next, chances.between(300, 500), 120, 65, world.time.now()));
}

/** Rewrites one policy of the stage for good. */
function rewrite({ world, policies }: Stage, index: string, changes: object): void {
  const policy = policies.find((one) => one.index === index);
  if (policy) world.policies = replaced(world.policies, policy.parameter, written(policy, changes));
}

const wide = {
  maxDeletePercent: 100,
  minDeletePercent: 1,
  maxRowsPerRun: 100_000,
  refuseReindex: false,
  enabled: true,
};

export const plots = {
  'a copy is cut, and late rows fill it up': {
    says: 'a copy ends early; rows of the last two days come in until the counts are as before',
    prepare(stage, chances, start) {
      const { world } = stage;
      for (const { index } of stage.policies) rewrite(stage, index, wide);
      world.time.at(start - minute, () => {
        const endsAt = { share: chances.pick([0.4, 0.8, 0.9, 0.97]), as: chances.pick(['dead', 'cancelled'] as const) };
        world.server.behaviour = { ...world.server.behaviour, pace: { millis: 60_000, endsAt } };
        for (const { index } of stage.policies) growOld(stage, index, chances);
      });
      atNextSend(stage, ({ index, cutoffMillis }) => {
        for (let arrival = 0; arrival < 10; arrival++) {
          later(stage, chances.between(1, 900) * second, () => {
            const at = Math.max(cutoffMillis + 1, start - chances.pick([0.1, 1, 2]) * day);
            const count = chances.between(5, 40);
            world.server.engine.write(
              index,
              Array.from({ length: count }, () => at),
            );
          });
        }
      });
    },
  },
  'somebody’s copy is under way': {
    says: 'another process’s copy is half done when our run begins',
    prepare(stage, chances, start) {
      const { index } = chances.pick(stage.policies);
      rewrite(stage, index, wide);
      const before = chances.pick([2 * minute, 10 * minute, 55 * minute]);
      stage.world.time.at(start - before, () => {
        const millis = before / chances.pick([0.4, 0.7, 0.95]);
        copyByOthers(stage.world, index, { millis, swap: chances.pick(['first', 'last']), what: 'copied by hand' });
      });
    },
  },
  'emptied between two nights': {
    says: 'most young rows go before the next run, and ingestion makes up the total',
    prepare(stage, chances, start) {
      const { time } = stage.world;
      time.at(start - 50 * minute, () => happens('emptied and refilled', stage, chances));
    },
  },
  'orders change while the first is at work': {
    says: 'the policies of the others become stricter before it is their turn',
    prepare(stage, chances, start) {
      const { world } = stage;
      world.time.at(start - minute, () => {
        world.server.behaviour = { ...world.server.behaviour, pace: { millis: 5 * minute } };
      });
      atNextSend(stage, () => {
        const letters = ['retention changes', 'policy off', 'policy gone', 'limits change', 'pauses'] as const;
        happens(chances.pick(letters), stage, chances);
      });
      world.time.at(start + 10 * hour, () => happens('resumes', stage, chances));
    },
  },
  'something else deletes just before the call': {
    says: 'between the baseline and the last dry run most old rows go',
    prepare(stage, chances, start) {
      const { world } = stage;
      const { index } = chances.pick(stage.policies);
      rewrite(stage, index, wide);
      world.time.at(start - minute, () => growOld(stage, index, chances));
      for (let turn = 0; turn < 40; turn++) {
        world.time.at(start + turn * chances.between(100, 500), () => {
          const physical = world.server.engine.behind(index);
          if (!physical) return;
          let left = 15;
          world.others(index, 'rows deleted', () =>
            remove(world, physical, (timestamp) => timestamp < start - 61 * day && left-- > 0),
          );
        });
      }
    },
  },
  'a start far ahead': {
    says: 'one execution gets a start that is minutes or weeks away',
    prepare(stage, chances, start) {
      stage.world.time.at(start - second, () => {
        const aheadMillis = chances.pick([2 * minute, hour, 8 * day, 25 * day]);
        stage.begin(`ahead-${stage.night}-${chances.between(1, 99_999)}`, {}, { aheadMillis });
      });
    },
  },
  'redriven after others': {
    says: 'the run is stopped as it sends; others judge what it sent, and truncate the index again; then it is redriven',
    prepare(stage, chances) {
      atNextSend(stage, ({ index }) => {
        const first = stage.scheduled();
        if (!first || first.ended) return;
        first.stop();
        const begin = (what: string) => stage.begin(`${what}-${stage.night}-${chances.between(1, 99_999)}`, {});
        const again = chances.pick([90, 180]) * minute;
        const two = chances.happens(0.5);
        later(stage, 30 * minute, () => begin('judges'));
        if (two) {
          later(stage, again - 5 * minute, () => growOld(stage, index, chances));
          later(stage, again, () => begin('truncates'));
        }
        later(stage, 2 * again - 5 * minute, () => growOld(stage, index, chances));
        later(stage, 2 * again, () => first.redrive());
      });
    },
  },
  'two runs at once': {
    says: 'a second execution begins within seconds of the first',
    prepare(stage, chances, start) {
      for (const { index } of stage.policies) rewrite(stage, index, wide);
      stage.world.time.at(start - minute, () => {
        for (const { index } of stage.policies) growOld(stage, index, chances);
      });
      stage.world.time.at(start + chances.between(-5000, 10_000), () => {
        stage.begin(`beside-${stage.night}-${chances.between(1, 99_999)}`, {});
      });
    },
  },
  'at work for more than a day': {
    says: 'a task stands still for over a day, or goes on past the end of the next night; its status says so',
    prepare(stage, chances, start) {
      const { world, policies } = stage;
      for (const { index } of policies) rewrite(stage, index, wide);
      world.time.at(start - minute, () => {
        for (const { index } of policies) growOld(stage, index, chances);
      });
      const pace = chances.pick([
        { millis: minute, hangMillis: 26 * hour },
        { millis: minute, hangMillis: 50 * hour },
        { millis: 40 * hour },
        { millis: 60 * hour },
      ]);
      const before = world.onActing;
      world.onActing = (track) => {
        before(track);
        world.server.behaviour = { ...world.server.behaviour, pace };
      };
    },
  },
  'nothing is left, and then there is': {
    says: 'a delete stands still; somebody deletes its rows, and brings them back in the end',
    prepare(stage, chances, start) {
      const { world } = stage;
      const { index } = chances.pick(stage.policies);
      rewrite(stage, index, wide);
      world.time.at(start - minute, () => {
        growOld(stage, index, chances);
        world.server.behaviour = { ...world.server.behaviour, pace: { millis: minute, hangMillis: 3 * hour } };
      });
      atNextSend(stage, (track) => {
        let gone: number[] = [];
        later(stage, chances.between(60, 120) * second, () => {
          const physical = world.server.engine.behind(track.index);
          if (!physical) return;
          world.others(track.index, 'rows deleted', () => {
            gone = remove(world, physical, (timestamp) => timestamp < start - 29 * day);
          });
        });
        later(stage, chances.between(125, 1000) * second, () => world.server.engine.write(track.index, gone));
      });
    },
  },
  'the mode is set back to preview': {
    says: 'a person’s enforcing run in a preview stage outlasts its time, and its truncation then dies',
    prepare(stage, chances, start) {
      const { world } = stage;
      world.settings = { ...world.settings, mode: 'preview' };
      for (const { index } of stage.policies) rewrite(stage, index, wide);
      world.time.at(start - minute, () => {
        for (const { index } of stage.policies) growOld(stage, index, chances);
        const pace = { millis: 30 * hour, endsAt: { share: chances.pick([0, 0.3, 0.8]), as: 'dead' as const } };
        world.server.behaviour = { ...world.server.behaviour, pace };
      });
      world.time.at(start + minute, () => {
        stage.begin(`by-hand-${stage.night}-${chances.between(1, 99_999)}`, { mode: 'enforce' });
      });
    },
  },
} as const satisfies Record<string, Plot>;
export type PlotName = keyof typeof plots;
export const plotNames = Object.keys(plots) as PlotName[];
