import { printTable, progress } from '../campaign/print.ts';
import { liveNoise, type Noise, type NoiseNight } from './nights.ts';

/** `npm run faults -- --noise`: three months of an ordinary production. */

export const noiseNights = 92;

export async function runNoise(seed: number): Promise<boolean> {
  const noise = await liveNoise(seed, noiseNights, progress(`of ${noiseNights} nights`, 10));
  const bad = noise.nights.filter(({ result }) => result !== 'ok');
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
  console.log(`\nNights that were not ok: ${bad.length}`);
  printTable(
    ['night', 'result', 'what was not ok', 'what had happened'],
    bad.map((night) => [night.number, night.result, whatWas(night), night.happened.join('; ') || 'NOTHING']),
  );
  console.log(`\nIndices that are stuck: ${noise.stuck.join(', ') || 'none'}`);
  console.log(`False quarantines: ${noise.falseQuarantines.join(', ') || 'none'}`);
  console.log(`Copies without a task id, which only a person can open again: ${noise.unproven.join(', ') || 'none'}`);
  console.log(`The longest that an index went without a truncation: ${noise.longestPauseDays} days`);
  return isQuiet(noise);
}

const whatWas = ({ bad }: NoiseNight): string =>
  bad
    .map(({ name, outcome, cause, adopted }) => `${name} ${outcome} (${cause}${adopted ? ', adopted' : ''})`)
    .join('; ');

/** Nothing stuck, nothing closed that is whole, and no bad night without a reason. */
const isQuiet = ({ nights, stuck, falseQuarantines }: Noise): boolean =>
  stuck.length === 0 &&
  falseQuarantines.length === 0 &&
  nights.every(({ result, happened }) => result === 'ok' || happened.length > 0);
