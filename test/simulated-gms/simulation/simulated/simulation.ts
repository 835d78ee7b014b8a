import type { Random } from '../../../../cli/embedded-service/random.ts';
import type { Behavior } from '../behavior.ts';
import type { Server } from '../wire/search-engine.ts';
import type { Cluster, LogicalIndex } from './cluster.ts';

/** The wire's server, and the rows and tasks below it. */
export interface Simulation extends Server<LogicalIndex> {
  behavior: Behavior;
  cluster: Cluster;
  seed: number;
  /** The random ages of indices. */
  ages: Random;
  /** The id of a new task, and its number in this service. */
  newTask(): { id: string; serial: number };
}
