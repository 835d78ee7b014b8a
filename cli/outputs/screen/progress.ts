import { resultOf } from '../../../lambda/facts/outcomes.ts';
import { dottedName } from '../../../lambda/policy/aspects.ts';
import type { Entry, WatchedEntry } from '../../../lambda/run/state.ts';
import { duration, exact, percent } from '../../../lambda/words/numbers.ts';
import { decisionOf, doneOf, type Output, progressLine } from '../../telling/output.ts';
import { table } from '../table.ts';
import type { Paint } from './screen.ts';

/** What people see of a run while it works: the plan, and a line when a truncation gets on or ends. */

/** @param write whole lines */
export function createProgress(write: (line: string) => void, paint: Paint): Output['state'] {
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
