import { indexKey } from '../../../../cli/embedded-service/rows.ts';
import { taskCounters } from '../../../../cli/embedded-service/tasks.ts';
import { countFailed, RestliError, unreachable } from '../wire/restli.ts';
import type { SearchEngine, TaskStatus } from '../wire/search-engine.ts';
import type { LogicalIndex } from './cluster.ts';
import type { Simulation } from './simulation.ts';
import { startDelete, startReindex } from './submit.ts';
import type { Task } from './task.ts';

/** The search engine that GMS asks, in simulated rows. Everything is answered at once. */
export function simulatedEngine(simulation: Omit<Simulation, 'engine'>): SearchEngine<LogicalIndex> {
  const { cluster } = simulation;
  const whole = simulation as Simulation;
  return {
    entityTypes: () => Array.from(cluster.logical.values(), ({ entityType }) => entityType.toLowerCase()),
    index(entityType, aspect) {
      const alias = indexKey(entityType, aspect);
      // GMS asks by the alias: `a_b.c` and `a.b_c` are one index (IndexConventionImpl).
      for (const one of cluster.logical.values()) if (one.alias === alias) return one;
      throw new RestliError(
        500,
        `[${alias}] OpenSearchStatusException[OpenSearch exception [type=index_not_found_exception, reason=no such index [${alias}]]]`,
      );
    },
    count({ physical }, cutoffMillis) {
      if (!simulation.behavior.engineReachable) throw countFailed();
      return physical.store.count(cutoffMillis, physical.shardsWithOneAway);
    },
    startDelete: (index, submission) => startDelete(whole, index, submission),
    startReindex: (index, submission) => startReindex(whole, index, submission),
    task(id) {
      if (!simulation.behavior.engineReachable) return undefined;
      const task = cluster.tasks.get(id);
      return task === undefined || task.state === 'gone' ? undefined : statusOf(task, cluster.now);
    },
    sizes() {
      if (!simulation.behavior.engineReachable) throw unreachable();
      return Array.from(cluster.logical.values(), ({ entityType, aspect, physical }) => ({
        name: physical.name,
        entityType: entityType.toLowerCase(),
        aspect: aspect.toLowerCase(),
        bytes: emptyBytes + physical.store.alive * rowBytes,
      }));
    },
  };
}

/** What the search engine reports of a task. */
function statusOf(task: Task, now: number): TaskStatus {
  const { plan, canceled, counters } = task;
  const isSearching = task.state === 'running' && now < plan.startedAt + plan.searchMillis;
  return {
    completed: task.state === 'completed',
    // To the microsecond: epoch milliseconds in a double are no finer.
    runTimeNanos: Math.round(((task.completedAt ?? now) - plan.startedAt) * 1000) * 1000,
    status: { ...taskCounters({ ...counters, ...(isSearching && { total: 0 }) }), canceled },
  };
}

/** Bytes of an index without rows, and of one row: plausible values, the same for all indices. */
const emptyBytes = 208;
const rowBytes = 420;
