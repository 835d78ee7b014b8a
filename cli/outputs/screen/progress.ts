import { resultOf } from '../../../lambda/model/outcomes.ts';
import { dottedName } from '../../../lambda/policy/aspects.ts';
import { exact, moment, percent } from '../../../lambda/report/sentences/numbers.ts';
import { decisionOf } from '../../../lambda/run/entries.ts';
import type { Entry, JudgedEntry, RunState, WatchedEntry } from '../../../lambda/run/state.ts';
import { view } from '../../../lambda/run/view.ts';
import { progressShown } from '../../../lambda/truncation/watch.ts';
import {
  actionOf,
  progressLine,
  type RunListener,
  reasonOfNextCheck,
  resultLine,
  taskRowsOf,
} from '../../events/run-listener.ts';
import { hanging, table, wrapped } from '../table.ts';
import type { Paint } from './screen.ts';

/** What people see of a run while it works: the plan, and a line when a truncation gets on or ends. */

interface Progress extends Pick<RunListener, 'state' | 'task'> {
  /** Prints something else below the same heading. */
  say(line: string): void;
}

/** Characters of a line: of a table, and of a text, which only a terminal breaks. */
interface Widths {
  width(): number;
  room(): number;
}

/** @param write whole lines */
export function createProgress(write: (...lines: string[]) => void, paint: Paint, { width, room }: Widths): Progress {
  const ended = new Set<string>();
  const tenths = new Map<string, number>();
  const names = new Map<string, string>();
  let heading: string | undefined;
  /** Below the heading, which waits for the person's yes. */
  const say = (line: string) => {
    if (heading) write(...wrapped(heading, room()));
    heading = undefined;
    write(...hanging('  ', line, room()));
  };
  const state: RunListener['state'] = (step, run) => {
    const { entries } = run;
    // A run that releases an index has no plan.
    if (step === 'plan' && entries.length > 0) {
      // An error that concerns every index is said once, in the report.
      const unread = entries.filter((entry) => isUnread(entry, run));
      if (!entries.every((entry) => isUnread(entry, run) || isNotExamined(entry)))
        write(planTable(run, paint, width()));
      for (const entry of unread) write(...wrapped(unreadLine(entry), room()));
      for (const { index, phase } of entries) if (phase === 'done') ended.add(index);
      if (entries.some((entry) => actionOf(entry) === 'reindex')) write(...wrapped(reindexExplained, room()));
      heading = headingOf(entries);
    }
    const mayAsk = step === 'plan' && entries.some(({ phase }) => phase === 'approved');
    for (const entry of entries) {
      names.set(entry.index, dottedName(entry.names));
      if (entry.phase === 'watched' && !mayAsk && isNews(entry, tenths)) say(progressLine(entry));
      if (entry.phase !== 'done' || ended.has(entry.index)) continue;
      ended.add(entry.index);
      const { outcome, cause } = decisionOf(entry);
      const shown = view(entry, run);
      const result = resultLine(outcome, { ...shown, oldIndex: shown.indexName, taskRows: taskRowsOf(cause) });
      say([`${dottedName(entry.names)}: ${paint(resultOf[outcome], outcome)}`, ...result].join(', '));
    }
  };
  return { state, say, task: (index, taskId) => say(`${names.get(index) ?? index}: task ${taskId}`) };
}

/** What a run waits for: how far each truncation is, and what its next check is for. */
export const waitingLine = (watched: readonly WatchedEntry[]): string =>
  watched
    .map((entry) => {
      const reason = reasonOfNextCheck(entry);
      return `${progressLine(entry)}${reason ? ` (${reason})` : ''}`;
    })
    .join('; ');

/** When it is first seen, and at every tenth. */
function isNews(watched: WatchedEntry, tenths: Map<string, number>): boolean {
  const { done, total } = progressShown(watched.record.attempt, watched.watch);
  const tenth = done === undefined || !total ? 0 : Math.floor((done / total) * 10);
  if ((tenths.get(watched.index) ?? -1) >= tenth) return false;
  tenths.set(watched.index, tenth);
  return true;
}

const isNotExamined = (entry: Entry): boolean => {
  const cause = entry.phase === 'done' ? decisionOf(entry).cause : undefined;
  return cause?.kind === 'setup' && cause.what === 'run';
};

const reindexExplained =
  'reindex: the server writes the rows to keep into a new index, so its result is counted row by row.';

function headingOf(entries: readonly Entry[]): string | undefined {
  const isIn = (wanted: Entry['phase']) => entries.some(({ phase }) => phase === wanted);
  const watching = isIn('watched') ? 'watching what an earlier run has started' : undefined;
  const truncating = isIn('approved') ? 'truncating one index after another' : undefined;
  const both = [truncating, watching].filter((part) => part !== undefined).join(', and ');
  return both && `${both.charAt(0).toUpperCase()}${both.slice(1)}:`;
}

/** What an earlier run has decided and nobody has read is not what a preview has counted. */
const isUnread = (entry: Entry, { mode }: RunState): entry is JudgedEntry =>
  mode === 'preview' && entry.phase === 'done' && entry.decision === undefined;

function unreadLine({ names, record: { lastVerdict } }: JudgedEntry): string {
  const { decided, verdict } = lastVerdict;
  return `Not read yet: ${dottedName(names)}, ${verdict.outcome}, run ${decided.runId} on ${moment(decided.atMillis)}.`;
}

function planTable(run: RunState, paint: Paint, width: number): string {
  const rows = run.entries
    .filter((entry) => !isUnread(entry, run))
    .map((entry) => {
      const { rowsTotal, rowsToDelete, rowsPastRetention = rowsToDelete } = view(entry, run);
      return [
        dottedName(entry.names),
        rowsTotal === undefined ? '-' : exact(rowsTotal),
        rowsToDelete === undefined ? '-' : exact(rowsToDelete),
        // The threshold is compared with all that is past the retention, even if the row limit deletes less.
        rowsTotal && rowsPastRetention !== undefined ? percent((rowsPastRetention / rowsTotal) * 100) : '-',
        decisionCell(entry, paint),
      ];
    });
  const columns = [
    { title: 'Index' },
    { title: 'Rows', align: 'right' as const },
    { title: 'Delete', align: 'right' as const },
    { title: 'Share', align: 'right' as const },
    { title: 'Decision' },
  ];
  return table(columns, rows, width);
}

/** Deletions and problems are in color; indices that nothing happens to are not. */
function decisionCell(entry: Entry, paint: Paint): string {
  const decision = actionOf(entry);
  if (decision === 'truncate' || decision === 'reindex') return paint('act', decision);
  const result = entry.phase === 'done' ? resultOf[decisionOf(entry).outcome] : 'ok';
  return result === 'ok' ? decision : paint(result, decision);
}
