import { happens } from '../alphabet/alphabet.ts';
import { namesOf, strangers } from '../alphabet/answers.ts';
import type { Scene } from '../alphabet/happening.ts';
import { remove, shardsAway } from '../alphabet/others.ts';
import { day, hour, minute, second } from '../time.ts';
import type { Track } from '../truth/track.ts';
import type { Chances } from '../world/chances.ts';
import type { Pace } from '../world/engine.ts';
import type { Execution } from '../world/execution.ts';
import { unreportedOf } from '../world/records.ts';
import type { World } from '../world/world.ts';
import { aged, replaced, written } from './policies.ts';

/**
 * Short sequences of letters that chance alone rarely puts into the right order: what happens, by name, around a run.
 * Each is called an hour before the run. The exact time and the index are still drawn. Times are epoch milliseconds.
 */
export type Plot = (stage: Scene, chances: Chances, start: number) => void;

/** At the next real truncate of tonight, once. */
function atNextSend({ world }: Scene, act: (track: Track) => void): void {
  let done = false;
  const before = world.onSent;
  world.onSent = (track) => {
    before(track);
    if (done) return;
    done = true;
    act(track);
  };
}

/** When tonight's run begins its first Truncate. */
function atTruncate(stage: Scene, start: number, act: () => void): void {
  const { journal, time } = stage.world;
  const isBegun = () =>
    journal.findLast(
      (event) => event.at < start || (event.kind === 'invocation' && event.invocation.step === 'truncate'),
    );
  const look = () => {
    if ((isBegun()?.at ?? 0) >= start) act();
    else if (time.now() < start + 5 * minute) later(stage, 50, look);
  };
  time.at(start, look);
}

const later = ({ world }: Scene, millis: number, act: () => void): void => {
  world.time.at(world.time.now() + millis, act);
};

/** At the next verdict of tonight, once. */
function atNextVerdict({ world }: Scene, act: (index: string) => void): void {
  let done = false;
  const before = world.onWritten;
  world.onWritten = (written) => {
    before(written);
    if (done || !unreportedOf(written.next)) return;
    done = true;
    act(written.next.index);
  };
}

/** Adds 300 to 500 rows that are older than every cutoff. */
function growOld({ world }: Scene, index: string, chances: Chances): void {
  world.server.engine.write(index, aged(chances.next, chances.between(300, 500), 120, 65, world.time.now()));
}

const wide = {
  maxDeletePercent: 100,
  minDeletePercent: 1,
  maxRowsPerRun: 100_000,
  refuseReindex: false,
  enabled: true,
};

/** Every index has much to truncate, and nothing in its policy is against it. @param pace of tonight's tasks */
function muchToDo(stage: Scene, chances: Chances, start: number, pace?: Pace): void {
  const { world, policies } = stage;
  for (const policy of policies) {
    world.policies = replaced(world.policies, policy.parameter, written(policy, wide));
  }
  world.time.at(start - minute, () => {
    for (const { index } of policies) growOld(stage, index, chances);
    if (pace) world.server.behavior = { ...world.server.behavior, pace };
  });
}

/** Tonight's real truncates get one of these answers, and do nothing; the server says that it would delete in place. */
function willRefuse({ world }: Scene, start: number, answers: World['weather']['answers']): void {
  world.time.at(start - second, () => {
    world.server.behavior = { ...world.server.behavior, truncates: 'delete', announces: true };
    world.weather = { ...world.weather, truncate: 1, answers, effects: ['none'] };
  });
}

/** Tonight's truncations reindex, and their tasks can be asked. */
function willReindex({ world }: Scene, start: number, more: object = {}): void {
  world.time.at(start - second, () => {
    const reindexes = { truncates: 'reindex', force: 'ignores', swap: 'first', status: 'reported' } as const;
    world.server.behavior = { ...world.server.behavior, ...reindexes, ...more };
  });
}

const begin = (stage: Scene, chances: Chances, what: string, input: object = {}, options: object = {}): Execution =>
  stage.begin(`${what}-${stage.night}-${chances.between(1, 99_999)}`, { mode: 'enforce', ...input }, options);

