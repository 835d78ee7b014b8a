import { parentPort, workerData } from 'node:worker_threads';
import { type Ingredient, ingredientsOf } from '../histories/scenario.ts';
import { type Enumeration, enumerate } from '../small-model/enumerate.ts';
import type { SmallStrategy } from '../small-model/small-model.ts';
import { answersTold } from '../small-model/told.ts';
import { runCampaign, scenarioOf, type Tally } from './campaign.ts';

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

export interface SmallModel {
  kind: 'small model';
  strategy: SmallStrategy;
  faults: number;
  looks: number;
  /** Answers to a real truncate: the server's own, one of each kind, or all. */
  told: keyof typeof answersTold;
  /** The ledger knows the index from an earlier night. */
  recorded: boolean;
  /** Stops after this many violations. */
  most: number;
}

export type Assignment = Histories | SmallModel;
export type ResultOf<A extends Assignment> = A extends Histories ? Tally : Enumeration;

/** A worker's messages: each history that it has played, and at the end the totals. */
export type Word = { lived: true } | { result: Tally | Enumeration };

const say = (word: Word): void => parentPort?.postMessage(word);

function carryOut(given: Assignment): Promise<Tally | Enumeration> {
  if (given.kind === 'small model') {
    return enumerate({ ...given, told: answersTold[given.told] }, () => say({ lived: true }));
  }
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
