import { day, hour, minute } from '../time.ts';
import type { Happening, Scene } from './happening.ts';

/**
 * What happens to executions and to the services around them, and to the ledger's records through damage or another
 * version of this program.
 */

function stop({ scheduled }: Scene): void {
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
  // No parameter can be read for a while.
  'parameters refused': ({ world }, chances) => {
    const before = world.weather.parameters;
    world.weather = { ...world.weather, parameters: 1 };
    world.time.at(world.time.now() + chances.pick([minute, hour]), () => {
      world.weather = { ...world.weather, parameters: before };
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
  // A record loses a field that the job needs, and has it back the next day.
  'record damaged': ({ world }, chances) => {
    const { ledger, time, journal } = world;
    const indices = [...ledger.stored.keys()];
    if (indices.length === 0) return;
    const index = chances.pick(indices);
    const record = ledger.stored.get(index) as Stored;
    const damaged = structuredClone(record);
    const path = chances.pick(required.filter(([name = '']) => record[name] !== undefined));
    const holder = path.slice(0, -1).reduce((inner, name) => (inner?.[name] ?? {}) as Stored, damaged);
    const name = path.at(-1) ?? '';
    if (holder[name] === undefined) return;
    holder[name] = chances.pick([undefined, {}]);
    damaged.revision++;
    ledger.stored.set(index, damaged);
    journal.push({ at: time.now(), kind: 'damaged', index });
    time.at(time.now() + 22 * hour, () => {
      // In the meantime a person may have released it.
      const isSame = (ledger.stored.get(index) as Stored).revision === damaged.revision;
      if (isSame) ledger.stored.set(index, { ...record, revision: damaged.revision + 1 });
      journal.push({ at: time.now(), kind: 'damaged', index });
    });
  },
  // A newer version, since rolled back, has left a field and a kind of cause that this version does not know.
  'record of a newer version': ({ world }, chances) => {
    const { stored } = world.ledger;
    if (stored.size === 0) return;
    const index = chances.pick([...stored.keys()]);
    const record = structuredClone(stored.get(index)) as Stored;
    const verdict = (record['lastVerdict'] as Stored | undefined)?.['verdict'] as Stored | undefined;
    if (verdict) verdict['cause'] = { kind: 'of-tomorrow' };
    stored.set(index, { ...record, revision: record.revision + 1, future: { since: world.time.now() } });
  },
} as const satisfies Record<string, Happening>;

type Stored = Record<string, unknown> & { revision: number };

/** The fields that decisions depend on. */
const required: string[][] = [
  ['state'],
  ['unreported'],
  ['server'],
  ['lastSender'],
  ['attempt', 'fields'],
  ['attempt', 'baseline'],
  ['attempt', 'method'],
  ['attempt', 'judgeableAt'],
  ['lastVerdict', 'verdict', 'outcome'],
];
