import { describe, expect, test } from 'vitest';
import { runStateMachine, type Step, type StepHandlers } from '../../../cli/state-machine.ts';
import { executeWorkflow, type WorkflowHost } from './workflow.ts';

/** The laboratory's interpreter against aws-local-stepfunctions: the same calls with the same inputs, and the same output. */

type Script = Partial<Record<Step, unknown[]>>;

const execution = { name: 'run-1', startTime: '2026-03-01T03:30:00.000Z' };
const given = { mode: 'enforce' };
const state = (next: string, more: object = {}) => ({ version: 1, next, waitSeconds: 3, ...more });
const failure = (name: string) => Object.assign(new Error('a cause that nobody needs'), { name });

function scripted(script: Script) {
  const left = structuredClone(
    Object.fromEntries(Object.entries(script).map(([step, answers]) => [step, answers.length])),
  );
  const asked: { step: Step; input: unknown }[] = [];
  const answer = async (step: Step, input: unknown): Promise<unknown> => {
    asked.push({ step, input });
    const answers = script[step] ?? [];
    // The last answer repeats forever.
    const given = answers[Math.min(answers.length - 1, answers.length - left[step]!)];
    left[step] = left[step]! - 1;
    if (given instanceof Error) throw given;
    return given;
  };
  return { asked, answer };
}

async function byTheLaboratory(script: Script) {
  const { asked, answer } = scripted(script);
  const entered: string[] = [];
  const host: WorkflowHost = {
    now: () => 0,
    sleep: async () => {},
    random: () => 0.5,
    entered: (name) => entered.push(name),
    call: (resource, input) => answer(resource.slice(2, -'FunctionArn}'.length).toLowerCase() as Step, input),
  };
  const context = { Execution: { Name: execution.name, StartTime: execution.startTime, Input: given } };
  try {
    const { status, output, events } = await executeWorkflow(context, { input: given }, host);
    return { asked, entered, status, output: status === 'succeeded' ? output : undefined, events };
  } catch {
    // A state without a Catch: the execution fails there.
    return { asked, entered, status: 'failed', output: undefined, events: 0 };
  }
}

async function byTheLibrary(script: Script) {
  const { asked, answer } = scripted(script);
  const handlers = Object.fromEntries(
    (['plan', 'truncate', 'poll', 'report'] as const).map((step) => [step, (input: unknown) => answer(step, input)]),
  ) as StepHandlers;
  const fast = { maxWaitMillis: 0, skipped: () => {} };
  try {
    const output = await runStateMachine({ handlers, input: given, execution, now: () => 0, fast });
    return { asked, status: 'succeeded', output };
  } catch {
    return { asked, status: 'failed', output: undefined };
  }
}

const report = [{ result: 'ok', policies: [] }];

const scripts: [name: string, script: Script, states: string[]][] = [
  ['nothing to do', { plan: [state('report')], report }, ['Plan', 'NextStep', 'Report', 'Succeeded']],
  [
    'a truncation with two looks',
    { plan: [state('truncate')], truncate: [state('wait')], poll: [state('wait'), state('report')], report },
    [
      'Plan',
      'NextStep',
      'Truncate',
      'NextStep',
      'Wait',
      'Poll',
      'NextStep',
      'Wait',
      'Poll',
      'NextStep',
      'Report',
      'Succeeded',
    ],
  ],
  [
    'a Plan that fails once',
    { plan: [failure('Sandbox.Timedout'), state('report')], report },
    ['Plan', 'NextStep', 'Report', 'Succeeded'],
  ],
  [
    'a Plan that always fails',
    { plan: [failure('Runtime.ExitError')], report },
    ['Plan', 'PlanFailed', 'Report', 'Succeeded'],
  ],
  [
    'a Truncate that fails is not tried again',
    { plan: [state('truncate')], truncate: [failure('Lambda.Unknown')], poll: [state('report')], report },
    ['Plan', 'NextStep', 'Truncate', 'TruncateFailed', 'Wait', 'Poll', 'NextStep', 'Report', 'Succeeded'],
  ],
  [
    'a Poll that always fails',
    { plan: [state('wait')], poll: [failure('LedgerError')], report },
    ['Plan', 'NextStep', 'Wait', 'Poll', 'PollFailed', 'Report', 'Succeeded'],
  ],
  [
    'a report that nobody gets',
    { plan: [state('report')], report: [failure('PublishError')] },
    ['Plan', 'NextStep', 'Report'],
  ],
];

describe('the laboratory reads the workflow file as aws-local-stepfunctions does', () => {
  test.each(scripts)('%s', async (_name, script, states) => {
    const [ours, theirs] = [await byTheLaboratory(script), await byTheLibrary(script)];
    expect(ours.entered).toEqual(states);
    expect(ours.asked).toEqual(theirs.asked);
    expect(ours.status).toBe(theirs.status);
    expect(ours.output).toEqual(theirs.output);
  });

  test('events are counted as Step Functions counts them', async () => {
    const { events } = await byTheLaboratory({
      plan: [failure('Sandbox.Timedout'), state('wait')],
      poll: [state('report')],
      report,
    });
    // Started; Plan 5 and 3 for its retry; NextStep 2, twice; Wait 2; Poll 5; Report 5; Succeeded 2; ended.
    expect(events).toBe(1 + 5 + 3 + 2 + 2 + 2 + 5 + 5 + 2 + 1);
  });
});
