import { executeWorkflow, type Step, stepOf } from '../../../cli/run/state-machine.ts';
import { asMarkEvent } from '../../../lambda/run/mark-reported.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { type Caller, type Invocation, invoke } from './invocation.ts';
import type { World } from './world.ts';

/** One execution of the workflow in the laboratory: started, perhaps ended early, perhaps redriven. */
export interface Execution {
  runId: string;
  ended: boolean;
  /** Ends the execution where it is; a running function continues. */
  stop(): void;
  /** Ends it with its function, as on the command line, where both are one process. */
  kill(): void;
  /** Its next function call meets a run state of another version: a deployment in the middle of the run. */
  deploy(): void;
  /** Continues with the state in which it was stopped, under the same name and start. */
  redrive(): void;
}

export interface ExecutionOptions {
  /** Called for each state that is entered. */
  onState?: ((state: string) => void) | undefined;
  /** Settings that differ from the deployment's. */
  settings?: Partial<RunSettings>;
  /** How far its start is ahead, milliseconds. */
  aheadMillis?: number;
}

const twoHours = 7_200_000;
const tenMinutes = 600_000;

export function startExecution(
  world: World,
  runId: string,
  input: Record<string, unknown>,
  { onState = () => {}, settings = {}, aheadMillis = 0 }: ExecutionOptions = {},
): Execution {
  const { time, journal, chances } = world;
  const startMillis = time.now() + aheadMillis;
  const scheduled = Date.parse(String(input['scheduledTime'] ?? ''));
  const isScheduled = scheduled >= startMillis - twoHours && scheduled <= startMillis + tenMinutes;
  const context = { Execution: { Name: runId, StartTime: new Date(startMillis).toISOString(), Input: input } };
  const runStartMillis = isScheduled ? scheduled : startMillis;
  const functions = new Set<Invocation>();
  const caller: Caller = { runId, runStartMillis, settings: () => ({ ...world.settings, ...settings }), functions };
  let generation = 0;
  let isForeign = false;
  let last: { state?: string; input: unknown } = { input };
  journal.push({ at: time.now(), kind: 'execution', runId, input, runStartMillis });

  const execution: Execution = {
    runId,
    ended: false,
    stop() {
      if (execution.ended) return;
      generation++;
      execution.ended = true;
      journal.push({ at: time.now(), kind: 'ended', runId, runStartMillis, how: 'stopped' });
    },
    kill() {
      execution.stop();
      for (const invocation of functions) invocation.alive = false;
    },
    deploy() {
      isForeign = true;
    },
    redrive() {
      if (!execution.ended) return;
      execution.ended = false;
      isForeign = false;
      begin();
    },
  };

  function begin(): void {
    const own = ++generation;
    const end = (how: 'succeeded' | 'failed') => {
      if (own !== generation) return;
      execution.ended = true;
      journal.push({ at: time.now(), kind: 'ended', runId, runStartMillis, how });
    };
    executeWorkflow(context, last, {
      sleep: time.sleep,
      random: chances.next,
      entered(state, given) {
        if (own !== generation) throw new Error('stopped');
        last = { state, input: given };
        onState(state);
        if (own !== generation) throw new Error('stopped');
        if (state !== 'NextStep') return;
        journal.push({ at: time.now(), kind: 'taken', runId, runStartMillis, state: given as RunState });
      },
      call(resource, given, timeoutSeconds) {
        const step = stepOf(resource);
        return invoke(world, step, caller, isForeign ? ofAnotherVersion(step, given) : given, timeoutSeconds);
      },
    }).then(
      () => end('succeeded'),
      (error: Error) => {
        if (own !== generation) return;
        // Report has no Catch: an execution that could not publish fails there.
        if (last.state !== 'Report') world.defects.push(`execution ${runId}: ${error.stack}`);
        end('failed');
      },
    );
  }

  begin();
  return execution;
}

const anotherVersion = 99;

function ofAnotherVersion(step: Step, given: unknown): unknown {
  const value = given as Record<string, unknown>;
  if (step === 'plan' || asMarkEvent(given)) return given;
  if (step === 'report') return { ...value, input: { ...(value['input'] as object), version: anotherVersion } };
  return { ...value, version: anotherVersion };
}
