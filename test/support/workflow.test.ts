import { expect, test } from 'vitest';
import { runStateMachine, type Step, type StepHandlers } from '../../cli/run/state-machine.ts';
import { executeWorkflow } from './workflow.ts';

/** The interpreter of the tests against aws-local-stepfunctions: the same calls with the same inputs, the same output. */

type Script = Partial<Record<Step, unknown[]>>;

const execution = { name: 'run-1', startTime: '2026-03-01T03:30:00.000Z' };
const input = { mode: 'enforce' };
const state = (next: string) => ({ version: 1, next, waitSeconds: 3 });
const failure = (name: string) => Object.assign(new Error('a cause that nobody needs'), { name });

/** Steps that answer one after another; the last answer repeats forever. */
function scripted(script: Script) {
  const asked: { step: Step; input: unknown }[] = [];
  const answer = async (step: Step, given: unknown): Promise<unknown> => {
    const before = asked.filter((one) => one.step === step).length;
    asked.push({ step, input: given });
    const answers = script[step] ?? [];
    const next = answers[Math.min(answers.length - 1, before)];
    if (next instanceof Error) throw next;
    return next;
  };
  return { asked, answer };
}

async function byTheInterpreter(script: Script) {
  const { asked, answer } = scripted(script);
  const entered: string[] = [];
  const context = { Execution: { Name: execution.name, StartTime: execution.startTime, Input: input } };
  const ended = executeWorkflow(
    context,
    { input },
    {
      sleep: async () => {},
      random: () => 0.5,
      entered: (name) => entered.push(name),
      call: (resource, given) => answer(resource.slice(2, -'FunctionArn}'.length).toLowerCase() as Step, given),
    },
  );
  // A state without a Catch: the execution fails there.
  const { output, events } = await ended.catch(() => ({ output: 'failed', events: 0 }));
  return { asked, entered: entered.join(' '), output, events };
}

async function byTheLibrary(script: Script) {
  const { asked, answer } = scripted(script);
  const steps = ['plan', 'truncate', 'poll', 'report'] as const;
  const handlers = Object.fromEntries(steps.map((step) => [step, (given: unknown) => answer(step, given)]));
  const fast = { maxWaitMillis: 0, skipped: () => {} };
  const given = { handlers: handlers as StepHandlers, input, execution, now: () => 0, fast };
  return { asked, output: await runStateMachine(given).catch(() => 'failed') };
}

const report = [{ result: 'ok', next: 'end', told: [] }];
const told = [{ index: 'dataset_operationaspect_v1', decision: '3@1' }];
const reportThatTells = [{ result: 'ok', next: 'mark', told }];

test.each<[name: string, script: Script, states: string]>([
  ['nothing to do', { plan: [state('report')], report }, 'Plan NextStep Report IsAnythingTold Succeeded'],
  [
    'a truncation with two looks',
    { plan: [state('truncate')], truncate: [state('wait')], poll: [state('wait'), state('report')], report },
    'Plan NextStep Truncate NextStep Wait Poll NextStep Wait Poll NextStep Report IsAnythingTold Succeeded',
  ],
  [
    'a Plan that fails once',
    { plan: [failure('Sandbox.Timedout'), state('report')], report },
    'Plan NextStep Report IsAnythingTold Succeeded',
  ],
  [
    'a Plan that always fails',
    { plan: [failure('Runtime.ExitError')], report },
    'Plan PlanFailed Report IsAnythingTold Succeeded',
  ],
  [
    'a Truncate that fails is not tried again',
    { plan: [state('truncate')], truncate: [failure('Lambda.Unknown')], poll: [state('report')], report },
    'Plan NextStep Truncate TruncateFailed Wait Poll NextStep Report IsAnythingTold Succeeded',
  ],
  [
    'a Poll that always fails',
    { plan: [state('wait')], poll: [failure('LedgerError')], report },
    'Plan NextStep Wait Poll PollFailed Report IsAnythingTold Succeeded',
  ],
  [
    'a report that carries a verdict',
    { plan: [state('report')], report: reportThatTells, poll: [null] },
    'Plan NextStep Report IsAnythingTold MarkTold Succeeded',
  ],
  [
    'a mark that always fails',
    { plan: [state('report')], report: reportThatTells, poll: [failure('LedgerError')] },
    'Plan NextStep Report IsAnythingTold MarkTold Succeeded',
  ],
  ['a report that nobody gets', { plan: [state('report')], report: [failure('PublishError')] }, 'Plan NextStep Report'],
])('%s', async (_name, script, states) => {
  const [ours, theirs] = [await byTheInterpreter(script), await byTheLibrary(script)];
  expect(ours.entered).toBe(states);
  expect(ours.asked).toEqual(theirs.asked);
  expect(ours.output).toEqual(theirs.output);
});

test('events are counted as Step Functions counts them', async () => {
  const script = { plan: [failure('Sandbox.Timedout'), state('wait')], poll: [state('report')], report };
  const { events } = await byTheInterpreter(script);
  // Started; Plan 5 and 3 for its retry; NextStep 2, twice; Wait 2; Poll 5; Report 5; IsAnythingTold 2; Succeeded 2; ended.
  expect(events).toBe(1 + 5 + 3 + 2 + 2 + 2 + 5 + 5 + 2 + 2 + 1);
});
