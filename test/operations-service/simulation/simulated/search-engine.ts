import { dottedName } from '../../../../lambda/policy/aspects.ts';
import type { Behaviour } from '../behaviour.ts';
import { countFailed, RestliError, unreachable } from '../wire/restli.ts';
import type { SearchEngine } from '../wire/search-engine.ts';
import type { Cluster, LogicalIndex, PhysicalIndex } from './cluster.ts';
import type { Simulation } from './simulation.ts';
import { startDelete, startReindex } from './submit.ts';
import { reportOf } from './task-report.ts';

/** The search engine that GMS asks, in simulated rows. Everything is answered at once. */
export function simulatedEngine(simulation: Omit<Simulation, 'engine'>): SearchEngine<LogicalIndex> {
  const { cluster } = simulation;
  const whole = simulation as Simulation;
  return {
    entityTypes: () => Array.from(cluster.logical.values(), ({ entityType }) => entityType.toLowerCase()),
    index(entityType, aspect) {
      const alias = `${entityType}_${aspect}aspect_v1`.toLowerCase();
      if (simulation.behaviour.exactNames) {
        const found = cluster.logical.get(dottedName({ entityType, aspect }).toLowerCase());
        return found?.entityType === entityType && found.aspect === aspect ? found : undefined;
      }
      if (alias.includes('*')) return pattern(cluster, entityType, aspect, alias);
      // GMS asks by the alias: `a_b.c` and `a.b_c` are one index (IndexConventionImpl).
      for (const one of cluster.logical.values()) if (one.alias === alias) return one;
      throw new RestliError(
        500,
        `[${alias}] OpenSearchStatusException[OpenSearch exception [type=index_not_found_exception, reason=no such index [${alias}]]]`,
      );
    },
    count(index, cutoffMillis) {
      if (!simulation.behaviour.engineReachable) throw countFailed();
      const counts = (index.covers ?? [index]).map(({ physical }) =>
        physical.store.count(cutoffMillis, physical.shardsWithOneAway),
      );
      return {
        matching: counts.reduce((sum, { matching }) => sum + matching, 0),
        total: counts.reduce((sum, { total }) => sum + total, 0),
      };
    },
    startDelete: (index, submission) => startDelete(whole, index, submission),
    startReindex: (index, submission) => startReindex(whole, index, submission),
    idleTask() {
      const { nodeId, number } = simulation.newTask();
      return `${nodeId}:${number}`;
    },
    task(id) {
      if (!simulation.behaviour.engineReachable) return undefined;
      const task = cluster.tasks.get(id);
      return task === undefined || task.state === 'gone' ? undefined : reportOf(task, cluster.now);
    },
    sizes() {
      if (!simulation.behaviour.engineReachable) throw unreachable();
      return Array.from(cluster.logical.values(), ({ entityType, aspect, physical }) => ({
        name: physical.name,
        entityType: entityType.toLowerCase(),
        aspect: aspect.toLowerCase(),
        bytes: bytesOf(physical, cluster, simulation.behaviour),
      }));
    },
  };
}

/** To the search engine, a name with an asterisk means all indices that match it. */
function pattern(cluster: Cluster, entityType: string, aspect: string, alias: string): LogicalIndex {
  const fits = new RegExp(`^${alias.replaceAll('*', '.*')}$`);
  const covers = [...cluster.logical.values()].filter((one) => fits.test(one.alias));
  return { entityType, aspect, alias, physical: cluster.create(alias), covers };
}

/** Bytes of an index without rows, and of one row: plausible values, the same for all indices. */
const emptyBytes = 208;
const rowBytes = 420;
/** A deleted row uses more space until the next merge, not less: it stays, and its deletion is recorded in addition. */
const deletionBytes = 30;

function bytesOf(physical: PhysicalIndex, cluster: Cluster, { mergeSeconds }: Behaviour): number {
  const mergedBefore = mergeSeconds === undefined ? Number.NEGATIVE_INFINITY : cluster.now - mergeSeconds * 1000;
  // Compared with the start of their second: with mergeSeconds 0 nothing waits.
  physical.unmerged = mergeSeconds === 0 ? [] : physical.unmerged.filter(({ at }) => at > mergedBefore);
  const deleted = physical.unmerged.reduce((sum, { rows }) => sum + rows, 0);
  return emptyBytes + physical.store.alive * rowBytes + deleted * (rowBytes + deletionBytes);
}
