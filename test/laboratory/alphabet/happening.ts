import type { PolicyOf } from '../histories/policies.ts';
import type { Chances } from '../world/chances.ts';
import type { Execution, ExecutionOptions } from '../world/execution.ts';
import type { World } from '../world/world.ts';

/** What a letter of the alphabet can act on. */
export interface Scene {
  world: World;
  policies: readonly PolicyOf[];
  /** From 0. */
  night: number;
  /** Starts another execution. */
  begin(name: string, input: Record<string, unknown>, options?: ExecutionOptions): Execution;
  /** The execution that the schedule has started tonight. */
  scheduled(): Execution | undefined;
}

/** A letter that happens at a moment of a night. */
export type Happening = (stage: Scene, chances: Chances) => void;
