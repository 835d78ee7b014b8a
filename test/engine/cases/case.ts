import type { Cause } from '../../../lambda/facts/cause.ts';
import type { Outcome } from '../../../lambda/facts/outcomes.ts';
import type { Ended } from '../world/job.ts';
import type { Setting, World } from '../world/world.ts';

/** One thing that happens to a truncation, and what has to come of it. */
export interface EngineCase extends Setting {
  name: string;
  /** One of the five that every submission runs. */
  core?: true;
  /** It kills the engine's node: only for one that these tests have started. */
  kills?: true;
  /** Which of the server's times are real here, and what they are in the run's. */
  realTimes: string;
  /** Runs the job, once or more, and does what happens meanwhile. */
  story(world: World): Promise<Ended[]>;
  expected: Expectation;
}

export interface Expectation {
  /** Of the last run. */
  outcomes: readonly Outcome[];
  /** Of the last run, where only one is true. */
  cause?: Cause['kind'];
  /** Whether loaded rows that should be there are missing when everything has ended. */
  keptRowsMissing: 'none' | 'some' | 'all';
  /** Ingested rows that no count can know of, and that a request brings back which the message prints. */
  stragglers?: true;
  /** Ingested rows that an upgrade has left in its old index: nobody here has lost them, and no word may say otherwise. */
  leftBehind?: true;
  /** Commands are taken from the message; with them every row is back, and the index is cleared. */
  recovery?: true;
}

export const wait = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis));
