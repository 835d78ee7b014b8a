import { happens } from '../alphabet/alphabet.ts';
import type { Stage } from '../alphabet/happening.ts';
import { otherWays, spellings } from '../alphabet/operator.ts';
import { isThere, reindexByHand } from '../alphabet/others.ts';
import type { Chances } from '../world/chances.ts';
import { type PolicyOf, withoutBite } from './policies.ts';

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
const midnight = (at: number): number => at - (at % day);

/** At the next real truncate of tonight, once. */
function atNextSend({ world }: Stage, act: (name: string) => void): void {
  let done = false;
  const before = world.onSent;
  world.onSent = (track) => {
    before(track);
    if (done) return;
    done = true;
    act(track.name);
  };
}

/** As many rows as a broken copy may have lost, stamped like daily usage. */
function refill({ world }: Stage, name: string, chances: Chances): void {
  for (let arrival = 0; arrival < 10; arrival++) {
    world.time.at(world.time.now() + chances.between(1, 400) * second, () => {
      const now = world.time.now();
      const stamp = midnight(now) - chances.pick([0, 0, 1]) * day;
      world.arrive(
        name,
        Array.from({ length: chances.between(5, 40) }, () => stamp),
      );
    });
  }
}

/** Makes the next task end early. */
function cut({ world }: Stage, chances: Chances): void {
  const share = chances.pick([0.4, 0.6, 0.8, 0.9, 0.97]);
  world.servers[0].engine.set(
    chances.pick([{ cancelAtShare: share }, { abortAtShare: share }, { restartAtShare: share }]),
  );
}

const wantsReindex = ({ world }: Stage, policies: readonly PolicyOf[]): boolean =>
  policies.length > 0 && world.servers[0].engine.behaviour.mode !== 'always-delete';

