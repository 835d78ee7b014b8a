import { listTasksRequest } from '../../operations/backend.ts';
import { amount, moment, rows } from '../../wording/numbers.ts';
import { indexRequest } from '../../wording/recovery.ts';
import { nameOf, ofTotal } from '../../wording/sentences.ts';
import type { MessageContext } from '../context.ts';
import { runByHand } from './commands.ts';
import type { NextStep } from './next-step.ts';
import type { Command, Named, Step } from './step.ts';

/** Steps whose commands cannot be undone: they delete rows, or open an index to truncation. */

export function approveStep(
  { rows: approved, not }: NextStep & { kind: 'approve' },
  entry: Named | undefined,
  context: MessageContext,
): Step {
  if (not === 'loss') return { text: 'Nothing now. Rows are missing: get them back before anything more is deleted.' };
  if (not) return { text: 'Nothing now. A preview that succeeds will show how to approve this once.' };
  const name = entry ? nameOf(entry) : 'this index';
  return {
    text: `Look whether rows still come in, and ask ${entry?.owner === undefined ? 'whoever uses it' : 'its owner'}. Only if these rows may go, approve it once.`,
    look: {
      effect: 'This counts them again, and deletes nothing:',
      line: runByHand({ mode: 'preview', only: [name] }, context),
    },
    command: {
      effect: `This deletes ${deleted(approved, name, entry)}:`,
      line: runByHand({ mode: 'enforce', only: [name], approveRows: approved }, context),
      danger: 'deletes',
    },
  };
}

/** The number that is approved has some room for rows that age until somebody reads this. */
function deleted(approved: number, name: string, entry: Named | undefined): string {
  const { rowsToDelete, rowsTotal = Number.POSITIVE_INFINITY } = entry ?? {};
  if (rowsToDelete === undefined || rowsToDelete > approved) return `up to ${rows(approved)} of ${name} for real`;
  const later = Math.min(approved, rowsTotal) - rowsToDelete;
  const counted = `${ofTotal(rowsToDelete, entry?.rowsTotal)} of ${name} for real`;
  return later <= 0 ? counted : `${counted}, and up to ${amount(later)} more that pass their retention until then`;
}

/** The limits of one run's input (`lambda/run/plan/input.ts`). */
const maxCleared = 50;

/** What clearing does, in the line above the command. */
const clearing = (names: readonly string[], context: MessageContext): Command => ({
  effect: 'This counts its rows, opens it to truncation only if they are all there, and truncates nothing:',
  line: runByHand({ clear: names.slice(0, maxCleared) }, context),
  danger: 'opens',
});

/** Before an index is opened: every index of that name, with its rows. */
const lookAt = (entries: readonly Named[]): Command | undefined =>
  entries[0] && {
    effect: 'This shows its indices with their rows, and changes nothing:',
    line: indexRequest(entries[0]),
  };

const lookForTasks: Command = {
  effect: 'This shows what is deleting or copying, and changes nothing:',
  line: listTasksRequest,
};

export function clearStep(
  { after, until }: NextStep & { kind: 'clear' },
  entries: readonly Named[],
  context: MessageContext,
): Step {
  const text = {
    repair: 'When the rows are back, clear the index. If they may stay missing, clearing says how to accept that.',
    refresh: 'When the rows are visible, clear the index.',
    look: 'Look at the index, and make sure that its rows are complete. Then clear it.',
    answer: 'Clear it again when this is settled.',
    end: `If no run has resolved it by then, clear it${until === undefined ? '' : ` from ${moment(until)} on`}.`,
  }[after];
  return { text, look: lookAt(entries), command: clearing(entries.map(nameOf), context) };
}

export function acceptStep(
  { rows: count, running }: NextStep & { kind: 'accept' },
  entries: readonly Named[],
  context: MessageContext,
): Step {
  const line = runByHand({ clear: entries.map(nameOf), acceptMissing: count ?? 1 }, context);
  const opens = (text: string, effect: string, look = lookAt(entries)): Step => ({
    text,
    look,
    command: { effect, line, danger: 'opens' },
  });
  if (running) {
    return opens(
      'Wait until its task has ended, then clear it again. Only if it never will, accept that.',
      'This opens the index to truncation although its task still runs, and truncates nothing:',
      lookForTasks,
    );
  }
  return count === undefined
    ? opens(
        'Look at the index. If it is as it should be, accept that.',
        'This opens it to truncation without a count, and truncates nothing:',
      )
    : opens(
        'Get the rows back. Only if they may stay missing, accept that.',
        `This opens the index to truncation with up to ${rows(count, 'exact')} missing, and truncates nothing:`,
      );
}

export function adoptStep(
  { from }: NextStep & { kind: 'adopt' },
  entries: readonly Named[],
  context: MessageContext,
): Step {
  const other = context.local ? 'give it a ledger of its own (--ledger)' : 'give it a stage of its own';
  const text = {
    version: 'Go back to the version that wrote it, or, when nothing of it runs any more, clear the index.',
    address: `If that is another server, ${other}. If it is the same server under another name, go back to the old name, or clear the index.`,
    clock:
      'Correct the clock that wrote it. The record is watched when its time has come; clearing says how to open the index before.',
  }[from];
  return { text, look: lookForTasks, command: clearing(entries.map(nameOf), context) };
}
