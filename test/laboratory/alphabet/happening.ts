import type { PolicyOf } from '../histories/policies.ts';
import type { Chances } from '../world/chances.ts';
import type { Execution, ExecutionOptions } from '../world/execution.ts';
import type { World } from '../world/world.ts';

/** Where a letter happens: one night of one history. */
export interface Stage {
  world: World;
  /** Indices with a policy. */
  policies: readonly PolicyOf[];
  executions: Execution[];
  /** The night's number, from 0. */
  night: number;
  begin(runId: string, input: Record<string, unknown>, options?: ExecutionOptions): Execution;
  /** The execution that the schedule has started tonight, if any. */
  scheduled(): Execution | undefined;
}

/** A letter of the alphabet that happens at a moment. */
export interface Happening {
  says: string;
  /** @param chances a separate stream: how much, which index */
  happen(stage: Stage, chances: Chances): void;
}
