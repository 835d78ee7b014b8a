import type { RunState } from '../../lambda/run/state.ts';
import { invoke, type StepName } from './invocation.ts';
import { executeWorkflow, type WorkflowEnd } from './workflow.ts';
import type { World } from './world.ts';

/** One execution of the workflow in the laboratory: started, perhaps stopped, perhaps redriven. */
export interface Execution {
  runId: string;
  ended: boolean;
  /** Ends the execution where it stands; a function that is at work goes on. */
  stop(): void;
  /** Goes on with the state in which it was stopped, under the same name and start. */
  redrive(): void;
}

/**
 * @param foreignCall the number of the function call whose run state is that of another version (a deployment in the
 *   middle of the run)
 * @param onState told of each state that is entered
 */
export function startExecution(
  world: World,
  runId: string,
  input: Record<string, unknown>,
  foreignCall?: number,
  onState: (state: string) => void = () => {},
): Execution {
  const { time, journal, chances } = world;
  const startedAt = time.now();
  const startTime = new Date(startedAt).toISOString();
  const context = { Execution: { Name: runId, StartTime: startTime, Input: input } };
  let generation = 0;
  let calls = 0;
  let last: { state?: string; input: unknown } = { input };
  const mode = (input['mode'] as 'enforce' | 'preview' | undefined) ?? world.settings().mode;
  journal.push({ at: startedAt, kind: 'execution', runId, input, startedAt, mode });

  const execution: Execution = {
    runId,
    ended: false,
    stop() {
      if (execution.ended) return;
      generation++;
      execution.ended = true;
      journal.push({ at: time.now(), kind: 'ended', runId, how: 'stopped', events: 0 });
    },
    redrive() {
      if (!execution.ended) return;
      execution.ended = false;
      begin();
    },
  };

  function begin(): void {
    const own = ++generation;
    const end = (how: WorkflowEnd['status'], events: number) => {
      if (own !== generation) return;
      execution.ended = true;
      journal.push({ at: time.now(), kind: 'ended', runId, how, events });
    };
    executeWorkflow(context, last, {
      now: time.now,
      sleep: time.sleep,
      random: chances.next,
      entered(state, given) {
        if (own !== generation) throw new Error('stopped');
        last = { state, input: given };
        onState(state);
        if (state === 'NextStep') journal.push({ at: time.now(), kind: 'taken', runId, state: given as RunState });
      },
      call(resource, given, timeoutSeconds) {
        const step = resource.slice(2, -'FunctionArn}'.length).toLowerCase() as StepName;
        const input = ++calls === foreignCall ? ofAnotherVersion(step, given) : given;
        return invoke(world, step, runId, input, timeoutSeconds);
      },
    }).then(
      ({ status, events }) => end(status, events),
      (error: Error) => {
        if (own !== generation) return;
        world.defects.push(`execution ${runId}: ${error.stack}`);
        end('failed', 0);
      },
    );
  }

  begin();
  return execution;
}

function ofAnotherVersion(step: StepName, given: unknown): unknown {
  const value = given as Record<string, unknown>;
  if (step === 'plan') return given;
  if (step === 'report') return { ...value, input: { ...(value['input'] as object), version: 2 } };
  return { ...value, version: 2 };
}
