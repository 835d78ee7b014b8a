import { StateMachine } from 'aws-local-stepfunctions';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fastClock } from '../../../cli/run/clock.ts';
import { loadDefinition, runStateMachine, type Step, type StepHandlers } from '../../../cli/run/state-machine.ts';

const execution = { name: 'test-run', startTime: '2026-11-20T03:30:00.000Z' };

/** Handlers that answer from scripts, and what they were asked, in order. An item of a script may be an error to throw. */
function scripted(scripts: Partial<Record<Step, unknown[]>>) {
  const asked: Array<{ step: Step; at: number; input: unknown }> = [];
  const handler = (step: Step) => async (input: unknown) => {
    asked.push({ step, at: Date.now(), input });
    const answer = scripts[step]?.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const handlers: StepHandlers = {
    plan: handler('plan'),
    truncate: handler('truncate'),
    poll: handler('poll'),
    report: handler('report'),
  };
  return { handlers, asked, steps: () => asked.map(({ step }) => step) };
}

const wait = (waitSeconds: number) => ({ next: 'wait', waitSeconds });
const finish = { next: 'report', waitSeconds: 0 };
const reported = { result: 'ok', next: 'end', told: [] };
const named = (name: string) => Object.assign(new Error('a cause'), { name });

const start = (handlers: StepHandlers, more: { fast?: ReturnType<typeof fastClock> } = {}) =>
  runStateMachine({ handlers, input: { mode: 'preview' }, execution, now: Date.now, ...more });

afterEach(() => {
  vi.useRealTimers();
});

async function inVirtualTime(run: () => Promise<unknown>): Promise<number> {
  vi.useFakeTimers({ now: 0 });
  const running = run();
  await vi.runAllTimersAsync();
  await running;
  return Date.now();
}

describe('the workflow file', () => {
  it('is valid for the library that executes it without validating it', () => {
    const validated = (definition: object) =>
      new StateMachine(definition as never, { validationOptions: { checkArn: true, checkPaths: true } });
    expect(() => validated(loadDefinition())).not.toThrow();
    expect(() => validated({ ...loadDefinition(), StartAt: 'Nowhere' })).toThrow('Nowhere');
  });

  it('gives Plan the input and the execution, and Report the state with the execution', async () => {
    const { handlers, asked } = scripted({ plan: [finish], report: [reported] });
    await start(handlers);
    expect(asked.map(({ step, input }) => ({ step, input }))).toEqual([
      { step: 'plan', input: { input: { mode: 'preview' }, execution } },
      { step: 'report', input: { input: finish, execution } },
    ]);
  });

  it('waits as long as the state says before each Poll', async () => {
    const { handlers, asked } = scripted({
      plan: [{ next: 'truncate', waitSeconds: 1 }],
      truncate: [wait(10)],
      poll: [wait(1800), finish],
      report: [reported],
    });
    await inVirtualTime(() => start(handlers));
    expect(asked.map(({ step, at }) => [step, at])).toEqual([
      ['plan', 0],
      ['truncate', 0],
      ['poll', 10_000],
      ['poll', 1_810_000],
      ['report', 1_810_000],
    ]);
  });

  it('goes to Poll after a failed Truncate with only the name of the error, and never repeats Truncate', async () => {
    const { handlers, asked, steps } = scripted({
      plan: [{ next: 'truncate', waitSeconds: 10 }],
      truncate: [named('Sandbox.Timedout'), new Error('asked twice')],
      poll: [finish],
      report: [reported],
    });
    await inVirtualTime(() => start(handlers));
    expect(steps()).toEqual(['plan', 'truncate', 'poll', 'report']);
    expect(asked[2]?.input).toEqual({
      next: 'truncate',
      waitSeconds: 10,
      failure: { step: 'truncate', error: 'Sandbox.Timedout' },
    });
  });

  it('reports a Plan that fails for good with only the name of the error', async () => {
    const failure = named('ParametersError');
    const { handlers, asked, steps } = scripted({ plan: [failure, failure, failure], report: [reported] });
    await inVirtualTime(() => start(handlers));
    expect(steps()).toEqual(['plan', 'plan', 'plan', 'report']);
    expect(asked.at(-1)?.input).toEqual({
      input: { failure: { step: 'plan', error: 'ParametersError' }, input: { mode: 'preview' } },
      execution,
    });
  });

  it('fails only if no report could be published', async () => {
    const { handlers } = scripted({ plan: [finish], report: Array.from({ length: 6 }, () => named('SnsDown')) });
    vi.useFakeTimers({ now: 0 });
    const running = expect(start(handlers)).rejects.toThrow('a cause');
    await vi.runAllTimersAsync();
    await running;
  });

  it('passes JSON between the states, as Step Functions does', async () => {
    const { handlers, asked } = scripted({
      plan: [{ ...finish, entries: [], left: undefined, when: new Date(0) }],
      report: [reported],
    });
    await start(handlers);
    expect(asked[1]?.input).toMatchObject({
      input: { ...finish, entries: [], when: '1970-01-01T00:00:00.000Z' },
    });
    expect(asked[1]?.input).not.toHaveProperty('input.left');
  });
});

describe('under --fast', () => {
  const waits = { plan: [wait(600)], poll: [wait(1200), finish], report: [reported] };

  it('waits 0.2 s at most', async () => {
    const { handlers } = scripted(structuredClone(waits));
    expect(await inVirtualTime(() => start(handlers, { fast: fastClock() }))).toBe(400);
  });

  it('moves the clock of the run on by the seconds not waited', async () => {
    const clock = fastClock();
    const seen: number[] = [];
    const { handlers } = scripted(structuredClone(waits));
    const look: StepHandlers['poll'] = (state) => {
      seen.push(clock.now());
      return handlers.poll(state);
    };
    await inVirtualTime(() => start({ ...handlers, poll: look }, { fast: clock }));
    expect(seen).toEqual([600_000, 1_800_000]);
  });

  it('counts a wait once when Poll fails and is tried again', async () => {
    const clock = fastClock();
    const { handlers } = scripted({ plan: [wait(600)], poll: [named('Once'), finish], report: [reported] });
    await inVirtualTime(() => start(handlers, { fast: clock }));
    expect(clock.now()).toBe(600_200);
  });
});

describe('a definition that the local state machine would not execute as Step Functions does', () => {
  it.each([
    ['QueryLanguage', { QueryLanguage: 'JSONata', StartAt: 'A', States: { A: { Type: 'Succeed' } } }],
    ['Assign', { StartAt: 'A', States: { A: { Type: 'Pass', Assign: { x: 1 }, End: true } } }],
  ])('is refused for %s', (name, definition) => {
    expect(() => loadDefinition(JSON.stringify(definition))).toThrow(`uses ${name}`);
  });

  it('is refused for an unknown function', () => {
    const states = { A: { Type: 'Task', Resource: `\${${'Other'}FunctionArn}`, End: true } };
    expect(() => loadDefinition(JSON.stringify({ StartAt: 'A', States: states }))).toThrow('no step stands for');
  });
});