export const plots = {
  'a reindex is cut short, and late rows of the last two days fill it up': (stage, chances, start) => {
    const endsAt = { share: chances.pick([0.4, 0.8, 0.9, 0.97]), as: chances.pick(['dead', 'cancelled'] as const) };
    muchToDo(stage, chances, start, { millis: minute, endsAt });
    atNextSend(stage, ({ index, cutoffMillis }) => {
      for (let arrival = 0; arrival < 10; arrival++) {
        const at = Math.max(cutoffMillis + 1, start - chances.pick([0.1, 1, 2]) * day);
        const rows = Array.from({ length: chances.between(5, 40) }, () => at);
        later(stage, chances.between(1, 900) * second, () => stage.world.server.engine.write(index, rows));
      }
    });
  },
  'something else deletes rows between the baseline and the last dry run': (stage, chances, start) => {
    const { world } = stage;
    const { index } = chances.pick(stage.policies);
    muchToDo(stage, chances, start);
    for (let turn = 0; turn < 40; turn++) {
      world.time.at(start + turn * chances.between(100, 500), () => {
        const physical = world.server.engine.behind(index);
        let left = 15;
        const goes = (timestamp: number) => timestamp < start - 61 * day && left-- > 0;
        if (physical) world.others(index, 'rows deleted', () => remove(world, physical, goes));
      });
    }
  },
  'one execution gets a start that is minutes or weeks away': (stage, chances, start) => {
    const aheadMillis = chances.pick([2 * minute, hour, 8 * day, 25 * day]);
    stage.world.time.at(start - second, () => begin(stage, chances, 'ahead', {}, { aheadMillis }));
  },
  'stopped as it sends; others judge that, and truncate again; then it is redriven': (stage, chances, start) => {
    const { world } = stage;
    const isRefused = chances.happens(0.5);
    if (isRefused) {
      muchToDo(stage, chances, start);
      willRefuse(stage, start, ['401', '403']);
    }
    atNextSend(stage, ({ index }) => {
      if (isRefused) world.weather = { ...world.weather, truncate: 0 };
      const first = stage.scheduled();
      if (!first || first.ended) return;
      first.stop();
      const again = chances.pick([90, 180]) * minute;
      // Others of this index alone leave its other indices to the run that is redriven.
      const named = stage.policies.filter((policy) => policy.index === index).map(({ name }) => name);
      const input = isRefused ? { indices: named } : {};
      later(stage, 30 * minute, () => begin(stage, chances, 'judges', input));
      if (chances.happens(0.5)) {
        later(stage, again - 5 * minute, () => growOld(stage, index, chances));
        later(stage, again, () => begin(stage, chances, 'truncates', input));
      }
      later(stage, 2 * again - 5 * minute, () => growOld(stage, index, chances));
      later(stage, 2 * again, () => first.redrive());
    });
  },
  'most of an index is away as its window is counted, for a minute or an hour': (stage, chances, start) => {
    const { world } = stage;
    const { index } = chances.pick(stage.policies);
    const millis = chances.pick([minute, hour]);
    world.time.at(start - second, () => {
      const physical = world.server.engine.behind(index);
      if (physical) world.others(index, 'shards away', () => shardsAway(world, physical, [0, 1, 2, 3], millis));
    });
  },
  'a run ends between its verdict and its message, and so does a release': (stage, chances, start) => {
    const endsAt = { share: chances.pick([0.4, 0.9, 1]), as: 'completed' } as const;
    muchToDo(stage, chances, start, { millis: minute, endsAt });
    // Another run may be watching the same truncation.
    if (chances.happens(0.7)) stage.world.time.at(start + 20 * second, () => begin(stage, chances, 'watches'));
    atNextVerdict(stage, (index) => {
      stage.scheduled()?.kill();
      const release = stage.policies.flatMap((one) => (one.index === index ? [one.name] : []));
      const isKilled = chances.happens(0.7);
      later(stage, chances.pick([second, second, 10 * minute]), () => {
        const onState = (state: string) => void (isKilled && state === 'Report' && execution.kill());
        const accepts = chances.pick([{}, { acceptMissing: 0 }, { acceptMissing: 1000 }]);
        const execution = stage.begin(`release-${stage.night}`, { release, ...accepts }, { onState });
      });
      // A run that can read no parameter reports it all the same.
      if (chances.happens(0.3)) {
        happens('parameters refused', stage, chances);
        later(stage, 10 * second, () => begin(stage, chances, 'reads-nothing'));
      }
      // Its record may be damaged meanwhile.
      if (chances.happens(0.3)) later(stage, minute, () => happens('record damaged', stage, chances));
    });
  },
  'a mark is redriven after the next verdict, which nobody has reported': (stage, chances, start) => {
    const { world } = stage;
    muchToDo(stage, chances, start, { millis: minute });
    const first = () => stage.scheduled();
    world.onPublished = (runId) => {
      if (runId === first()?.runId) first()?.stop();
    };
    world.time.at(start + 2 * hour, () => {
      world.onPublished = () => {};
      begin(stage, chances, 'reports');
    });
    world.time.at(start + 3 * hour, () => {
      for (const { index } of stage.policies) growOld(stage, index, chances);
      const next = begin(stage, chances, 'truncates');
      atNextVerdict(stage, () => {
        next.kill();
        later(stage, second, () => first()?.redrive());
      });
    });
  },
  'a person releases a reindex that has written every row, and has not ended for a day': (stage, chances, start) => {
    muchToDo(stage, chances, start, { millis: minute, lingerMillis: 60 * hour });
    willReindex(stage, start);
    const { server, time } = stage.world;
    time.at(start + 21 * hour, () => {
      const { status } = server.behavior;
      // For an hour in which nobody may read it.
      if (chances.happens(0.5)) server.behavior = { ...server.behavior, status: 'denied' };
      time.at(start + 22 * hour, () => {
        server.behavior = { ...server.behavior, status };
      });
      for (const { name } of stage.policies) begin(stage, chances, 'release', { release: [name] });
    });
  },
  'the new index of a reindex is not refreshed, and a person releases it': (stage, chances, start) => {
    muchToDo(stage, chances, start, { millis: minute });
    willReindex(stage, start, { refreshesLate: true });
    stage.world.time.at(start + 3 * hour, () => {
      for (const { name } of stage.policies) begin(stage, chances, 'release', { release: [name] });
    });
  },
  'a reindex without a task id is released at another address': (stage, chances, start) => {
    const { world } = stage;
    muchToDo(stage, chances, start, { millis: minute });
    world.time.at(start - second, () => {
      world.server.behavior = { ...world.server.behavior, truncates: 'reindex', force: 'ignores', swap: 'first' };
      world.weather = { ...world.weather, truncate: 1, answers: ['504'], effects: ['at once'] };
    });
    world.time.at(start + 5 * hour, () => {
      happens('address changed', stage, chances);
      for (const { name } of stage.policies) begin(stage, chances, 'release', { release: [name] });
    });
  },
  'no real truncate of tonight gets a task id': (stage, chances, start) => {
    muchToDo(stage, chances, start);
    willRefuse(stage, start, ['504']);
  },
  'a reindex ends, its task is forgotten, and only then is it put in place': (stage, chances, start) => {
    muchToDo(stage, chances, start, { millis: minute });
    willReindex(stage, start, { swap: 'last', swapMillis: 8 * minute });
    const { server, time } = stage.world;
    time.at(start + 5 * minute, () => {
      server.behavior = { ...server.behavior, status: 'unknown' };
    });
  },
  'one count of each check is answered by another server': (stage, chances, start) => {
    const { world } = stage;
    muchToDo(stage, chances, start);
    atNextSend(stage, () => {
      const before = world.weather;
      world.weather = { ...before, read: 0.5, reads: namesOf(strangers) };
      later(stage, 3 * hour, () => {
        world.weather = before;
      });
    });
  },
  'two runs at once': (stage, chances, start) => {
    const { world } = stage;
    muchToDo(stage, chances, start);
    // Runs this close together may each have a write refused because the other's has arrived.
    const isClose = chances.happens(0.5);
    const [least, most] = isClose ? [-300, 300] : [-5000, 10_000];
    for (let other = isClose ? 3 : 1; other > 0; other--)
      world.time.at(start + chances.between(least, most), () => begin(stage, chances, 'beside'));
    if (!isClose) return;
    atTruncate(stage, start, () => {
      world.weather = { ...world.weather, ledger: 0.3, truncate: 1, answers: ['slow'], effects: ['at once'] };
    });
  },
  'a task stands still for over a day, or goes on past the end of the next night': (stage, chances, start) => {
    const hangs = (hours: number) => ({ millis: minute, hangMillis: hours * hour });
    const slowly = { millis: 60 * hour, batches: 1000 };
    const paces = [hangs(26), hangs(50), { millis: 40 * hour }, slowly, slowly];
    muchToDo(stage, chances, start, chances.pick(paces));
  },
  'a reindex ends short or its answer is lost, and it is put in place long after': (stage, chances, start) => {
    const { world } = stage;
    const endsAt = { share: chances.pick([0.3, 0.7, 0.9, 0.97]), as: 'completed' } as const;
    muchToDo(stage, chances, start, { millis: chances.pick([minute, 23 * minute, 5 * hour]), endsAt });
    const swapMillis = chances.pick([minute, hour, 14 * hour, 26 * hour]);
    const isAnswered = chances.happens(0.5);
    world.time.at(start - second, () => {
      world.server.behavior = { ...world.server.behavior, swap: 'last', swapMillis, swapsShort: true };
      if (isAnswered) return;
      world.weather = { ...world.weather, truncate: 1, answers: ['504', '403', '400'], effects: ['at once'] };
    });
  },
  'the server or the stage is another one by the time of the last dry run': (stage, chances, start) => {
    const { world, policies } = stage;
    muchToDo(stage, chances, start);
    const { engine } = world.server;
    // Visible at once: the last dry run comes within a refresh interval.
    const arrive = (write: (index: string) => void) => () => {
      for (const { index } of policies) {
        write(index);
        const physical = engine.behind(index);
        if (physical) physical.refreshedAt = world.time.now() + 1;
      }
    };
    const freshOnes = arrive((index) => engine.write(index, aged(chances.next, 3000, 1, 0, world.time.now())));
    const olderOnes = arrive((index) => growOld(stage, index, chances));
    const behaves = (mood: object) => () => {
      world.server.behavior = { ...world.server.behavior, ...mood };
    };
    // By Plan's counts each of these is due.
    const [policy, change] = chances.pick<[object, () => void]>([
      [{}, behaves({ skewMillis: chances.pick([-hour, 15 * minute]) })],
      // If the row limit applies, the share of rows is not compared again.
      [{ maxRowsPerRun: 100 }, behaves({ racing: true })],
      [{ refuseReindex: chances.happens(0.5) }, behaves({ truncates: 'reindex', force: 'ignores' })],
      [{}, behaves({ force: 'refuses' })],
      [{}, arrive((index) => engine.write(index, aged(chances.next, 3000, 120, 65, world.time.now())))],
      [{ minDeletePercent: 40 }, freshOnes],
      // No more than double, or the change alone would refuse it.
      [{ maxDeletePercent: chances.between(50, 95) }, olderOnes],
      [{ maxRowsPerRun: chances.between(400, 1500) }, olderOnes],
    ]);
    for (const one of policies) {
      world.policies = replaced(world.policies, one.parameter, written(one, { ...wide, ...policy }));
    }
    atTruncate(stage, start, change);
  },
  'a person’s enforcing run in a preview stage outlasts its time, and its task then dies': (stage, chances, start) => {
    const { world } = stage;
    world.settings = { ...world.settings, mode: 'preview' };
    const endsAt = { share: chances.pick([0, 0.3, 0.8]), as: 'dead' } as const;
    muchToDo(stage, chances, start, { millis: 30 * hour, endsAt });
    world.time.at(start + minute, () => begin(stage, chances, 'by-hand', { mode: 'enforce' }));
  },
} as const satisfies Record<string, Plot>;
export type PlotName = keyof typeof plots;
export const plotNames = Object.keys(plots) as PlotName[];
