import type { Row } from '../../operations-service/simulation/simulated/rows.ts';
import type { Window } from '../../../lambda/ledger/record.ts';
import type { Engine } from '../../operations-service/engine.ts';
import type { TaskView } from '../../operations-service/views.ts';
import type { Acted, ClockTruth, Loss, Track, Truth } from './track.ts';

/**
 * Tracks single rows on one server: which are owed, who removed them, and what a truncate was doing at any moment. It
 * knows the rows themselves, and nothing about how the core counts or judges.
 *
 * What a truncate owes: every row newer than its cutoff that was in the index when the server moved the alias away
 * from it, and every row that another copy brought there afterwards. A row is lost if the index behind the alias does
 * not have it, and no other process removed it.
 */
export interface RowTruth {
  /** A real truncate is written to the wire. */
  sending(track: Track): void;
  /** The server acts on it. */
  acts(track: Track, act: () => void): void;
  /** Another process does something to an index that may move its alias. */
  others(name: string, act: () => void): void;
  lossOf(track: Track): Loss;
  /** Everything except what concerns clocks and other servers. */
  truthOf(
    track: Track | undefined,
    windows: readonly Window[],
    name: string,
  ): Omit<Truth, keyof ClockTruth | 'isElsewhere'>;
  /** Rows that searches find with a timestamp in (from, to]. */
  found(name: string, from: number, to: number): number;
  /** Tasks of a truncate. */
  tasksOf(track: Track): TaskView[];
  /**
   * Another process's copy is still going into the index behind the alias, and is not a day-long one
   * (docs/testing.md).
   */
  copyingInto(name: string): TaskView | undefined;
  /** The history is over. */
  close(): void;
}

interface Owed {
  track: Track;
  source: string;
  rows: Map<number, number>;
  unseen: Set<number>;
  /** Another copy was running: what it brings later is owed too. */
  isGrowing: boolean;
}

const halfADay = 43_200_000;

const nothingLost: Loss = { rows: 0, unseen: 0, mixed: false };