export const plots = {
  'a copy is cut, and late rows fill it up': {
    says: 'a reindex ends early; rows of the last two days come in until the counts are as before',
    prepare(stage, chances, start) {
      if (!wantsReindex(stage, stage.policies)) return;
      const policy = chances.pick(stage.policies);
      rewrite(stage, policy, { strategy: 'reindex' });
      stage.world.time.at(start - minute, () => cut(stage, chances));
      atNextSend(stage, (name) => refill(stage, name, chances));
    },
  },
  'a delete becomes a reindex': {
    says: 'the server knows no flags; just below half was to go, a few rows are deleted, and now it is more than half',
    prepare(stage, chances, start) {
      const { world } = stage;
      const [{ engine }] = world.servers;
      if (engine.behaviour.mode === 'always-delete') return;
      const policy = chances.pick(stage.policies);
      // In one go: a bite would delete far less than half.
      rewrite(stage, policy, { strategy: 'delete-by-query', maxRowsPerRun: 100_000, maxDeletePercent: 100 });
      world.time.at(start - minute, () => {
        engine.set({ knowsForceFlags: false });
        if (chances.happens(0.8)) cut(stage, chances);
        balance(stage, policy, start);
      });
      const before = world.onActing;
      world.onActing = (track) => {
        before(track);
        if (track.name !== policy.name || engine.indices().every(({ index }) => index?.toLowerCase() !== track.name))
          return;
        let left = 4;
        world.others(track.name, 'a few rows deleted', () => {
          engine.removeRows(track.name, ({ timestamp }) => timestamp > track.cutoffMillis && left-- > 0);
          // The server decides by what searches find.
          engine.refresh();
        });
      };
      atNextSend(stage, (name) => refill(stage, name, chances));
    },
  },
  'somebody’s copy is under way': {
    says: 'a reindex by hand is at 40 % when our run begins',
    prepare(stage, chances, start) {
      if (!wantsReindex(stage, stage.policies)) return;
      const policy = chances.pick(stage.policies);
      rewrite(stage, policy, { strategy: 'reindex', maxDeletePercent: 100 });
      const { world } = stage;
      const before = chances.pick([2 * minute, 10 * minute, 55 * minute]);
      world.time.at(start - before, () => {
        const [{ engine }] = world.servers;
        const view = engine.indices().find(({ index }) => index?.toLowerCase() === policy.name);
        // At a speed that puts it halfway when our run begins.
        if (view)
          reindexByHand(world, policy.name, view.rows / (before / second / chances.pick([0.3, 0.4, 0.7, 0.95])));
      });
    },
  },
  'a task number comes back': {
    says: 'the node restarts before the run and in its middle; somebody’s task then bears our task’s number, and ends perfectly',
    prepare(stage, chances, start) {
      if (!wantsReindex(stage, stage.policies)) return;
      const { world, policies } = stage;
      const [{ engine }] = world.servers;
      const policy = chances.pick(policies);
      rewrite(stage, policy, { strategy: chances.pick(['reindex', 'reindex', 'delete-by-query']) });
      engine.set({ taskNumbersRestart: true });
      world.time.at(start - minute, () => {
        engine.restartNode();
        const restartAtShare = chances.pick([0.5, 0.9, 0.95, 0.97]);
        engine.set({ rowsPerSecond: 20, batchOverheadMillis: 100, restartAtShare });
      });
      atNextSend(stage, (name) => {
        const sentAt = world.time.now();
        let done = false;
        const bearNumber = () => {
          const isGone = engine.everyTask().some(({ state, startedAt }) => state === 'gone' && startedAt >= sentAt);
          if (done || !isGone) return;
          done = true;
          engine.set({ restartAtShare: undefined });
          engine.restartNode();
          const other = policies.find((one) => one.name !== name) ?? policy;
          enlarge(stage, other.name, engine.rows(name).length * chances.pick([0.5, 2]), chances);
          // Another process's task that takes the first free number.
          reindexByHand(world, other.name, 1000);
        };
        for (let wait = 1; wait <= 60; wait++) world.time.at(sentAt + wait * second, bearNumber);
        refill(stage, name, chances);
      });
    },
  },
  'emptied and refilled between two nights': {
    says: 'most young rows go, and ingestion makes up the total before the next run',
    prepare(stage, chances, start) {
      const { time } = stage.world;
      time.at(start - 50 * minute, () => happens('emptied and refilled', stage, chances));
      time.at(start - 40 * minute, () => happens('rows of now', stage, chances));
    },
  },
  'one index under two names': {
    says: 'two runs side by side, between which the index was renamed',
    prepare(stage, chances, start) {
      const { time } = stage.world;
      time.at(start + chances.between(2, 10) * second, () => {
        happens('index renamed', stage, chances);
        stage.begin(`renamed-${stage.night}-${chances.between(1, 99_999)}`, {});
      });
    },
  },
  'one server under two addresses': {
    says: 'two or three runs at once with one ledger, each with its own address',
    prepare(stage, chances, start) {
      for (const gmsUrl of [chances.pick([...spellings, ...otherWays]), chances.pick(otherWays)]) {
        stage.world.time.at(start + chances.between(0, 60) * second, () => {
          stage.begin(`elsewhere-${stage.night}-${chances.between(1, 99_999)}`, {}, { settings: { gmsUrl } });
        });
      }
    },
  },
  'orders change while the first is at work': {
    says: 'the policies of the others become stricter before it is their turn',
    prepare(stage, chances, start) {
      stage.world.servers[0].engine.set({ batchOverheadMillis: 20_000 });
      atNextSend(stage, () => {
        const change = chances.pick([
          'retention changes',
          'policy off',
          'policy gone',
          'limits change',
          'pauses',
        ] as const);
        happens(change, stage, chances);
      });
      stage.world.time.at(start + 10 * hour, () => happens('resumes', stage, chances));
    },
  },
  'a start far ahead': {
    says: 'one execution gets a start that is weeks away',
    prepare({ world }, chances, start) {
      world.time.at(start - second, () => {
        world.clocks.starts = chances.pick([20, 22, 25, 28]) * day;
      });
      world.time.at(start + second, () => {
        world.clocks.starts = 0;
      });
    },
  },
  'redriven after two others': {
    says: 'the run is stopped as it sends; two others close what it sent, and truncate the index again; then it is redriven',
    prepare(stage, chances) {
      const { world } = stage;
      atNextSend(stage, (name) => {
        const first = stage.scheduled();
        if (!first || first.ended) return;
        first.stop();
        const later = (minutes: number, act: () => void) => world.time.at(world.time.now() + minutes * minute, act);
        const begin = (what: string) => stage.begin(`${what}-${stage.night}-${chances.between(1, 99_999)}`, {});
        const again = chances.pick([90, 180]);
        later(30, () => begin('closes'));
        later(again - 5, () => growOld(stage, name, chances));
        later(again, () => begin('truncates'));
        later(2 * again - 5, () => growOld(stage, name, chances));
        later(2 * again, () => first.redrive());
      });
    },
  },
  'at work for more than a day': {
    says: 'a reindex stands still for over a day, and deletes go on past the end of the next night; their status says so',
    prepare(stage, chances, start) {
      const { world, policies } = stage;
      const [{ engine }] = world.servers;
      const copies = wantsReindex(stage, policies) && (policies.length > 1 || chances.happens(0.5));
      const hanging = copies ? chances.pick(policies) : undefined;
      const others = policies.filter((policy) => policy !== hanging);
      const batchSize = 10;
      if (hanging) rewrite(stage, hanging, { strategy: 'reindex', maxDeletePercent: 100 });
      for (const policy of others) {
        rewrite(stage, policy, {
          strategy: 'delete-by-query',
          batchSize,
          maxRowsPerRun: 100_000,
          maxDeletePercent: 100,
        });
      }
      world.time.at(start - minute, () => {
        // Enough for a batch within every window of stillness.
        for (const { name } of others) if (isThere(world, name)) growOld(stage, name, chances);
      });
      const hangs = chances.pick([26, 34, 50]) * hour;
      const goesOn = chances.pick([40, 60]) * hour;
      const before = world.onActing;
      world.onActing = (track) => {
        before(track);
        if (!isThere(world, track.name)) return;
        const rows = engine.rows(track.name).filter(({ timestamp }) => timestamp <= track.cutoffMillis).length;
        const batches = Math.max(1, rows / batchSize);
        engine.set({ batchOverheadMillis: track.name === hanging?.name ? hangs : goesOn / batches });
      };
    },
  },
  'nothing is left, and then there is': {
    says: 'a delete stands still; somebody deletes its rows, and some young ones, and brings all of them back in the end',
    prepare(stage, chances, start) {
      const { world } = stage;
      const { time } = world;
      const [{ engine }] = world.servers;
      const policy = chances.pick(stage.policies);
      rewrite(stage, policy, { strategy: 'delete-by-query', maxDeletePercent: 100 });
      time.at(start - minute, () => engine.set({ batchOverheadMillis: 3 * hour }));
      atNextSend(stage, (name) => {
        const gone: number[] = [];
        const goes = (timestamp: number): boolean => timestamp < start - 29 * day || chances.happens(0.3);
        time.at(time.now() + chances.between(30, 120) * second, () => {
          if (!isThere(world, name)) return;
          world.others(name, 'rows deleted', () =>
            engine.removeRows(name, ({ timestamp }) => goes(timestamp) && gone.push(timestamp) > 0),
          );
        });
        time.at(time.now() + chances.between(600, 1000) * second, () => {
          if (isThere(world, name)) world.arrive(name, gone);
        });
      });
    },
  },
} as const satisfies Record<string, Plot>;
export type PlotName = keyof typeof plots;
export const plotNames = Object.keys(plots) as PlotName[];

