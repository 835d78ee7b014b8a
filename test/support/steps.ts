import { executeWorkflow, type Step, stepOf } from '../../cli/run/state-machine.ts';
import type { PlanEvent } from '../../lambda/run/input.ts';
import { asMarkEvent, markAllReported } from '../../lambda/run/mark-reported.ts';
import { plan } from '../../lambda/run/plan/plan.ts';
import { poll } from '../../lambda/run/poll.ts';
import { type ReportEvent, type ReportResult, type ReportServices, report } from '../../lambda/run/report.ts';
import type { RunServices } from '../../lambda/run/services.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { truncate } from '../../lambda/run/truncate.ts';

/** The core behind the workflow's four functions. MarkReported has none of its own: it is a call of Poll's. */
export function takeStep(
  step: Step,
  input: unknown,
  services: RunServices & Pick<ReportServices, 'publisher' | 'addSentences' | 'count'>,
): Promise<RunState | ReportResult | undefined> {
  switch (step) {
    case 'plan':
      return plan(input as PlanEvent, services);
    case 'truncate':
      return truncate(input as RunState, services);
    case 'poll': {
      const marks = asMarkEvent(input);
      return marks ? markAllReported(marks, services).then(() => undefined) : poll(input as RunState, services);
    }
    case 'report':
      return report(input as ReportEvent, services);
  }
}

/** The workflow file, executed once with these steps. */
export async function executeSteps(
  take: (step: Step, input: unknown) => Promise<unknown>,
  { input, startTime, sleep }: { input: object; startTime: string; sleep(millis: number): Promise<void> },
): Promise<void> {
  const context = { Execution: { Name: 'run', StartTime: startTime, Input: input } };
  await executeWorkflow(
    context,
    { input },
    { sleep, random: Math.random, entered: () => {}, call: (resource, given) => take(stepOf(resource), given) },
  );
}
