import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { benchBites } from './measured/bites.ts';
import { benchLooks } from './measured/looks.ts';
import { benchNights } from './measured/night.ts';
import { benchPlan } from './measured/plan-time.ts';
import { benchSettling } from './measured/settling.ts';
import { benchStart } from './measured/start-up.ts';
import { type Figures, show } from './show.ts';
import { bitesTable, looksTables, nightTable, planTable, settlingTable, shownTable, startTable } from './tables.ts';

/**
 * `npm run bench -- [--json FILE] [--only looks,nights,bites,settling,plan,start]`. Looks, nights, bites and settling
 * are simulated in virtual time and give the same results on every machine; Plan and start are measured and need a
 * quiet machine.
 */

const drawsPerCell = 200;
const planRounds = 5;
const startRounds = 31;

const { values } = parseArgs({ options: { json: { type: 'string' }, only: { type: 'string' } } });
const parts = ['looks', 'nights', 'bites', 'settling', 'plan', 'start'];
const chosen = values.only?.split(',') ?? parts;
const unknown = chosen.find((part) => !parts.includes(part));
if (unknown !== undefined) {
  process.stderr.write(`--only takes ${parts.join(', ')}; ${unknown} is none of them.\n`);
  process.exit(2);
}

const figures: Figures = {};
const print = (title: string, text: string) => process.stdout.write(`## ${title}\n\n${text}\n\n`);
const since = performance.now();

// Measured first, because simulations heat the CPU and fill the memory.
if (chosen.includes('start')) {
  figures.start = benchStart(startRounds);
  print('Start', startTable(figures.start));
}
if (chosen.includes('plan')) {
  figures.plan = await benchPlan(planRounds);
  print('Plan', planTable(figures.plan));
}
if (chosen.includes('looks')) {
  figures.looks = await benchLooks(drawsPerCell);
  print('Looks', looksTables(figures.looks));
}
if (chosen.includes('nights')) {
  figures.nights = await benchNights();
  print('Nights', nightTable(figures.nights));
}
if (chosen.includes('bites')) {
  figures.bites = await benchBites();
  print('Bites', bitesTable(figures.bites));
}
if (chosen.includes('settling')) {
  figures.settling = await benchSettling();
  print('Settling', settlingTable(figures.settling));
}
const shown = show(figures);
print('Promises', shownTable(shown));

const machine = { node: process.version, platform: `${process.platform} ${process.arch}`, processors: cpus().length };
const seconds = Math.round((performance.now() - since) / 1000);
process.stdout.write(`${seconds} s, Node ${machine.node} on ${machine.platform}, ${machine.processors} processors\n`);
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify({ machine, seconds, shown, ...figures }, undefined, 2)}\n`);
}
