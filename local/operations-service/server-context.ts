import type { Behaviour } from './behaviour.ts';
import type { Cluster } from './cluster.ts';
import type { Task } from './task.ts';

/** What the three actions work with. */
export interface Server {
  behaviour: Behaviour;
  cluster: Cluster;
  seed: number;
  /** The node that a new task runs on, and its number there: numbers grow and are never used twice. */
  newTask(): { nodeId: string; number: number };
  /** What a client is told for a task: its id, or what this server gives instead. */
  answeredTaskId(names: { entityType: string; aspect: string }, task?: Task): string;
}
