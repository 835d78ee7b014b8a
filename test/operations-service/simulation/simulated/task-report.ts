import type { TaskStatus } from '../wire/search-engine.ts';
import type { Counters, Task } from './task.ts';

/** What the search engine reports of a task at a time, epoch milliseconds. */
export function reportOf(task: Task, now: number): TaskStatus {
  const { plan, canceled, retries } = task;
  const searching = task.state === 'running' && now < plan.startedAt + plan.searchMillis;
  const { slices, ...counters } = searching ? zeros : reported(task);
  const rest = (bulk: number, rate = -1) => ({
    retries: { bulk, search: 0 },
    throttled_millis: 0,
    requests_per_second: rate,
    throttled_until_millis: 0,
  });
  return {
    completed: task.state === 'completed',
    // To the microsecond: epoch milliseconds in a double are no finer.
    runTimeNanos: Math.round(((task.completedAt ?? now) - plan.startedAt) * 1000) * 1000,
    status: {
      ...counters,
      // A parent adds up its finished slices' rates: 0 as long as there is none.
      ...rest(retries, slices?.every((part) => part === null) ? 0 : -1),
      ...(canceled === undefined ? {} : { canceled }),
      ...(slices === undefined
        ? {}
        : { slices: slices.map((part, slice) => part && { slice_id: slice, ...part, ...rest(0) }) }),
    },
  };
}

interface Reported extends Counters {
  slices?: (Counters | null)[];
}

const zeros: Reported = {
  total: 0,
  updated: 0,
  created: 0,
  deleted: 0,
  batches: 0,
  version_conflicts: 0,
  noops: 0,
};

/** The task's counters, with `slices` if it has several. */
function reported(task: Task): Reported {
  const { slices } = task.plan;
  if (slices <= 1) return task.counted();
  // The parent's counters are the sum over finished slices, and all slices end late: zero for a long time, then jumps.
  const finished = task.state === 'completed' ? slices : Math.floor(Math.max(0, (task.share() - 0.7) / 0.3) * slices);
  const parts = Array.from({ length: slices }, (_, slice) => (slice < finished ? sliceOf(task, slice) : null));
  const sum = { ...zeros };
  for (const part of parts) {
    for (const key of Object.keys(zeros) as (keyof Counters)[]) sum[key] += part?.[key] ?? 0;
  }
  return { ...sum, slices: parts };
}

/** The counters of one of several equal slices. While others still work, a finished slice has done its whole share. */
function sliceOf(task: Task, slice: number): Counters {
  const { slices } = task.plan;
  const part = (count: number) => Math.floor((count * (slice + 1)) / slices) - Math.floor((count * slice) / slices);
  const counters = task.counted();
  const done = task.state === 'completed' ? counters : allDone(task, counters);
  return {
    total: part(counters.total),
    updated: part(done.updated),
    created: part(done.created),
    deleted: part(done.deleted),
    batches: part(done.batches),
    version_conflicts: part(done.version_conflicts),
    noops: part(done.noops),
  };
}

function allDone({ plan }: Task, { total, version_conflicts, batches }: Counters): Omit<Counters, 'total'> {
  const done = total - version_conflicts;
  const [created, deleted] = plan.kind === 'reindex' ? [done, 0] : [0, done];
  return { updated: 0, created, deleted, batches, version_conflicts, noops: 0 };
}
