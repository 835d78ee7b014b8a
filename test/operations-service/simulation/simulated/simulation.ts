import type { Random } from '../../../../cli/operations-service/random.ts';
import type { Behaviour } from '../behaviour.ts';
import type { Server } from '../wire/search-engine.ts';
import type { Cluster, LogicalIndex } from './cluster.ts';

/** The wire's server, and the rows and tasks below it. */
export interface Simulation extends Server<LogicalIndex> {
  behaviour: Behaviour;
  cluster: Cluster;
  seed: number;
  /** The random ages of indices. */
  ages: Random;
  /** The node that a new task runs on, its number there, and its number in this service. */
  newTask(): { nodeId: string; number: number; serial: number };
  /** Task numbers start over after a restart, if this server does that. */
  restartNumbers(): void;
  /** The disk reaches its flood stage; a second call does nothing, so that someone can make room. */
  fillDisk(): void;
}
