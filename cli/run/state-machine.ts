import { StateMachine } from 'aws-local-stepfunctions';
import workflow from '../../infra/workflow/retention-workflow.asl.json' with { type: 'json' };

/**
 * Executes the deployment's workflow file unchanged on this machine. Where the library differs from Step Functions (a
 * Task without a handler calls AWS, JSONata and Assign are ignored), this refuses or fills the gap.
 */

export type Step = 'plan' | 'truncate' | 'poll' | 'report';

/** One handler per Task state, given what the state machine gives its function and returning what that returns. */
export type StepHandlers = Record<Step, (input: unknown) => Promise<unknown>>;

/** Caps the real waits and reports the remainder, so that a clock can be advanced by it. */
export interface FastForward {
  /** The longest real wait, milliseconds. */
  maxWaitMillis: number;
  /** Called after a wait of the workflow, before the step that follows it. */
  skipped(millis: number): void;
}

export interface StateMachineOptions {
  handlers: StepHandlers;
  /** The input of an execution started by hand in AWS. */
  input: unknown;
  execution: { name: string; startTime: string };
  fast?: FastForward | undefined;
  /** Real time, epoch milliseconds. */
  now(): number;
}

/**
 * Runs the workflow to its end.
 * @returns the execution's output
 * @throws if the execution fails, which means that no report could be published
 */
export async function runStateMachine(options: StateMachineOptions): Promise<unknown> {
  polyfillWithResolvers();
  const definition = loadDefinition();
  const { fast, execution } = options;
  // The file is part of this program, and a test validates it: that takes longer than a run in virtual time.
  const machine = new StateMachine(definition as never, { validationOptions: { noValidate: true } });
  const { result } = machine.run(options.input as never, {
    overrides: {
      taskResourceLocalHandlers: taskHandlers(definition, options) as never,
      ...(fast && {
        waitTimeOverrides: named(definition, 'Wait', fast.maxWaitMillis),
        retryIntervalOverrides: named(definition, 'Task', fast.maxWaitMillis),
      }),
    },
    context: {
      Execution: {
        Id: `arn:aws:states:us-east-1:000000000000:execution:retention-workflow:${execution.name}`,
        Name: execution.name,
        StartTime: execution.startTime,
        Input: options.input as never,
      },
    },
  });
  return await result;
}

interface Definition {
  States: Record<string, { Type: string; Resource?: string }>;
}

const steps: readonly Step[] = ['plan', 'truncate', 'poll', 'report'];
const functionArn = (step: Step) => `arn:aws:lambda:us-east-1:000000000000:function:${step}`;

/**
 * Reads the file, with stand-ins for the functions' ARNs. The library silently skips JSONata and Assign, so a
 * definition that contains them is refused.
 */
export function loadDefinition(text: string = JSON.stringify(workflow)): Definition {
  const substituted = text.replace(/\$\{(\w+)FunctionArn\}/g, (placeholder, name: string) => {
    const step = steps.find((known) => known === name.toLowerCase());
    if (step === undefined) throw new Error(`The workflow file names ${placeholder}, which no step stands for.`);
    return functionArn(step);
  });
  return JSON.parse(substituted, (key, value: unknown) => {
    if (key === 'QueryLanguage' || key === 'Assign') {
      throw new Error(`The workflow file uses ${key}, which the local state machine would ignore.`);
    }
    return value;
  }) as Definition;
}

/** Binds each Task state by its function, not by its name. Every Task must have a handler: the library would call AWS. */
function taskHandlers(definition: Definition, options: StateMachineOptions) {
  let previous: { step: Step; failed: boolean; endedAt: number } | undefined;
  const handlers: Record<string, (input: unknown) => Promise<unknown>> = {};
  for (const [name, state] of Object.entries(definition.States)) {
    if (state.Type !== 'Task') continue;
    const step = steps.find((known) => functionArn(known) === state.Resource);
    if (step === undefined) throw new Error(`No step stands for the workflow's state ${name} (${state.Resource}).`);
    handlers[name] = async (input) => {
      // Every path to Poll leads through Wait, except its own Retry, and the mark that follows a report.
      const waited =
        step === 'poll' &&
        previous !== undefined &&
        previous.step !== 'report' &&
        !(previous.step === 'poll' && previous.failed);
      if (options.fast && waited) options.fast.skipped(notWaited(input, options.now() - previous!.endedAt));
      let failed = true;
      try {
        const output = await options.handlers[step](withStartTime(asJson(input), options.execution.startTime));
        failed = false;
        return asJson(output);
      } finally {
        previous = { step, failed, endedAt: options.now() };
      }
    };
  }
  return handlers;
}

/** What travels between states is JSON: a Date or an undefined must not survive here if AWS would lose it. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** The library's context object has its own start time, whatever it is given. */
function withStartTime(input: unknown, startTime: string): unknown {
  const event = input as { execution?: { startTime?: string } } | null;
  if (event?.execution?.startTime !== undefined) event.execution.startTime = startTime;
  return input;
}

const notWaited = (state: unknown, waitedMillis: number): number =>
  Math.max(0, (state as { waitSeconds: number }).waitSeconds * 1000 - waitedMillis);

const named = (definition: Definition, type: string, millis: number): Record<string, number> =>
  Object.fromEntries(
    Object.entries(definition.States)
      .filter(([, state]) => state.Type === type)
      .map(([name]) => [name, millis]),
  );

/** The library needs `Promise.withResolvers`, which Node 20 does not have. */
function polyfillWithResolvers(): void {
  const target = Promise as unknown as { withResolvers?: () => unknown };
  target.withResolvers ??= () => {
    let resolve: unknown;
    let reject: unknown;
    const promise = new Promise((onResolve, onReject) => {
      resolve = onResolve;
      reject = onReject;
    });
    return { promise, resolve, reject };
  };
}