export function createRowTruth(engine: Engine, now: () => number): RowTruth {
  /** By the engine's name of an index: the last truncate that moved its alias. */
  const open = new Map<string, Owed>();
  const ownerOf = new Map<number, Track>();
  const oldAtCall = new Map<Track, Set<number>>();

  const physical = (name: string) => engine.indices().find(({ index }) => index?.toLowerCase() === name)?.name;
  const isThere = (name: string) => physical(name) !== undefined;

  function evaluate({ track, source, rows, unseen, isGrowing }: Owed): Loss {
    const missing = new Map(rows);
    for (const { id, timestamp, removedBy } of isGrowing ? engine.rowsOfPhysical(source) : []) {
      if (removedBy === 'nobody' && timestamp > track.cutoffMillis) missing.set(id, timestamp);
    }
    for (const { id } of isThere(track.name) ? engine.rows(track.name) : []) missing.delete(id);
    if (missing.size === 0) return nothingLost;
    for (const { name } of engine.indices()) {
      if (!name.startsWith(track.index)) continue;
      for (const { id, timestamp, removedBy } of engine.rowsOfPhysical(name)) {
        if (removedBy === 'nobody' || !missing.has(id)) continue;
        const owner = removedBy === 'others' ? undefined : ownerOf.get(removedBy);
        if (owner === undefined || timestamp <= owner.cutoffMillis) missing.delete(id);
      }
    }
    const lostUnseen = [...missing.keys()].filter((id) => unseen.has(id)).length;
    return { rows: missing.size, unseen: lostUnseen, mixed: false };
  }

  /** Does something; if that moves the alias, fixes the previous truncate's loss at what it is by then. */
  function closing(name: string, act: () => void): void {
    const owed = open.get(name);
    const before = physical(name);
    const loss = owed && evaluate(owed);
    const mixed = owed !== undefined && isWorking(owed.track);
    act();
    if (owed === undefined || loss === undefined || physical(name) === before) return;
    owed.track.loss = { ...loss, mixed };
    open.delete(name);
  }

  const tasksOf = ({ acted }: Track): TaskView[] =>
    acted === undefined ? [] : engine.everyTask().filter(({ serial }) => acted.serials.includes(serial));
  const isWorking = (track: Track): boolean =>
    track.pendingUntil !== undefined || tasksOf(track).some(({ state }) => state === 'running');

  function act(track: Track, effect: () => void): Acted {
    const tasks = engine.everyTask().length;
    const source = physical(track.name);
    effect();
    const serials = engine
      .everyTask()
      .slice(tasks)
      .map(({ serial }) => serial);
    const moved = physical(track.name) !== source;
    const as = moved ? 'reindex' : serials.length > 0 ? 'delete' : 'nothing';
    return { at: now(), as, serials, source: moved ? source : undefined };
  }

  const lossOf = (track: Track): Loss => {
    if (track.loss) return track.loss;
    const owed = open.get(track.name);
    return owed?.track === track ? evaluate(owed) : nothingLost;
  };
  const countFound = (rows: Iterable<Row>, from: number, to: number): number => {
    let count = 0;
    for (const { timestamp } of rows) if (timestamp > from && timestamp <= to) count++;
    return count;
  };

  const copyingInto = (name: string): TaskView | undefined => {
    const target = physical(name);
    return engine
      .everyTask()
      .find(
        ({ kind, state, indexName, serial, startedAt }) =>
          kind === 'reindex' &&
          state === 'running' &&
          indexName === target &&
          now() - startedAt < halfADay &&
          !ownerOf.has(serial),
      );
  };

  return {
    lossOf,
    tasksOf,
    copyingInto,
    found: (name, from, to) => (isThere(name) ? countFound(engine.foundRows(name), from, to) : 0),
    sending(track) {
      const rows = isThere(track.name) ? engine.foundRows(track.name) : [];
      const old = rows.filter(({ timestamp }) => timestamp <= track.cutoffMillis);
      oldAtCall.set(track, new Set(old.map(({ id }) => id)));
    },
    acts(track, effect) {
      delete track.pendingUntil;
      if (!isThere(track.name)) {
        effect();
        track.acted = { at: now(), as: 'nothing', serials: [], source: undefined };
        return;
      }
      const { name, cutoffMillis } = track;
      const rows = engine.rows(name).filter(({ timestamp }) => timestamp > cutoffMillis);
      const found = new Set(engine.foundRows(name).map(({ id }) => id));
      const isGrowing = copyingInto(name) !== undefined;
      let acted: Acted | undefined;
      closing(name, () => {
        acted = act(track, effect);
      });
      if (acted === undefined) return;
      track.acted = acted;
      for (const serial of acted.serials) ownerOf.set(serial, track);
      if (acted.source === undefined) return;
      open.set(name, {
        track,
        isGrowing,
        source: acted.source,
        rows: new Map(rows.map(({ id, timestamp }) => [id, timestamp])),
        unseen: new Set(rows.flatMap(({ id }) => (found.has(id) ? [] : [id]))),
      });
    },
    others: closing,
    truthOf(track, windows, name) {
      const there = isThere(name);
      const rows = there ? engine.rows(name) : [];
      const found = there ? engine.foundRows(name) : [];
      const counted = windows.map(({ from, to, rows: recorded }) => ({ recorded, found: countFound(found, from, to) }));
      const seen = new Set(found.map(({ id }) => id));
      const unrefreshed = seen.size !== rows.length || rows.some(({ id }) => !seen.has(id));
      const rest = { windows: counted, unrefreshed };
      if (track === undefined) {
        const nothing = { oldLeft: 0, oldTaken: 0, oldFound: 0, loss: nothingLost, onSource: false };
        const idle = { working: false, stalledMillis: 0, movedAt: undefined, isAside: false };
        return { ...rest, ...nothing, ...idle, acted: 'never' };
      }
      const tasks = tasksOf(track);
      const running = tasks.filter(({ state }) => state === 'running');
      const old = oldAtCall.get(track);
      const acted = track.acted?.as ?? (track.pendingUntil === undefined ? 'never' : 'not yet');
      return {
        ...rest,
        oldLeft: rows.filter(({ id }) => old?.has(id)).length,
        oldFound: found.filter(({ timestamp }) => timestamp <= track.cutoffMillis).length,
        onSource: there && track.acted?.source !== undefined && physical(name) === track.acted.source,
        oldTaken: tasks.reduce((sum, { kind, deleted }) => sum + (kind === 'delete' ? deleted : 0), 0),
        loss: lossOf(track),
        acted,
        working: isWorking(track),
        movedAt: tasks.length === 0 ? undefined : Math.max(...tasks.map(({ movedAt }) => movedAt)),
        isAside: running.length > 0 && running.every(({ indexName }) => indexName !== physical(name)),
        stalledMillis: running.length === 0 ? 0 : now() - Math.max(...running.map(({ movedAt }) => movedAt)),
      };
    },
    close() {
      for (const owed of open.values()) owed.track.loss = evaluate(owed);
      open.clear();
    },
  };
}
