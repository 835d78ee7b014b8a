import { resultOf } from '../../../lambda/facts/outcomes.ts';
import { dottedName } from '../../../lambda/policy/aspects.ts';
import type { Entry, RunState, WatchedEntry } from '../../../lambda/run/state.ts';
import { duration, exact, percent } from '../../../lambda/words/numbers.ts';
import type { Step } from '../../run/state-machine.ts';
import { table } from '../table.ts';
import type { Paint } from './colour.ts';

/** What people see of a run while it works: the plan, and a line when a truncation gets on or ends. */

/** @param write whole lines */
export function createProgress(write: (line: string) => void, paint: Paint): (step: Step, state: RunState) => void {
  const ended = new Set<string>();
  const tenths = new Map<string, number>();
  return (step, state) => {
    // A run that releases an index has no plan.
    if (step === 'plan' && state.entries.length > 0) {
      write(planTable(state.entries, paint));
      for (const { index, phase } of state.entries) if (phase === 'done') ended.add(index);
      if (state.entries.some(({ phase }) => phase !== 'done')) write('Truncating, one index after another:');
    }
    for (const entry of state.entries) {
      if (entry.phase === 'watched' && isNews(entry, tenths)) write(`  ${progressLine(entry)}`);
      if (entry.phase !== 'done' || ended.has(entry.index)) continue;
      ended.add(entry.index);
      const { outcome, rowsDeleted } = entry.entry;
      const deleted = rowsDeleted === undefined ? '' : `, ${exact(rowsDeleted)} rows deleted`;
      write(`  ${dottedName(entry.entry)}: ${paint(resultOf[outcome], outcome)}${deleted}`);
    }
  };
}

/** Rows done and to do, as far as any look has shown. */
export function doneOf({ entry, watch }: WatchedEntry): { done: number; total: number } {
  const total = watch.progress?.total ?? entry.rowsToDelete ?? 0;
  return { total, done: Math.min(watch.progress?.done ?? 0, total) };
}

/** `dataset.operation: 400 of 1,000 rows done`. */
export function progressLine(watched: WatchedEntry): string {
  const { done, total } = doneOf(watched);
  return `${dottedName(watched.entry)}: ${exact(done)} of ${exact(total)} rows done`;
}

/** `looks again in 2 min`: what a run waits for. */
export const waitingLine = (watched: readonly WatchedEntry[], waitSeconds: number): string =>
  `${watched.map(progressLine).join('; ')}; looks again in ${duration(waitSeconds)}`;

/** When it is first seen, and at every tenth. */
function isNews(watched: WatchedEntry, tenths: Map<string, number>): boolean {
  const { done, total } = doneOf(watched);
  const tenth = total === 0 ? 0 : Math.floor((done / total) * 10);
  if ((tenths.get(watched.index) ?? -1) >= tenth) return false;
  tenths.set(watched.index, tenth);
  return true;
}

function planTable(entries: readonly Entry[], paint: Paint): string {
  const rows = entries.map((entry) => {
    const { rowsTotal, rowsToDelete, rowsPastRetention = rowsToDelete } = entry.entry;
    return [
      dottedName(entry.entry),
      rowsTotal === undefined ? '-' : exact(rowsTotal),
      rowsToDelete === undefined ? '-' : exact(rowsToDelete),
      // The threshold is compared with all that is past the retention, even if a bite deletes less.
      rowsTotal && rowsPastRetention !== undefined ? percent((rowsPastRetention / rowsTotal) * 100) : '-',
      entry.phase === 'done' ? paint(resultOf[entry.entry.outcome], entry.entry.outcome) : decisionOf(entry),
    ];
  });
  const columns = [
    { title: 'Index' },
    { title: 'Rows', align: 'right' as const },
    { title: 'To delete', align: 'right' as const },
    { title: 'Share', align: 'right' as const },
    { title: 'Decision' },
  ];
  return table(columns, rows);
}

/** The outcome, if there is one already; otherwise what is being done. */
export function decisionOf(entry: Entry): string {
  if (entry.phase === 'done') return entry.entry.outcome;
  return entry.phase === 'approved' ? 'truncate' : 'watch';
}