/** As many rows older than every cutoff as an index may have had at first. */
function growOld({ world }: Stage, name: string, chances: Chances): void {
  const now = world.time.now();
  world.arrive(
    name,
    Array.from({ length: chances.between(500, 700) }, () => now - chances.between(65, 120) * day),
  );
}

/** Rows of the last weeks, so that an index has more of them than another. */
function enlarge({ world }: Stage, name: string, rows: number, chances: Chances): void {
  const now = world.time.now();
  world.arrive(
    name,
    Array.from({ length: Math.round(rows) }, () => now - chances.between(3, 28) * day),
  );
  world.servers[0].engine.refresh();
}

function rewrite({ world }: Stage, policy: PolicyOf, changes: object): void {
  world.policies = world.policies.map((source) => {
    if (source.name !== policy.parameter) return source;
    try {
      return { ...source, text: JSON.stringify(withoutBite({ ...JSON.parse(source.text), ...changes })) };
    } catch {
      return source;
    }
  });
}

/** Adds rows until just below half of them are older than the policy's cutoff. */
function balance({ world }: Stage, policy: PolicyOf, start: number): void {
  const [{ engine }] = world.servers;
  if (engine.indices().every(({ index }) => index?.toLowerCase() !== policy.name)) return;
  const days = Number(policy.fields['retentionDays']);
  const cutoff = start - days * day;
  const rows = engine.rows(policy.name);
  const old = rows.filter(({ timestamp }) => timestamp <= cutoff).length;
  const fresh = rows.length - old;
  const oldMissing = Math.max(0, fresh - 2 - old);
  const freshMissing = Math.max(0, old + 2 - fresh);
  world.arrive(policy.name, [
    ...Array.from({ length: oldMissing }, (_, row) => cutoff - (1 + (row % 60)) * day),
    ...Array.from({ length: freshMissing }, (_, row) => start - (3 + (row % 20)) * day),
  ]);
}
