import { dayMillis } from '../../lambda/facts/limits.ts';
import type { Engine } from '../../local/operations-service/engine.ts';
import type { Mark } from '../../local/operations-service/simulated/inspect.ts';
import type { Track, Truth } from './journal.ts';

/** Keeps account of single rows: which truncation was there when they went. */
export interface RowAccount {
  /** Rows arrive behind the index's alias. */
  arrive(index: string, timestamps: number[]): void;
  /** A real truncate is written to the wire. */
  sending(track: Track): void;
  /** It reaches the server: `act` lets it act. */
  truncate(track: Track, act: () => void): void;
  /** Somebody else changes the index: what happened until now is closed. */
  others(index: string, act: () => void): void;
  /** Somebody has deleted single rows of an index for good. */
  rowsDeleted(index: string): void;
  /** Everything became visible. */
  refreshed(): void;
  /** The history is over. */
  close(): void;
  truthOf(track: Track, planned: number): Truth;
}

interface Open {
  track: Track;
  /** The index behind the alias. */
  name: string | undefined;
  mark: Mark;
  /** Rows that no search had found when the truncate acted. */
  unseen: Set<number>;
  /** Searches still found rows that were gone: somebody had deleted them while refreshing was off. */
  ghosts: boolean;
}

export function createRowAccount(engine: Engine, now: () => number): RowAccount {
  const open = new Map<string, Open>();
  const marks = new Map<Track, Open>();
  const arrivals = new Map<string, { id: number; at: number }[]>();
  /** Indices whose refresh a reindex, ours or somebody else's, has switched off, with the time until which everything was visible. */
  const unrefreshed = new Map<string, number>();
  /** Of these, the ones in which somebody has deleted rows since. */
  const ghostly = new Set<string>();

  /** What had come by then was found by the counts of that time. */
  const visibleUntil = (index: string, counted: number): number => {
    const off = unrefreshed.get(index);
    if (off !== undefined) return off;
    const interval = engine.behaviour.refreshSeconds * 1000;
    return interval === 0 ? counted : Math.floor(counted / interval) * interval;
  };
  const physicalName = (index: string) => engine.indices().find((view) => view.index?.toLowerCase() === index)?.name;

  const close = (index: string, byOthers: boolean): void => {
    const one = open.get(index);
    if (!one) return;
    open.delete(index);
    const { track, mark, unseen } = one;
    let counted = 0;
    let beyondCounting = 0;
    // A task of somebody else's may have been at work since before this one was sent.
    const isOurs = (by: string) => by === 'left-behind' || track.tasks.includes(by);
    for (const { id, timestamp, by } of engine.goneSince(mark)) {
      if (timestamp <= track.cutoffMillis || !isOurs(by)) continue;
      if (timestamp > track.windowEndMillis || unseen.has(id)) beyondCounting++;
      else counted++;
    }
    const running = engine.tasks().some(({ id, state }) => track.tasks.includes(id) && state === 'running');
    track.gone = { counted, beyondCounting, mixed: byOthers && running };
  };

  const known = (index: string) => engine.indices().some((view) => view.index?.toLowerCase() === index);
  const unseenBy = ({ index, windowEndMillis }: Track): Set<number> => {
    const until = visibleUntil(index, windowEndMillis);
    return new Set((arrivals.get(index) ?? []).filter(({ at }) => at >= until).map(({ id }) => id));
  };

  return {
    arrive(index, timestamps) {
      const at = now();
      const rows = engine.addRows(index, timestamps).map((id) => ({ id, at }));
      // Only what no search may have found yet is ever asked for: where nothing is refreshed, that is all since then.
      const unseenSince = Math.min(visibleUntil(index, at), at - dayMillis);
      const recent = (arrivals.get(index) ?? []).filter((row) => row.at >= unseenSince);
      arrivals.set(index, [...recent, ...rows]);
    },
    sending(track) {
      const { index } = track;
      if (known(index))
        marks.set(track, {
          track,
          name: physicalName(index),
          mark: engine.mark(index),
          unseen: unseenBy(track),
          ghosts: ghostly.has(index),
        });
    },
    truncate(track, act) {
      const { index } = track;
      if (!known(index)) return act();
      close(index, false);
      const unseen = unseenBy(track);
      const mark = engine.mark(index);
      const ghosts = ghostly.has(index);
      const name = physicalName(index);
      const before = new Set(engine.tasks().map(({ id }) => id));
      act();
      track.tasks = engine.tasks().flatMap(({ id }) => (before.has(id) ? [] : [id]));
      const moved = physicalName(index) !== name;
      track.acted = moved || track.tasks.length > 0;
      if (moved && track.tasks.length > 0 && engine.behaviour.refreshOffAfterReindex) unrefreshed.set(index, now());
      if (!track.acted) return;
      open.set(index, { track, name, mark, unseen, ghosts });
    },
    others(index, act) {
      close(index, true);
      const name = physicalName(index);
      act();
      const moved = physicalName(index) !== name;
      if (moved && engine.behaviour.refreshOffAfterReindex) unrefreshed.set(index, now());
    },
    rowsDeleted(index) {
      if (unrefreshed.has(index)) ghostly.add(index);
    },
    refreshed() {
      for (const index of unrefreshed.keys()) unrefreshed.set(index, now());
      ghostly.clear();
    },
    close() {
      for (const index of [...open.keys()]) close(index, false);
    },
    truthOf(track, planned) {
      const view = engine.indices().find(({ index }) => index?.toLowerCase() === track.index);
      const hidden = unrefreshed.has(track.index) ? Math.max(0, (view?.rows ?? 0) - (view?.visibleRows ?? 0)) : 0;
      const running = engine.tasks().filter(({ id, state }) => track.tasks.includes(id) && state === 'running').length;
      const one = marks.get(track);
      if (!one)
        return {
          oldRowsLeft: planned,
          windowRowsGone: 0,
          keptRowsGone: 0,
          ghosts: false,
          planned,
          hidden,
          moved: false,
          running,
        };
      const moved = one.name !== physicalName(track.index);
      const { mark, unseen, ghosts } = one;
      let old = 0;
      for (const timestamp of mark.rows.values()) if (timestamp <= track.cutoffMillis) old++;
      let windowRowsGone = 0;
      let keptRowsGone = 0;
      for (const { id, timestamp } of engine.goneSince(mark)) {
        if (timestamp <= track.cutoffMillis) old--;
        else keptRowsGone++;
        if (timestamp > track.cutoffMillis && timestamp <= track.windowEndMillis && !unseen.has(id)) windowRowsGone++;
      }
      return { oldRowsLeft: old, windowRowsGone, keptRowsGone, ghosts, planned, hidden, moved, running };
    },
  };
}
