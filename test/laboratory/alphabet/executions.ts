import { LEDGER_VERSION } from '../../../lambda/ledger/record.ts';
import type { Happening, Stage } from './happening.ts';

/** What happens to executions, and to what other versions of this program leave behind. */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

function stop({ scheduled }: Stage): void {
  const execution = scheduled();
  if (!execution || execution.ended) return;
  execution.stop();
}

export const executions = {
  // The night’s execution is stopped; its function goes on.
  stopped: stop,
  redriven: (stage, chances) => {
    stop(stage);
    const execution = stage.scheduled();
    const { time } = stage.world;
    time.at(time.now() + chances.pick([5000, 2 * minute, 25 * minute, 11 * hour, 7 * day]), () => execution?.redrive());
  },
  // The process is killed: the node goes away.
  killed: ({ scheduled }) => scheduled()?.kill(),
  // A deployment: whatever step comes next finds a run state of another version.
  deployed: ({ scheduled }) => scheduled()?.deploy(),
  // Nothing can be published for a while.
  'topic refuses': ({ world }, chances) => {
    world.isMute = true;
    world.time.at(world.time.now() + chances.pick([minute, hour, 11 * hour]), () => {
      world.isMute = false;
    });
  },
  // Nothing can be written to the ledger for a while.
  'disk full': ({ world }, chances) => {
    world.isFull = true;
    world.time.at(world.time.now() + chances.pick([minute, hour, 11 * hour]), () => {
      world.isFull = false;
    });
  },
  // The schedule’s event comes a second time.
  'scheduled twice': (stage, chances) => {
    const { time } = stage.world;
    const scheduledTime = new Date(time.now()).toISOString();
    const begin = () => stage.begin(`twice-${stage.night}-${chances.between(1, 99_999)}`, { scheduledTime });
    begin();
    time.at(time.now() + chances.between(0, 2 * minute), begin);
  },
  'input copied': (stage, chances) => {
    const at = stage.world.time.now() + chances.pick([-30, -3, -1, 0.1, 5]) * hour;
    const input = { scheduledTime: new Date(at).toISOString() };
    stage.begin(`copied-${stage.night}-${chances.between(1, 99_999)}`, input);
  },
  // A newer version writes a record, and is rolled back later.
  'record of another version': ({ world }, chances) => {
    const { ledger, time, journal } = world;
    const indices = [...ledger.stored.keys()];
    if (indices.length === 0) return;
    const index = chances.pick(indices);
    const record = structuredClone(ledger.stored.get(index)) as { version: number; revision: number };
    if (record.version !== LEDGER_VERSION) return;
    const newer = { ...record, version: LEDGER_VERSION + 1, revision: record.revision + 1 };
    ledger.stored.set(index, newer);
    journal.push({ at: time.now(), kind: 'foreign', index, present: true });
    time.at(time.now() + 22 * hour, () => {
      // In the meantime a person may have released it, or a run of ours overwritten it, if it was idle.
      const now = ledger.stored.get(index) as typeof record | undefined;
      if (now?.version === newer.version && now.revision === newer.revision) {
        ledger.stored.set(index, { ...record, revision: newer.revision + 1 });
      }
      journal.push({ at: time.now(), kind: 'foreign', index, present: false });
    });
  },
} as const satisfies Record<string, Happening>;
