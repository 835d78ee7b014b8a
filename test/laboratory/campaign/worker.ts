import { parentPort, workerData } from 'node:worker_threads';
import { type Ingredient, ingredientsOf, scenarioOf } from '../histories/scenario.ts';
import { type Enumeration, enumerate } from '../small-model/enumerate.ts';
import type { SmallOptions } from '../small-model/small-model.ts';
import { runCampaign, type Tally } from './campaign.ts';

/** One thread of the laboratory; with the core as it is, or bundled with a mutant. */

export interface Histories {
  kind: 'histories';
  seed: number;
  first: number;
  /** Every nth run. */
  step: number;
  end: number;
  /** Only histories in which one of these is drawn. */
  among?: readonly Ingredient[];
  /** Stops at the first violation. */
  untilViolation: boolean;
}

export interface SmallModel extends SmallOptions {
  kind: 'small model';
  /** How many faults one history may hold. */
  faults: number;
  /** Stops after this many violations. */
  most: number;
}

export type Assignment = Histories | SmallModel;
export type ResultOf<A extends Assignment> = A extends Histories ? Tally : Enumeration;

/** A worker's messages: each history that it has played, and at the end the totals. */
export type Word = { lived: true } | { result: Tally | Enumeration };

const say = (word: Word): void => parentPort?.postMessage(word);

function carryOut(given: Assignment): Promise<Tally | Enumeration> {
  if (given.kind === 'small model') return enumerate(given, () => say({ lived: true }));
  const { seed, first, step, end, among, untilViolation } = given;
  const runs = function* () {
    for (let run = first; run < end; run += step) {
      const drawn = among && ingredientsOf(scenarioOf(seed, run));
      if (!drawn || among.some((one) => drawn.has(one))) yield run;
    }
  };
  return runCampaign(seed, runs(), ({ violations }) => {
    say({ lived: true });
    return untilViolation && violations.length > 0;
  });
}

say({ result: await carryOut(workerData as Assignment) });
