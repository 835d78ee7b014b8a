import type { Chances } from '../world/chances.ts';
import { answers, effects, unwritten } from './answers.ts';
import { arrivals } from './arrivals.ts';
import { beginnings, executions } from './executions.ts';
import type { Happening, Stage } from './happening.ts';
import { operator } from './operator.ts';
import { others } from './others.ts';
import { kinds, moods } from './server.ts';
import { machinery } from './weather.ts';

/**
 * What the environment may do, stated once: everything in a history is drawn from here. `assumptions.ts` says what is
 * left out, and docs/testing.md says why.
 */

/** Letters that happen at a moment of a night. */
export const happenings = { ...others, ...arrivals, ...operator, ...executions } as const satisfies Record<
  string,
  Happening
>;
export type HappeningName = keyof typeof happenings;

/** Lets a letter happen now. */
export function happens(name: HappeningName, stage: Stage, chances: Chances): void {
  const { happen }: Happening = happenings[name];
  stage.world.injected(name);
  happen(stage, chances);
}

export const happeningNames = Object.keys(happenings) as HappeningName[];

const says = (table: Record<string, { says: string }>): Record<string, string> =>
  Object.fromEntries(Object.entries(table).map(([name, letter]) => [name, letter.says]));

/** Every letter with its meaning, by part of the world. */
export const alphabet: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'answers to a request': answers,
  'effects of a real truncate': effects,
  'requests that are not written': unwritten,
  servers: says(kinds),
  'servers for a night': says(moods),
  'other people and jobs': says(others),
  'rows that come in': says(arrivals),
  'the operator': says(operator),
  executions: { ...says(executions), ...beginnings },
  'functions and stores': machinery,
};
