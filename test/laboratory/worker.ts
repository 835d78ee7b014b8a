import { parentPort, workerData } from 'node:worker_threads';
import { runCampaign } from './campaign.ts';

/** One thread of the campaign; with the core as it is, or bundled with a mutant's patches. */

export interface Assignment {
  seed: number;
  first: number;
  /** Every so many runs. */
  step: number;
  end: number;
  /** Ends with the first violation. */
  untilViolation: boolean;
}

const { seed, first, step, end, untilViolation } = workerData as Assignment;

function* runs() {
  for (let run = first; run < end; run += step) yield run;
}

const tally = await runCampaign(seed, runs(), ({ violations }) => untilViolation && violations.length > 0);
parentPort?.postMessage(tally);
