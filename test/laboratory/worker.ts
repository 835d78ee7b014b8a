import { parentPort, workerData } from 'node:worker_threads';
import { runCampaign, type Tally } from './campaign.ts';
import { type Enumeration, enumerate } from './enumerate.ts';
import type { SmallStrategy } from './small-model.ts';

/** One thread of the laboratory; with the core as it is, or bundled with a mutant's patches. */

export interface Histories {
  kind: 'histories';
  seed: number;
  first: number;
  /** Every so many runs. */
  step: number;
  end: number;
  /** Ends with the first violation. */
  untilViolation: boolean;
}

export interface SmallModelOf {
  kind: 'small model';
  strategy: SmallStrategy;
  faults: number;
  looks: number;
  untilViolation: boolean;
}

export type Assignment = Histories | SmallModelOf;
export type ResultOf<A extends Assignment> = A extends Histories ? Tally : Enumeration;

async function carryOut(given: Assignment): Promise<Tally | Enumeration> {
  if (given.kind === 'small model') {
    return enumerate(given.strategy, given.faults, given.looks, given.untilViolation ? 1 : undefined);
  }
  const { seed, first, step, end, untilViolation } = given;
  const runs = function* () {
    for (let run = first; run < end; run += step) yield run;
  };
  return runCampaign(seed, runs(), ({ violations }) => untilViolation && violations.length > 0);
}

parentPort?.postMessage(await carryOut(workerData as Assignment));
