import type { Cause } from '../../lambda/model/cause.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import type { Message } from '../../lambda/report/message.ts';
import { exact, rows } from '../../lambda/report/sentences/numbers.ts';
import { isAheadOfCounts, rowsDone } from '../../lambda/report/sentences/phrases.ts';
import type { functionTimeoutSeconds } from '../../lambda/run/deadlines.ts';
import { decisionOf } from '../../lambda/run/entries.ts';
import type { Entry, RunState, WatchedEntry } from '../../lambda/run/state.ts';
import { progressShown } from '../../lambda/truncation/watch.ts';
import type { Check, Findings } from './findings.ts';

/**
 * What the command line tells while it works: `outputs/screen/on-screen.ts` to people, `outputs/json-lines.ts` to
 * programs. The methods stand about in the order of their calls, those of a run before those of a survey.
 */
export interface RunListener {
  /** Keeps a secret out of all output from now on. */
  addRedaction(hide: (text: string) => string): void;
  /** At once, before anything is asked. */
  header(header: Header): void;
  /** The ledger's folder, if it is only known after asking the server. */
  ledger(path: string): void;
  /** A remark worth knowing. @param more lines below it, which stay as they are: a command, a list */
  note(text: string, more?: readonly string[]): void;
  counted(done: number, of: number): void;

  state(step: keyof typeof functionTimeoutSeconds, state: RunState): void;
  /** The server has returned a task id, which is not stored yet. */
  task(index: string, taskId: string): void;
  /** A problem that the run survives, or that its report will contain. */
  problem(text: string): void;
  report(message: Message): void;
  posted(posted: Posted): void;

  checks(checks: readonly Check[]): void;
  survey(findings: Findings): void;

  written(what: 'report' | 'policies' | 'page' | 'figures', path: string): void;
  /** The process was asked to stop; the lines say what continues without it. */
  stopped(lines: readonly string[]): void;
  close(): void;
}

export interface Header {
  server: string;
  /** Where address and token were found. */
  from?: { url: string; identity: readonly string[] } | undefined;
  mode: 'survey' | 'preview' | 'enforce' | 'release';
  embedded: boolean;
  /** Waits are cut short. */
  fast: boolean;
  /** Omitted if not known yet, or if there is none. */
  ledger?: string;
}

/**
 * Whether output was taken: its reader may be gone, which is a person's choice, or a disk may have refused it. Nothing
 * is asked of an output that was closed at the start, or is the null device.
 */
export type Printed = 'taken' | 'not-asked' | 'gone' | 'refused';

/** What became of the message for the webhook. */
export type Posted =
  /** `doubt`: a sentence about an answer that may mean that it was refused. */
  | { kind: 'posted'; host: string; status: number; doubt?: string | undefined }
  /** `problem` is a sentence with the remedy, without the address. */
  | { kind: 'failed'; host: string; problem: string };

/** `dataset.operation: 400 of 1,000 old rows deleted`; of a reindex, rows written. */
export const progressLine = (watched: WatchedEntry): string => `${dottedName(watched.names)}: ${progressOf(watched)}`;

/** The same without the name. */
export function progressOf({ record, watch }: WatchedEntry): string {
  const { done, total, work } = progressShown(record.attempt, watch);
  return done === undefined
    ? 'under way'
    : rowsDone(done, total, { method: work === 'written' ? 'reindex' : 'delete' });
}

/** What the next check of a truncation is for, where its progress does not say it. */
export function reasonOfNextCheck({ record, watch }: WatchedEntry): string | undefined {
  if (watch.error) return 'its last check failed';
  if (watch.pending) return 'its rows are counted a second time';
  if (watch.task?.completed) return 'its task has ended, and its rows are counted';
  if (watch.vanished) return 'its task is gone, and its rows are counted';
  return record.state === 'sending' ? 'there is no task to ask, and its rows are counted' : undefined;
}

/**
 * What a truncation came to: `2 rows missing, 60 rows deleted`. Where the counts do not show what its task says, both
 * are said; after a reindex no row is deleted.
 * @param taskRows what its task says it has deleted
 */
export function resultLine(outcome: string, result: TruncationResult): string[] {
  const { rowsMissing = 0, rowsNotVisible = 0, rowsDeleted, taskRows = 0, rowsLeftBehind = 0, oldIndex } = result;
  const isReindex = rowsLeftBehind > 0 || rowsDeleted === undefined;
  const counts: Array<[count: number, what: string]> = [
    [rowsMissing, outcome === 'rows-missing' || isReindex ? 'missing' : 'newer than the cutoff gone as well'],
    [rowsNotVisible, 'not visible'],
    [rowsLeftBehind, `left behind in ${oldIndex ?? 'the old index'}`],
  ];
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${rows(count, 'exact')} ${what}`);
  if (isReindex) return said;
  const deleted = `${rows(rowsDeleted, 'exact')} deleted`;
  const unseen = `its task reports ${rows(taskRows, 'exact')} deleted, but the counts show ${exact(rowsDeleted)}`;
  return [...said, isAheadOfCounts(taskRows, rowsDeleted) ? unseen : deleted];
}

interface TruncationResult {
  rowsMissing?: number | undefined;
  rowsNotVisible?: number | undefined;
  rowsDeleted?: number | undefined;
  taskRows?: number | undefined;
  rowsLeftBehind?: number | undefined;
  oldIndex?: string | undefined;
}

/** Rows that the task of a delete says it has deleted. */
export const taskRowsOf = (cause: Cause | undefined): number | undefined =>
  cause !== undefined && 'done' in cause ? cause.done : undefined;

/** What a plan does, or would do, with an index; the outcome where it does nothing. */
export function actionOf(entry: Entry): string {
  if (entry.phase === 'watched') return 'watch';
  const outcome = entry.phase === 'done' ? decisionOf(entry).outcome : 'would-truncate';
  if (outcome !== 'would-truncate') return outcome;
  return entry.plan?.counts?.method === 'reindex' ? 'reindex' : 'truncate';
}
