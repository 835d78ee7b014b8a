import type { BiteRow } from './measured/bites.ts';
import { durationNames, type LooksCell, ways } from './measured/looks.ts';
import type { NightRow } from './measured/night.ts';
import type { PlanTime } from './measured/plan-time.ts';
import type { SettlingRow } from './measured/settling.ts';
import type { StartRow } from './measured/start-up.ts';
import { shapeNames } from './shapes.ts';
import type { Shown } from './show.ts';

/** The figures as Markdown tables: what `docs/performance.md` holds, and what a terminal can show. */

function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n');
}

const short = (value: number): string =>
  value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));

export function looksTables(cells: LooksCell[]): string {
  const tableOf = (title: string, show: (cell: LooksCell) => string) => {
    const rows = ways.flatMap((way) =>
      shapeNames.map((shape) => [
        way,
        shape,
        ...durationNames.map((around) =>
          show(cells.find((cell) => cell.way === way && cell.shape === shape && cell.around === around)!),
        ),
      ]),
    );
    return `${title}\n\n${table(['way', 'progress', ...durationNames], rows)}`;
  };
  return [
    tableOf(
      'Lag from the end of a task to the look that sees it: mean (and maximum), as a share of its time; "given up": the watch ended before the task',
      (cell) => {
        const { lagSeconds, lagPercent, givenUp, draws } = cell;
        const gone = givenUp > 0 ? `, ${Math.round((givenUp / draws) * 100)} % given up` : '';
        if (givenUp === draws) return 'all given up';
        return `${short(lagSeconds.mean)} s (${short(lagSeconds.max)}), ${short(lagPercent.mean)} %${gone}`;
      },
    ),
    tableOf('Looks per task: mean (and maximum)', ({ looks }) => `${short(looks.mean)} (${looks.max})`),
  ].join('\n\n');
}

export function nightTable(nights: NightRow[]): string {
  const dash = (value: number | undefined, show: (value: number) => string) =>
    value === undefined ? '–' : show(value);
  return table(
    [
      'night',
      'way',
      'hours',
      'transitions',
      'events',
      'invocations',
      'requests',
      '`_count`',
      'in all, cents',
      'of it memory',
      'metrics, if not free',
      'told after',
      'outcome',
    ],
    nights.map((row) => [
      row.night,
      row.way,
      row.hours.toFixed(2),
      String(row.transitions),
      String(row.historyEvents),
      String(row.invocations),
      String(row.requests),
      String(row.countQueries),
      dash(row.price?.inAll, (dollars) => (dollars * 100).toFixed(2)),
      dash(row.price?.memory, (dollars) => (dollars * 100).toFixed(4)),
      dash(row.price?.metricsWithoutFree, (dollars) => (dollars * 100).toFixed(2)),
      dash(row.notifiedAfterSeconds, (seconds) => `${Math.round(seconds)} s`),
      row.remark ??
        Object.entries(row.outcomes)
          .map(([outcome, count]) => `${count} ${outcome}`)
          .join(', '),
    ]),
  );
}

export const bitesTable = (bites: BiteRow[]): string =>
  table(
    ['stamped', 'night', 'outcome', 'rows deleted', 'cutoff older by', 'dry runs of Plan', 'estimated', 'took'],
    bites.map((row) => [
      row.stamped,
      String(row.night),
      row.outcome,
      row.rowsDeleted.toLocaleString('en-US'),
      `${row.cutoffOlderDays.toFixed(1)} d`,
      String(row.planDryRuns),
      row.estimatedSeconds === undefined ? '–' : `${row.estimatedSeconds} s`,
      `${Math.round(row.tookSeconds)} s`,
    ]),
  );

export const settlingTable = (settling: SettlingRow[]): string =>
  table(
    ['profile', 'case', 'outcome', 'settled after', 'looks', 'dry runs', 'statuses', 'sizes', 'requests a look'],
    settling.map(({ requests, ...row }) => [
      row.profile,
      row.case,
      row.outcome,
      `${row.minutes.toFixed(1)} min`,
      String(row.looks),
      String(requests.dryRun),
      String(requests.status),
      String(requests.sizes),
      row.perLook.toFixed(1),
    ]),
  );

export const planTable = (plan: PlanTime): string =>
  table(
    ['policies', 'one answer', 'side by side', 'ideal', 'median', 'fastest', 'median / ideal'],
    [
      [
        String(plan.policies),
        `${plan.answerMillis} ms`,
        String(plan.concurrency),
        `${plan.idealMillis} ms`,
        `${Math.round(plan.medianMillis)} ms`,
        `${Math.round(plan.minMillis)} ms`,
        plan.ratio.toFixed(3),
      ],
    ],
  );

export const startTable = (start: StartRow[]): string =>
  table(
    ['bundle', 'kB', 'import, median', 'fastest', '/ ssm-only', 'largest parts, kB'],
    start.map((row) => [
      row.name,
      row.kilobytes.toFixed(0),
      `${row.medianMillis.toFixed(1)} ms`,
      `${row.minMillis.toFixed(1)} ms`,
      row.ratio.toFixed(2),
      Object.entries(row.parts)
        .filter(([, kilobytes]) => kilobytes >= 10)
        .slice(0, 5)
        .map(([name, kilobytes]) => `${name} ${Math.round(kilobytes)}`)
        .join(', ') || '–',
    ]),
  );

export const shownTable = (shown: Shown[]): string =>
  table(
    ['promise', 'limit', 'this run', ''],
    shown.map(({ what, limit, figure, kept }) => [what, limit, figure, kept ? 'kept' : 'NOT KEPT']),
  );
