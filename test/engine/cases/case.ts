import type { Cause } from '../../../lambda/model/cause.ts';
import type { Note } from '../../../lambda/model/note.ts';
import type { Outcome } from '../../../lambda/model/outcomes.ts';
import type { EngineName } from '../start/engines.ts';
import type { Ended } from '../world/job.ts';
import type { Setting, World } from '../world/world.ts';

/** One thing that happens to a truncation, and what its result must be. */
export interface EngineCase extends Setting {
  name: string;
  /** One of the five that every submission runs. */
  core?: true;
  /** An engine on which its situation does not arise. */
  notOn?: EngineName;
  /** Runs the job, once or more often, and does what happens in the meantime. */
  story(world: World): Promise<Ended[]>;
  expected: Expectation;
}

export interface Expectation {
  /** Of the last run. */
  outcomes: readonly Outcome[];
  /** Of the last run, if only one is correct. */
  cause?: Cause['kind'];
  /** One that the last run's report has. */
  note?: Note['kind'];
  /** Whether loaded rows that should be there are missing when everything has ended. */
  rowsToKeepMissing: 'none' | 'some' | 'all';
  /** Real truncates; one, if nothing else is said. */
  truncates?: number;
  /** Ingested rows that a copy has left in the old index, which no count can show: the message says that there may be some. */
  lateRows?: true;
  /** Ingested rows that an upgrade has left in its old index: the job has not lost them, and must not say that it has. */
  leftBehind?: true;
  /** The runbook's steps are taken; afterwards every row is back, and an index that is quarantined can be released. */
  recovery?: true;
}
