import { functionTimeoutSeconds } from '../../lambda/run/deadlines.ts';
import type { PlanEvent } from '../../lambda/run/input.ts';
import { asMarkEvent, markAllReported } from '../../lambda/run/mark-reported.ts';
import { plan } from '../../lambda/run/plan/plan.ts';
import { poll } from '../../lambda/run/poll.ts';
import { type ReportEvent, type ReportServices, report } from '../../lambda/run/report.ts';
import type { Publisher, RunServices } from '../../lambda/run/services.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { truncate } from '../../lambda/run/truncate.ts';
import { executeWorkflow, type Step, stepOf } from './state-machine.ts';

/** One run: the workflow file of the deployment with the steps that the deployed functions run. */

interface WorkflowRun {
  /** Everything but the deadline, which is new for each invocation. */
  services: Omit<RunServices, 'deadline'>;
  publisher: Publisher;
  /** The execution's input, as `lambda/model/run-input.ts` describes it. */
  input: unknown;
  execution: { name: string; startTime: string };
  /** Called with the run state that Plan, Truncate and Poll return; the next step waits for it. */
  onState(step: Step, state: RunState): Promise<void>;
  /** Called before each state of the workflow; throws to end the run there. */
  entered(): void;
  /** Called with what a step throws; the workflow itself keeps its name and message. */
  onFailure(step: Step, error: unknown): void;
  /** Adds the English to the report's data. */
  addSentences: ReportServices['addSentences'];
}

/**
 * Executes one run to its end.
 * @throws if no report could be published, and what `entered` throws
 */
export async function runWorkflow(run: WorkflowRun): Promise<void> {
  const { services, publisher, addSentences, entered, onState, onFailure } = run;
  const during = (step: Step): RunServices => {
    const deadline = services.clock.now() + functionTimeoutSeconds[step] * 1000;
    return { ...services, deadline: () => deadline };
  };
  const withState = async (step: Step, state: Promise<RunState>): Promise<RunState> => {
    const returned = await state;
    await onState(step, returned);
    return returned;
  };
  const steps: Record<Step, (input: unknown) => Promise<unknown>> = {
    plan: (event) => withState('plan', plan(event as PlanEvent, during('plan'))),
    truncate: (state) => withState('truncate', truncate(state as RunState, during('truncate'))),
    poll: (event) => {
      const marks = asMarkEvent(event);
      return marks
        ? markAllReported(marks, during('poll'))
        : withState('poll', poll(event as RunState, during('poll')));
    },
    report: (event) => report(event as ReportEvent, { ...services, publisher, addSentences }),
  };
  const context = { Execution: { Name: run.execution.name, StartTime: run.execution.startTime, Input: run.input } };
  await executeWorkflow(
    context,
    { input: run.input },
    {
      sleep: services.clock.sleep,
      random: Math.random,
      entered,
      async call(resource, input) {
        const step = stepOf(resource);
        try {
          return await steps[step](input);
        } catch (error) {
          onFailure(step, error);
          throw error;
        }
      },
    },
  );
}
