import type { Behaviour } from './behaviour.ts';
import type { Cluster } from './cluster.ts';
import type { Task } from './task.ts';

/** What the three actions work with. */
export interface Server {
  behaviour: Behaviour;
  cluster: Cluster;
  seed: number;
  /** Name of the node that tasks run on. */
  nodeId: string;
  /** Task numbers grow and are never used twice. */
  newTaskNumber(): number;
  /** What a client is told for a task: its id, or what this server gives instead. */
  answeredTaskId(task?: Task): string;
}
