import { biteTolerance } from '../lambda/facts/limits.ts';
import { type BiteRow, bite } from './measured/bites.ts';
import { allowedLagSeconds, durationNames, durations, type LooksCell } from './measured/looks.ts';
import type { NightRow } from './measured/night.ts';
import type { PlanTime } from './measured/plan-time.ts';
import type { SettlingRow } from './measured/settling.ts';
import type { StartRow } from './measured/start-up.ts';

/** One of the project's promises, the figure of this run, and whether the promise is kept. */
export interface Shown {
  what: string;
  limit: string;
  figure: string;
  kept: boolean;
}

export interface Figures {
  looks?: LooksCell[];
  nights?: NightRow[];
  bites?: BiteRow[];
  settling?: SettlingRow[];
  plan?: PlanTime;
  start?: StartRow[];
}

/** Compares the figures with what the project promises. */
export function show({ looks, nights, bites, settling, plan, start }: Figures): Shown[] {
  return [
    ...(looks ? showLooks(looks) : []),
    ...(nights ? showNights(nights) : []),
    ...(bites ? showBites(bites) : []),
    ...(settling ? showSettling(settling) : []),
    ...(plan ? [upTo('Plan of 100 policies, times the ideal', plan.ratio, 1.15)] : []),
    ...(start ? showStart(start) : []),
  ];
}

const rounded = (value: number): string =>
  value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));

const upTo = (what: string, value: number, limit: number, unit = ''): Shown => ({
  what,
  limit: `at most ${limit}${unit}`,
  figure: `${rounded(value)}${unit}`,
  kept: value <= limit,
});

function showLooks(cells: LooksCell[]): Shown[] {
  const ours = cells.filter(({ way }) => way === 'ours');
  /** The cell that comes closest to its limit. */
  const worst = (used: (cell: LooksCell) => number) =>
    ours.map((cell) => ({ cell, used: used(cell) })).reduce((one, other) => (other.used > one.used ? other : one));
  const lag = worst((cell) => cell.lagSeconds.mean / allowedLagSeconds(cell));
  const { cell } = lag;
  const ratios = ours
    .filter(({ around }) => durations[around] >= 6 * 3600)
    .map((one) => {
      const fixed = cells.find(
        ({ way, shape, around }) => way === 'fixed 30 s' && shape === one.shape && around === one.around,
      );
      return one.looks.mean / fixed!.looks.mean;
    });
  return [
    {
      what: `Mean lag in each of ${ours.length} cells (worst: ${cell.shape}, ${cell.around})`,
      limit: '2 % with usable progress, else 5 %; or 5 s',
      figure: `${rounded(cell.lagSeconds.mean)} s of ${rounded(allowedLagSeconds(cell))} s`,
      kept: lag.used <= 1,
    },
    upTo(
      'Draws seen later than 10 % (10 s; 30 min) after their end',
      ours.reduce((sum, { beyondBound }) => sum + beyondBound, 0),
      0,
    ),
    upTo('Looks in 24 h', Math.max(...ours.map(({ looksOfADay }) => looksOfADay)), 110),
    upTo(`Turns around ${durationNames.slice(-2).join(' and ')}, of the fixed loop's`, Math.max(...ratios), 0.1),
  ];
}

function showNights(nights: NightRow[]): Shown[] {
  const ours = (name: string) => nights.find(({ night, way }) => way === 'ours' && night === name)!;
  const bad = ours('bad: 48 policies');
  const ten = ours('ten policies').price!;
  return [
    upTo('History events of the night with a day-long task', ours('a day-long task').historyEvents, 2000),
    {
      what: 'The bad night ends in a report, within its history',
      limit: '25000 events',
      figure: `${bad.historyEvents} events; ${Object.entries(bad.outcomes)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(', ')}`,
      kept: bad.historyEvents <= 25_000 && Object.values(bad.outcomes).reduce((sum, count) => sum + count, 0) === 48,
    },
    upTo(
      `Price of the night of ten policies in all (custom metrics: ${rounded(ten.metricMonths)} of the account's 10 free ones)`,
      ten.inAll * 100,
      1,
      ' cent',
    ),
  ];
}

function showBites(bites: BiteRow[]): Shown[] {
  const evenly = bites.filter(({ stamped }) => stamped === 'evenly');
  return [
    upTo(
      'Most rows that one bite took, of a bite',
      Math.max(...bites.map(({ rowsDeleted }) => rowsDeleted)) / bite,
      1 + biteTolerance,
    ),
    upTo('Dry runs of Plan for a bite', Math.max(...bites.map(({ planDryRuns }) => planDryRuns)), 20),
    upTo('Days to the policy’s cutoff after ten nights, rows evenly stamped', evenly.at(-1)!.cutoffOlderDays, 1),
  ];
}

function showSettling(settling: SettlingRow[]): Shown[] {
  const refused = settling.filter((row) => row.case === 'no sizes, no status');
  const most = (of: (row: SettlingRow) => number, rows = settling) => Math.max(...rows.map(of));
  return [
    upTo(
      'Minutes until a call without a task id is settled',
      most(({ minutes }) => minutes),
      30,
      ' min',
    ),
    upTo(
      'Requests for sizes in a run that may not have them',
      most(({ requests }) => requests.sizes, refused),
      2,
    ),
    upTo(
      'Requests for a status in a run that may not have it',
      most(({ requests }) => requests.status, refused),
      2,
    ),
  ];
}

const showStart = (start: StartRow[]): Shown[] =>
  start
    .filter(({ name }) => ['plan', 'truncate', 'poll', 'report'].includes(name))
    .map(({ name, ratio }) => upTo(`Import of ${name}, times that of reading parameters`, ratio, 2.2));
