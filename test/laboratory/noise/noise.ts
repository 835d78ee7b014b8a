import { printTable, progress } from '../campaign/print.ts';
import { liveNoise, type Noise, type NoiseNight } from './nights.ts';

/** `npm run faults -- --noise`: three months of an ordinary production. */

export const noiseNights = 92;

export async function runNoise(seed: number): Promise<boolean> {
  const noise = await liveNoise(seed, noiseNights, progress(`of ${noiseNights} nights`, 10));
  const sums: Record<string, number> = {};
  for (const { outcomes } of noise.nights) {
    for (const [outcome, count] of Object.entries(outcomes)) sums[outcome] = (sums[outcome] ?? 0) + count;
  }
  console.log(
    `${noise.nights.length} nights of an ordinary production, ${noise.truncates} real truncates, seed ${seed}`,
  );
  printTable(
    ['outcome', 'times'],
    Object.entries(sums).sort(([, one], [, other]) => other - one),
  );
  const bad = noise.nights.filter(({ result }) => result !== 'ok');
  const waiting = bad.filter(({ isWaiting }) => isWaiting);
  const others = bad.filter(({ isWaiting }) => !isWaiting);
  console.log(`\nNights that were not ok: ${bad.length}`);
  console.log(`\n${waiting.length} only because a reindex waits for what an upgrade may still copy (safety rule 3):`);
  printNights(waiting);
  console.log(`\n${others.length} because of something else:`);
  printNights(others);
  const lists = {
    'Indices that are stuck': noise.stuck,
    'Closed although no row is missing and the end can be known': noise.falseQuarantines,
    'Nights at which a reindex was due, had nothing to wait for, and did not truncate': noise.missed,
    'Copies without a task id, which only a person can open again': noise.unproven,
  };
  console.log('');
  for (const [what, list] of Object.entries(lists)) console.log(`${what}: ${list.join(', ') || 'none'}`);
  console.log(`The longest that an index went without a truncation: ${noise.longestPauseDays} days`);
  return isQuiet(noise);
}

const printNights = (nights: readonly NoiseNight[]): void =>
  printTable(
    ['night', 'result', 'why', 'what was not ok'],
    nights.map((night) => [night.number, night.result, night.happened.join('; ') || 'NOTHING', whatWas(night)]),
  );

const whatWas = ({ bad }: NoiseNight): string =>
  bad
    .map(({ name, outcome, cause, adopted }) => `${name} ${outcome} (${cause}${adopted ? ', adopted' : ''})`)
    .join('; ');

/** Nothing is stuck, no whole index is closed, nothing due is left undone, and every bad night has a reason. */
const isQuiet = ({ nights, stuck, falseQuarantines, missed }: Noise): boolean =>
  stuck.length === 0 &&
  falseQuarantines.length === 0 &&
  missed.length === 0 &&
  nights.every(({ result, happened }) => result === 'ok' || happened.length > 0);
