import type { Engine, Physical, Task } from '../world/engine.ts';

/** A real truncate as the world knows it: what the server did with it, and what that cost. */
export interface Track {
  index: string;
  runId: string;
  runStartMillis: number;
  cutoffMillis: number;
  sentAt: number;
  /** Until when the server may still act on it; undefined once it has acted, or never will. */
  pendingUntil?: number;
  task?: Task;
  /** What a reindex has to bring along. */
  owed?: Owed;
  /** Fixed when the alias moves on, or at the end of the history. */
  loss?: Loss;
}

interface Owed {
  source: Physical;
  target: Physical;
  /** Rows that a search found when the server acted. */
  settled: ReadonlySet<number>;
  /** How many of these may be newer than the baseline; the status of the reindex does not tell them from the others. */
  vague: number;
}

/** Rows newer than the cutoff that were in the index, that nobody else removed, and that searches no longer find. */
export interface Loss {
  /** A search had found them when the server acted: counts or its status can show them. */
  settled: number;
  /** Written while it started or ran, or, up to `vague` of them, just before: they are in the old index alone. */
  stragglers: number;
}

export const nothingLost: Loss = { settled: 0, stragglers: 0 };

/** Milliseconds before the call in which a row that was written may be missing from its baseline. */
const newMillis = 150_000;

/** Follows every reindex of ours from the rows that it has to bring along to what is missing in the end. */
export interface Tracker {
  /** The server acts on a truncate. @param start returns the task that it began */
  acts(track: Track, isVague: boolean, start: () => Task | undefined): Task | undefined;
  lossOf(track: Track): Loss;
  /** It is running, or will be. */
  isAtWork(track: Track): boolean;
  tracks: Track[];
  /** The history is over. */
  close(): void;
}

export function createTracker(engine: Engine): Tracker {
  const tracker: Tracker = {
    tracks: [],
    acts(track, isVague, start) {
      track.pendingUntil = undefined;
      const source = engine.behind(track.index);
      const settled = source ? engine.found(source).filter(({ timestamp }) => timestamp > track.cutoffMillis) : [];
      const isNew = ({ writtenAt }: { writtenAt: number }) => writtenAt > track.sentAt - newMillis;
      const vague = isVague ? settled.filter(isNew).length : 0;
      const task = start();
      track.task = task;
      if (source && task?.target) {
        track.owed = { source, target: task.target, settled: new Set(settled.map(({ id }) => id)), vague };
      }
      return task;
    },
    lossOf(track) {
      if (track.loss) return track.loss;
      // Until the reindex is in place, every row is where it was.
      if (!track.owed || engine.behind(track.index) !== track.owed.target) return nothingLost;
      return evaluate(track, track.owed);
    },
    isAtWork: ({ pendingUntil, task }) =>
      pendingUntil !== undefined ||
      task?.state === 'running' ||
      // It is still to be put in place.
      (task?.waits === true && task.state === 'completed'),
    close() {
      for (const track of tracker.tracks) track.loss = tracker.lossOf(track);
    },
  };
  engine.leaving = (physical) => {
    for (const track of tracker.tracks) {
      if (track.owed?.target !== physical || track.loss) continue;
      const { settled, stragglers } = evaluate(track, track.owed);
      // Somebody has replaced the index while our reindex was filling a new one: the report can only say that it was replaced.
      const isMixed = track.task?.state === 'running';
      track.loss = isMixed ? { settled: 0, stragglers: settled + stragglers } : { settled, stragglers };
    }
  };

  function evaluate({ cutoffMillis }: Track, { source, target, settled, vague }: Owed): Loss {
    let [missing, stragglers] = [0, 0];
    for (const { id, timestamp, removed } of source.rows.values()) {
      if (timestamp <= cutoffMillis || removed?.by === 'others' || target.rows.has(id)) continue;
      if (settled.has(id)) missing++;
      else stragglers++;
    }
    const hidden = Math.min(missing, vague);
    return { settled: missing - hidden, stragglers: stragglers + hidden };
  }

  return tracker;
}
