import { parentPort, workerData } from 'node:worker_threads';
import { runCampaign, type Tally } from './campaign.ts';

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

export type Assignment = Histories;
export type ResultOf<A extends Assignment> = A extends Histories ? Tally : never;

async function carryOut(given: Assignment): Promise<Tally> {
  const { seed, first, step, end, untilViolation } = given;
  const runs = function* () {
    for (let run = first; run < end; run += step) yield run;
  };
  return runCampaign(seed, runs(), ({ violations }) => untilViolation && violations.length > 0);
}

parentPort?.postMessage(await carryOut(workerData as Assignment));
