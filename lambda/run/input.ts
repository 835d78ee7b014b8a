import { cleanRequester, schedule } from '../model/asked-by.ts';
import { type Mode, type RunInput, runInputSchema } from '../model/run-input.ts';
import { hourMillis, minuteMillis } from '../model/time.ts';
import { explain } from '../policy/explain.ts';

export interface PlanEvent {
  input: unknown;
  execution: { name: string; startTime: string };
}

/** The run that a step's event belongs to. A test event from Lambda's console belongs to none, and is refused. */
export function runIdOf(event: unknown): string {
  const { execution, runId } = Object(event);
  const id: unknown = execution?.name ?? runId;
  if (typeof id === 'string') return id;
  throw new RunInputError(
    'Nothing was done: this function works only within a run. Start an execution of the state machine, with the input {"mode":"preview"} to see what it would do.',
  );
}

/** @returns the input; of one that cannot be used, who asked, and one sentence that says what is wrong with it */
export function parseInput(value: unknown): { input: RunInput } | { input: RunInput; problem: string } {
  const parsed = runInputSchema.safeParse(value ?? {});
  if (parsed.success) return { input: parsed.data };
  return {
    input: { mode: 'preview', by: Object(value).by },
    problem: `the execution's input cannot be used: ${explain(parsed.error, value, Object.keys(runInputSchema.shape))}`,
  };
}

/** A scheduled time further than this before the execution's start was copied by a person from another input. */
const maxScheduledBehindMillis = 2 * hourMillis;

/** So was one further after the start than this: no scheduled run starts that early. */
const maxScheduledAheadMillis = 10 * minuteMillis;

/**
 * The scheduled time of a run, epoch milliseconds. The schedule's placeholder may come unfilled, and people copy
 * inputs: such a run has none, and begins when its execution did.
 */
export function scheduledMillis({ scheduledTime }: RunInput, startMillis: number): number | undefined {
  const millis = Date.parse(scheduledTime ?? '');
  const isNear = startMillis - millis <= maxScheduledBehindMillis && millis - startMillis <= maxScheduledAheadMillis;
  return isNear ? millis : undefined;
}

/** The schedule's input where EventBridge has not filled in the placeholder: still a scheduled run. */
const unfilled = '<aws.scheduler.scheduled-time>';

/** Whether a person started the run: its input has no scheduled time that counts. */
export const isByHand = (input: RunInput, startMillis: number): boolean =>
  input.scheduledTime !== unfilled && scheduledMillis(input, startMillis) === undefined;

/** Who asked for the run: the schedule, or a person, as they say. */
export const requesterOf = (input: RunInput, startMillis: number): string | undefined =>
  isByHand(input, startMillis) ? cleanRequester(input.by) : schedule;

/**
 * The one place that decides a run's mode. A release changes the ledger whatever the stage does. A person who names no
 * mode gets a preview: the console's default input, or one copied from last week, is not a decision to delete.
 */
export function modeOf(input: RunInput, startMillis: number, ofStage: Mode): Mode {
  // Policies that are not live are never enforced, whatever started the run.
  if (input.policies) return 'preview';
  if (input.release) return 'enforce';
  return input.mode ?? (isByHand(input, startMillis) ? 'preview' : ofStage);
}

/** The input is well formed but asks for something that cannot be done; `message` says what, and how to fix it. */
export class RunInputError extends Error {
  override readonly name = 'RunInputError';
}
