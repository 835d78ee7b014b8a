import definition from '../../lambda/workflow/retention-workflow.asl.json' with { type: 'json' };

/**
 * Executes the deployment's workflow file unchanged: here, in the tests and in the laboratory. Only the parts of Amazon
 * States Language that the file uses: a test refuses anything else in it, because skipping it would be another workflow
 * than the deployed one.
 */

export type Step = 'plan' | 'truncate' | 'poll' | 'report';

/** The step behind a Task's resource, such as `${PlanFunctionArn}`. @throws Error for any other function */
export function stepOf(resource: string): Step {
  const name = /^\$\{(\w+)FunctionArn\}$/.exec(resource)?.[1]?.toLowerCase();
  const step = (['plan', 'truncate', 'poll', 'report'] as const).find((known) => known === name);
  if (step === undefined) throw new Error(`The workflow file names ${resource}, and no step implements that.`);
  return step;
}

export interface WorkflowHost {
  sleep(millis: number): Promise<void>;
  /** From 0 to below 1: jitter. */
  random(): number;
  /** Calls the function behind a Task; rejects with an error whose `name` is the workflow's error name. */
  call(resource: string, input: unknown, timeoutSeconds: number): Promise<unknown>;
  /** Called for each state that is entered, with its input; throws to end the execution there (it was stopped). */
  entered(state: string, input: unknown): void;
}

interface Retrier {
  ErrorEquals: string[];
  IntervalSeconds: number;
  BackoffRate: number;
  MaxAttempts: number;
  JitterStrategy?: string;
}

interface State {
  Type: 'Task' | 'Choice' | 'Wait' | 'Pass' | 'Succeed';
  Next?: string;
  Resource?: string;
  TimeoutSeconds?: number;
  Parameters?: Json;
  ResultSelector?: Json;
  ResultPath?: string;
  Retry?: Retrier[];
  Catch?: { ErrorEquals: string[]; Next: string; ResultPath?: string }[];
  Choices?: { Variable: string; StringEquals: string; Next: string }[];
  Default?: string;
  SecondsPath?: string;
}

export const states = definition.States as Record<string, State>;

type Json = Record<string, unknown>;

/** The part of the context object that the file reads. */
interface ExecutionContext {
  Execution: { Name: string; StartTime: string; Input: unknown };
  /** Of a Task that is being executed. */
  State?: { RetryCount: number };
}

/**
 * Executes the workflow.
 * @param from where to begin: at the start, or, for a redrive, at the state that was stopped, with its input
 * @returns its output
 * @throws what Report throws for good: the execution fails, and no report could be published; what `entered` throws; and
 *   what ends an execution in Step Functions, too
 */
export async function executeWorkflow(
  context: ExecutionContext,
  from: { state?: string; input: unknown },
  host: WorkflowHost,
): Promise<unknown> {
  let name = from.state ?? definition.StartAt;
  let data = from.input;
  for (;;) {
    const state = states[name]!;
    host.entered(name, throughJson(data));
    switch (state.Type) {
      case 'Task':
        ({ data, next: name } = await task(state, data, context, host));
        break;
      case 'Choice': {
        const chosen = state.Choices!.find(({ Variable, StringEquals }) => variable(data, Variable) === StringEquals);
        name = chosen?.Next ?? state.Default!;
        break;
      }
      case 'Wait': {
        const seconds = at(data, state.SecondsPath!);
        if (!Number.isInteger(seconds) || (seconds as number) < 0) throw new Error(`cannot wait ${seconds} seconds`);
        await host.sleep((seconds as number) * 1000);
        name = state.Next!;
        break;
      }
      case 'Pass': {
        const result = state.Parameters ? filled(state.Parameters, data, context) : data;
        data = put(data, state.ResultPath, result);
        name = state.Next!;
        break;
      }
      case 'Succeed':
        return data;
    }
  }
}

async function task(state: State, data: unknown, context: ExecutionContext, host: WorkflowHost) {
  const tried = new Map<Retrier, number>();
  for (let RetryCount = 0; ; RetryCount++) {
    const input = state.Parameters ? filled(state.Parameters, data, { ...context, State: { RetryCount } }) : data;
    try {
      const output = throughJson(await host.call(state.Resource!, throughJson(input), state.TimeoutSeconds!));
      const selected = state.ResultSelector ? filled(state.ResultSelector, output, context) : output;
      return { data: put(data, state.ResultPath, selected), next: state.Next! };
    } catch (error) {
      if (error instanceof Terminal) throw error;
      const { name, message } = error as Error;
      const covers = (listed: string[]) => listed.includes(name) || listed.includes('States.ALL');
      const retrier = state.Retry?.find(({ ErrorEquals }) => covers(ErrorEquals));
      const tries = retrier ? (tried.get(retrier) ?? 0) : 0;
      if (retrier && tries < retrier.MaxAttempts) {
        tried.set(retrier, tries + 1);
        const seconds = retrier.IntervalSeconds * retrier.BackoffRate ** tries;
        await host.sleep(seconds * 1000 * (retrier.JitterStrategy === 'FULL' ? host.random() : 1));
        continue;
      }
      const catcher = state.Catch?.find(({ ErrorEquals }) => covers(ErrorEquals));
      if (!catcher) throw error;
      // As Lambda says it.
      const Cause = JSON.stringify({ errorType: name, errorMessage: message });
      return { data: put(data, catcher.ResultPath, { Error: name, Cause }), next: catcher.Next };
    }
  }
}

/** The end of an execution, which neither Retry nor Catch sees, whatever they cover. */
class Terminal extends Error {
  constructor(name: 'States.Runtime' | 'States.DataLimitExceeded', message: string) {
    super(message);
    this.name = name;
  }
}

/** Step Functions refuses a longer input or output, bytes. */
const maxDataBytes = 262_144;

/** States pass on JSON. */
function throughJson(value: unknown): unknown {
  const json = JSON.stringify(value ?? null);
  const bytes = Buffer.byteLength(json);
  if (bytes > maxDataBytes) throw new Terminal('States.DataLimitExceeded', `${bytes} bytes are more than 256 KiB`);
  return JSON.parse(json);
}

function variable(data: unknown, path: string): unknown {
  const found = at(data, path);
  if (found === undefined) throw new Terminal('States.Runtime', `the state has no ${path}, which a Choice compares`);
  return found;
}

function at(data: unknown, path: string): unknown {
  let value = data;
  for (const part of path.split('.').slice(1)) value = (value as Json | undefined)?.[part];
  return value;
}

function put(data: unknown, path: string | undefined, result: unknown): unknown {
  if (path === undefined || path === '$') return result;
  const [, field, ...more] = path.split('.');
  if (field === undefined || more.length > 0)
    throw new Error(`The workflow file uses the path ${path}, which this interpreter does not know.`);
  return { ...(data as Json), [field]: result };
}

function filled(template: Record<string, unknown>, data: unknown, context: ExecutionContext): unknown {
  const entries = Object.entries(template).map(([key, value]) => {
    if (key.endsWith('.$')) {
      const path = value as string;
      const found = path.startsWith('$$') ? at(context, path.slice(1)) : at(data, path);
      if (found === undefined) throw Object.assign(new Error(`no ${path}`), { name: 'States.ParameterPathFailure' });
      return [key.slice(0, -2), found];
    }
    const inner = typeof value === 'object' && value !== null;
    return [key, inner ? filled(value as Record<string, unknown>, data, context) : value];
  });
  return Object.fromEntries(entries);
}
