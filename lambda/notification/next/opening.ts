import type { Cause } from '../../facts/cause.ts';
import type { Note } from '../../facts/note.ts';
import { listTasksRequest } from '../../operations/backend.ts';
import type { Command } from '../../wording/instruction.ts';
import { amount, moment, rows } from '../../wording/numbers.ts';
import type { Withheld } from '../../wording/offers.ts';
import { indexRequest } from '../../wording/recovery.ts';
import { ask } from '../../wording/repair.ts';
import { nameOf, ofTotal } from '../../wording/sentences.ts';
import type { MessageContext } from '../context.ts';
import { runByHand } from './commands.ts';
import type { Named, Step } from './step.ts';

/** Steps whose commands cannot be undone: they delete rows, or open an index to truncation. */

/** @param withheld why no command that deletes is offered now */
export function approveStep(
  approved: number,
  entry: Named,
  withheld: Withheld | undefined,
  context: MessageContext,
): Step {
  if (withheld === 'loss')
    return { text: 'Nothing now. Rows are missing: get them back before anything more is deleted.' };
  if (withheld) return { text: 'Nothing now. A preview that succeeds will show how to approve this once.' };
  const name = nameOf(entry);
  return {
    text: `Look whether rows still come in, and ask ${entry.owner === undefined ? 'whoever uses it' : 'its owner'}. Only if these rows may go, approve it once.`,
    look: {
      say: 'This counts them again, and deletes nothing',
      line: runByHand({ mode: 'preview', only: [name] }, context),
      typedIn: 'shell',
    },
    command: {
      say: `This deletes ${deleted(approved, name, entry)}`,
      line: runByHand({ mode: 'enforce', only: [name], approveRows: approved }, context),
      typedIn: 'shell',
      danger: 'deletes',
    },
  };
}

/** The approved number has some room for rows that age until someone reads this. */
function deleted(approved: number, name: string, entry: Named): string {
  const { rowsToDelete, rowsTotal = Number.POSITIVE_INFINITY } = entry;
  if (rowsToDelete === undefined || rowsToDelete > approved) return `up to ${rows(approved)} of ${name} for real`;
  if (rowsToDelete < rowsTotal && rowsTotal <= approved) {
    return `up to all ${rows(rowsTotal)} of ${name} for real: ${amount(rowsToDelete)} now, and the others as they pass their retention`;
  }
  const later = approved - rowsToDelete;
  const counted = `${ofTotal(rowsToDelete, entry.rowsTotal)} of ${name} for real`;
  return later <= 0 ? counted : `${counted}, and up to ${amount(later)} more that pass their retention until then`;
}

export const whenBack =
  'When the rows are back, clear the index: that reopens it for this job, and deletes no row. If they may stay missing, clearing says how to accept that.';
export const whenVisible =
  'When the rows are visible, clear the index: that reopens it for this job, and deletes no row.';
export const whenComplete =
  'Look at the index, and make sure that its rows are complete. Then clear it: that reopens it for this job, and deletes no row.';

/** The limits of one run's input (`lambda/run/plan/input.ts`). */
const maxCleared = 50;

/** What clearing does, in the line above the command. */
const clearing = (entries: readonly Named[], context: MessageContext): Command => ({
  say: 'This counts its rows, reopens it for this job only if they are all there, and deletes no row',
  line: runByHand({ clear: entries.map(nameOf).slice(0, maxCleared) }, context),
  typedIn: 'shell',
  danger: 'opens',
});

/** Before an index is opened: every index of that name, with its rows. */
const lookAt = (entries: readonly Named[]): Command | undefined =>
  entries[0] && ask('This shows its indices with their rows, and changes nothing', indexRequest(entries[0]));

const lookForTasks = ask('This shows what is deleting or copying, and changes nothing', listTasksRequest);

/** Counts an index and opens it if it is whole. */
export const clearStep = (text: string, entries: readonly Named[], context: MessageContext): Step => ({
  text,
  look: lookAt(entries),
  command: clearing(entries, context),
});

/** The record was written for another address, by another version, or by a clock that was ahead. */
export function foreignStep(
  { why }: Cause & { kind: 'foreign' },
  entries: readonly Named[],
  context: MessageContext,
): Step {
  const other = context.local ? 'give it a ledger of its own (--ledger)' : 'give it a stage of its own';
  const text = {
    version: 'Go back to the version that wrote it, or, when nothing of it runs any more, clear the index.',
    address: `If that is another server, ${other}. If it is the same server under another name, go back to the old name, or clear the index.`,
    clock:
      'Correct the clock that wrote it. The record is watched when its time has come; clearing says how to open the index before.',
  }[why];
  return { text, look: lookForTasks, command: clearing(entries, context) };
}

/**
 * After clearing was refused. Only this step offers to open an index although rows are missing or cannot be counted.
 */
export function refusalStep(
  { why, rowsMissing, unreadable, until }: Note & { kind: 'not-released' },
  entries: readonly Named[],
  context: MessageContext,
): Step | undefined {
  const accept = (count: number, text: string, what: string, look = lookAt(entries)): Step => {
    const line = runByHand({ clear: entries.map(nameOf), acceptMissing: count }, context);
    const say = `This reopens ${what}, and deletes no row`;
    return { text, look, command: { say, line, typedIn: 'shell', danger: 'opens' } };
  };
  const uncounted = () =>
    accept(1, 'Look at the index. If it is as it should be, accept that.', 'it for this job without a count');
  switch (why) {
    case 'rows-missing':
      if (rowsMissing === undefined) return clearStep(whenBack, entries, context);
      return accept(
        rowsMissing,
        'Get the rows back. Only if they may stay missing, accept that.',
        `the index for this job with up to ${rows(rowsMissing, 'exact')} missing`,
      );
    case 'uncounted':
      return uncounted();
    case 'unresolved':
      if (until === undefined) return uncounted();
      return clearStep(`If no run has resolved it by then, clear it from ${moment(until)} on.`, entries, context);
    case 'running':
      return accept(
        Math.max(1, rowsMissing ?? 0),
        'Wait until its task has ended, then clear it again. Only if it never will, accept that.',
        'the index for this job although its task still runs',
        lookForTasks,
      );
    case 'taken':
    case 'clock':
    case 'server':
    case 'ledger':
      return unreadable ? undefined : clearStep('Clear it again when this is settled.', entries, context);
  }
}
