import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { fastClock } from '../../../cli/run/sample.ts';
import { type Step, states, stepOf } from '../../../cli/run/state-machine.ts';
import type { ReportEvent } from '../../../lambda/run/report.ts';
import { type Clock, systemClock } from '../../../lambda/truncation/clock.ts';
import definition from '../../../lambda/workflow/retention-workflow.asl.json' with { type: 'json' };
import { executeSteps } from '../../support/steps.ts';

const startTime = '2026-11-20T03:30:00.000Z';

/** Handlers that answer from scripts, and what they were asked, in order. An item of a script may be an error to throw. */
function scripted(scripts: Partial<Record<Step, unknown[]>>) {
  const asked: Array<{ step: Step; at: number; input: unknown }> = [];
  const handler = (step: Step) => async (input: unknown) => {
    asked.push({ step, at: Date.now(), input });
    const answer = scripts[step]?.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const handlers = {
    plan: handler('plan'),
    truncate: handler('truncate'),
    poll: handler('poll'),
    report: handler('report'),
  };
  return { handlers, asked, steps: () => asked.map(({ step }) => step) };
}

const wait = (waitSeconds: number) => ({ next: 'wait', waitSeconds });
const finish = { next: 'report', waitSeconds: 0 };
const reported = { result: 'ok', next: 'end', marks: [], run: null };
const named = (name: string) => Object.assign(new Error('a cause'), { name });

type Handlers = ReturnType<typeof scripted>['handlers'];

const start = (handlers: Handlers, { sleep }: Pick<Clock, 'sleep'> = systemClock) =>
  executeSteps((step, given) => handlers[step](given), { input: { mode: 'preview' }, startTime, sleep });

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
  it('tells Report its try, of as many as its Retry allows', async () => {
    const { handlers, asked } = scripted({ plan: [finish], report: Array.from({ length: 9 }, () => named('SnsDown')) });
    await start(handlers, fastClock()).catch(() => {});
    const tries = asked.filter(({ step }) => step === 'report').map(({ input }) => (input as ReportEvent).retry);
    expect(tries.map(({ count }) => count)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(new Set(tries.map(({ last }) => last))).toEqual(new Set([tries.length - 1]));
  });

  it('reports a Plan that fails for good with only the name of the error', async () => {
    const failure = named('ParametersError');
    const { handlers, asked, steps } = scripted({ plan: [failure, failure, failure], report: [reported] });
    await inVirtualTime(() => start(handlers));
    expect(steps()).toEqual(['plan', 'plan', 'plan', 'report']);
    expect(asked.at(-1)?.input).toEqual({
      input: { failure: { step: 'plan', error: 'ParametersError' }, input: { mode: 'preview' } },
      execution: { name: 'run', startTime },
      retry: { count: 0, last: 5 },
    });
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

it.each<[name: string, answer: object]>([
  ['States.Runtime', { waitSeconds: 1 }],
  ['States.DataLimitExceeded', { ...finish, entries: ['ü'.repeat(131_072)] }],
])('what ends an execution in Step Functions ends it here, whatever the file catches: %s', async (name, answer) => {
  const { handlers, steps } = scripted({ plan: [answer] });
  await expect(start(handlers)).rejects.toMatchObject({ name });
  expect(steps()).toEqual(['plan']);
});

describe('under --fast', () => {
  it('waits 0.2 s at most, and moves the clock of the run on by the seconds not waited', async () => {
    const clock = fastClock();
    const seen: number[] = [];
    const { handlers } = scripted({ plan: [wait(600)], poll: [wait(1200), finish], report: [reported] });
    const poll: Handlers['poll'] = (state) => {
      seen.push(clock.now());
      return handlers.poll(state);
    };
    expect(await inVirtualTime(() => start({ ...handlers, poll }, clock))).toBe(400);
    expect(seen).toEqual([600_000, 1_800_000]);
  });

  it('moves it on by the pause before a retry, too', async () => {
    const clock = fastClock();
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { handlers } = scripted({ plan: [wait(600)], poll: [named('Once'), finish], report: [reported] });
    await inVirtualTime(() => start(handlers, clock));
    expect(clock.now()).toBe(600_000 + 15_000);
    vi.restoreAllMocks();
  });
});

test('The workflow file has nothing that Step Functions would do and the interpreter would not', () => {
  const task = 'Resource TimeoutSeconds Parameters ResultSelector ResultPath Retry Catch';
  const all = Object.values(states);
  const retry = ['ErrorEquals', 'IntervalSeconds', 'BackoffRate', 'MaxAttempts', 'JitterStrategy'];
  const grammar = [
    [[definition], 'Comment StartAt TimeoutSeconds States'],
    [all, `Comment Type Next ${task} Choices Default SecondsPath`],
    [all.map(({ Type }) => ({ [Type]: '' })), 'Task Choice Wait Pass Succeed'],
    [all.flatMap(({ Catch = [] }) => Catch), 'ErrorEquals Next ResultPath'],
    [all.flatMap(({ Choices = [] }) => Choices), 'Variable StringEquals Next'],
  ] as const;
  for (const [parts, words] of grammar) {
    expect(words.split(' ')).toEqual(expect.arrayContaining(parts.flatMap((part) => Object.keys(part))));
  }
  for (const one of all.flatMap(({ Retry = [] }) => Retry)) expect(Object.keys(one)).toEqual(retry);
});

test('An unknown function is refused', () => {
  expect(() => stepOf(`\${${'Other'}FunctionArn}`)).toThrow('no step implements');
});
