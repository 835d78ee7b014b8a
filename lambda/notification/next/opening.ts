import { moment, rows } from '../../wording/numbers.ts';
import type { MessageContext } from '../context.ts';
import { runByHand } from './commands.ts';
import type { NextStep } from './next-step.ts';
import type { Command, Step } from './step.ts';

/** Steps whose commands cannot be undone: they delete rows, or open an index to truncation. */

export function approveStep(
  { rows: count, later }: NextStep & { kind: 'approve' },
  name: string,
  context: MessageContext,
): Step {
  if (later) return { text: 'Nothing now. A preview that succeeds will show how to approve this once.' };
  const line = runByHand({ mode: 'enforce', only: [name], approveRows: count }, context);
  return {
    text: 'If these rows may go, approve it once.',
    command: { effect: `This deletes up to ${rows(count)} of ${name} for real:`, line, danger: 'deletes' },
  };
}

/** The limits of one run's input (`lambda/run/plan/input.ts`). */
const maxCleared = 50;

/** What clearing does, in the line above the command. */
const clearing = (names: readonly string[], context: MessageContext): Command => ({
  effect: 'This counts its rows, opens it to truncation only if they are all there, and truncates nothing:',
  line: runByHand({ clear: names.slice(0, maxCleared) }, context),
  danger: 'opens',
});

export function clearStep(
  { after, until }: NextStep & { kind: 'clear' },
  names: string[],
  context: MessageContext,
): Step {
  const text = {
    repair: 'When the rows are back, clear the index. If they may stay missing, clearing says how to accept that.',
    refresh: 'When the rows are visible, clear the index.',
    look: 'Look at the index, and make sure that its rows are complete. Then clear it.',
    answer: 'Clear it again when this is settled.',
    end: `If no run has resolved it by then, clear it${until === undefined ? '' : ` from ${moment(until)} on`}.`,
  }[after];
  return { text, command: clearing(names, context) };
}

export function acceptStep(
  { rows: count, running }: NextStep & { kind: 'accept' },
  names: string[],
  context: MessageContext,
): Step {
  const line = runByHand({ clear: names, acceptMissing: count ?? 1 }, context);
  if (running) {
    return {
      text: 'Wait until its task has ended, then clear it again. Only if it never will, accept that.',
      command: {
        effect: 'This opens the index to truncation although its task still runs, and truncates nothing:',
        line,
        danger: 'opens',
      },
    };
  }
  return count === undefined
    ? {
        text: 'Look at the index. If it is as it should be, accept that.',
        command: {
          effect: 'This opens it to truncation without a count, and truncates nothing:',
          line,
          danger: 'opens',
        },
      }
    : {
        text: 'Get the rows back. Only if they may stay missing, accept that.',
        command: {
          effect: `This opens the index to truncation with up to ${rows(count, 'exact')} missing, and truncates nothing:`,
          line,
          danger: 'opens',
        },
      };
}

export function adoptStep({ from }: NextStep & { kind: 'adopt' }, names: string[], context: MessageContext): Step {
  const other = context.local ? 'give it a ledger of its own (--ledger)' : 'give it a stage of its own';
  const text = {
    version: 'Go back to the version that wrote it, or clear the index.',
    address: `If that is another server, ${other}. If it is the same server under another name, go back to the old name, or clear the index.`,
    clock:
      'Correct the clock that wrote it. The record is watched when its time has come; clearing says how to open the index before.',
  }[from];
  return { text, command: clearing(names, context) };
}
