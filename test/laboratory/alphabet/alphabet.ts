import type { Chances } from '../world/chances.ts';
import { arrivals } from './arrivals.ts';
import { executions } from './executions.ts';
import type { Happening, Scene } from './happening.ts';
import { operator } from './operator.ts';
import { others } from './others.ts';

/**
 * What happens at a moment of a night. The rest of what the environment may do is in this folder, too: everything in a
 * history is drawn from here, and docs/testing.md says what is left out, and why.
 */
export const happenings = { ...others, ...arrivals, ...operator, ...executions } as const satisfies Record<
  string,
  Happening
>;
export type HappeningName = keyof typeof happenings;

/** Makes a happening (a letter of the alphabet) take place now. */
export function happens(name: HappeningName, stage: Scene, chances: Chances): void {
  const happen: Happening = happenings[name];
  stage.world.injected(name);
  happen(stage, chances);
}

export const happeningNames = Object.keys(happenings) as HappeningName[];
