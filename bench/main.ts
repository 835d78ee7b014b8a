import { cpus } from 'node:os';
import { peers, watched } from './peers.ts';
import { priceOf } from './prices.ts';
import { type Measured, measureRun } from './run.ts';
import { oneTask, runs } from './scenarios.ts';
import { measureStartUp } from './start-up.ts';

/**
 * `npm run bench`: what users feel. Runs and lag are simulated in virtual time and the same on every machine; start-up is
 * measured and needs a quiet one. It prints the promises and never fails because of them: a slow machine is not a defect.
 */

const start = Date.UTC(2026, 2, 1, 3, 30);
const durations = { '10 s': 10, '1 min': 60, '10 min': 600, '1 h': 3600, '6 h': 21_600 };
const draws = 20;
const startRounds = 31;

const promises: Record<string, string>[] = [];
const promise = (what: string, figure: number, limit: number, unit: string) =>
  promises.push({
    promise: what,
    limit: `at most ${limit}${unit}`,
    'this time': `${rounded(figure)}${unit}`,
    '': figure <= limit ? 'kept' : 'BROKEN',
  });

// Start-up is the first: simulations heat the CPU and fill the memory.
startUp();
await wholeRuns();
await lagOfAVerdict();
table('Promises', promises);
process.stdout.write(`Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} processors\n`);

function startUp(): void {
  const measured = measureStartUp(startRounds);
  table(
    'Start-up',
    measured.map(({ name, kilobytes, millis, ratio }) => ({
      bundle: name,
      kB: rounded(kilobytes),
      'import, ms': rounded(millis),
      'of reading parameters': rounded(ratio),
    })),
  );
  const functions = measured.slice(1);
  promise('Import of a function, times that of reading parameters', most(functions.map((one) => one.ratio)), 2.2, '');
  promise('Size of a function', most(functions.map((one) => one.kilobytes)), 1500, ' kB');
}

async function wholeRuns(): Promise<void> {
  const scenarios = runs(start);
  const measured: Measured[] = [];
  for (const scenario of scenarios) measured.push(await measureRun(scenario, start));
  table(
    'Runs',
    measured.map(({ usage, report, largestStateBytes }, at) => ({
      run: scenarios[at]!.name,
      outcomes: outcomesOf(report),
      requests: usage.requests,
      events: usage.historyEvents,
      invocations: usage.invocations,
      'state, kB': rounded(largestStateBytes / 1024),
      'price, cent': rounded(priceOf(usage) * 100),
    })),
  );
  promise('Price of the run of ten policies', priceOf(measured[0]!.usage) * 100, 1, ' cent');
  promise('Events of the longest run', most(measured.map(({ usage }) => usage.historyEvents)), 25_000, '');
  promise('Requests for each policy of the run of ten', measured[0]!.usage.requests / 10, 40, '');
}

async function lagOfAVerdict(): Promise<void> {
  const rows = [];
  const beside: Record<string, string | number>[] = [];
  for (const [name, around] of Object.entries(durations)) {
    const seconds = Array.from({ length: draws }, (_, draw) => around * 2 ** ((draw + 0.5) / draws - 0.5));
    const measured = [];
    for (const each of seconds) measured.push(await measureRun(oneTask(start, each), start));
    const lags = measured.map(({ lagSeconds }) => lagSeconds ?? Number.POSITIVE_INFINITY);
    const mean = meanOf(lags);
    const requests = meanOf(measured.map(({ usage }) => usage.requests));
    rows.push({
      'task of about': name,
      'mean lag': `${rounded(mean)} s`,
      longest: `${rounded(most(lags))} s`,
      'of its time': `${rounded((mean / around) * 100)} %`,
      requests: rounded(requests),
    });
    for (const [peer, watch] of Object.entries(peers)) {
      const all = [];
      for (const each of seconds) all.push(await watched(oneTask(start, each), start, watch));
      const lags = all.flatMap(({ lagSeconds }) => lagSeconds ?? []);
      const [asked, lag] = [meanOf(all.map((one) => one.requests)), meanOf(lags)];
      const early = draws - lags.length;
      beside.push({
        'task of about': name,
        watch: peer,
        'mean lag': early > 0 ? `${early} of ${draws} declared over too early` : `${rounded(lag)} s`,
        'our lag / theirs': early > 0 ? '' : rounded(mean / lag),
        requests: rounded(asked),
        'our requests / theirs': rounded(requests / asked),
      });
    }
    promise(`Mean lag of a verdict, task of about ${name}`, mean, 15, ' s');
  }
  table('Lag: from the end of a task to the published report', rows);
  table('The same tasks, watched by others', beside);
}

function outcomesOf({ policies }: Measured['report']): string {
  const counts = new Map<string, number>();
  for (const { outcome } of policies) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

function most(numbers: readonly number[]): number {
  return Math.max(...numbers);
}

function rounded(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** As a Markdown table, for docs/performance.md. */
function table(title: string, rows: Record<string, string | number>[]): void {
  const names = Object.keys(rows[0] ?? {});
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  const rule = `|${names.map(() => '---').join('|')}|`;
  const body = rows.map((row) => line(names.map((name) => row[name])));
  process.stdout.write(`## ${title}\n\n${[line(names), rule, ...body].join('\n')}\n\n`);
}
