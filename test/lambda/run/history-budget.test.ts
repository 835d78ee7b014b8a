import { expect, test } from 'vitest';
import { executeWorkflow, stepOf } from '../../../cli/run/state-machine.ts';
import { maxPolicies } from '../../../lambda/model/policy-fields.ts';
import { maxPolls } from '../../../lambda/run/next.ts';

/** An execution of Step Functions ends at 25,000 history events, without any Catch: no run comes near that. */

const mostEvents = 25_000;

/** Plays the workflow file: every Truncate fails, and every function fails before it succeeds, as often as is said. */
async function eventsOf(failures: { plan: number; poll: number; report: number }): Promise<number> {
  let truncates = 0;
  let polls = 0;
  const tries = { plan: 0, poll: 0, report: 0 };
  const isRetried = (step: keyof typeof tries) => {
    tries[step] = tries[step] < failures[step] ? tries[step] + 1 : 0;
    return tries[step] > 0;
  };
  const next = () => ({
    next: truncates < maxPolicies ? 'truncate' : polls < maxPolls ? 'wait' : 'report',
    waitSeconds: 1,
  });
  const failed = () => Object.assign(new Error('it failed'), { name: 'SomeError' });
  const start = new Date(0).toISOString();
  // Its start and its end.
  let events = 2;
  await executeWorkflow(
    { Execution: { Name: 'run-1', StartTime: start, Input: {} } },
    { input: {} },
    {
      random: () => 0,
      async sleep() {},
      entered() {
        // And left.
        events += 2;
      },
      async call(resource) {
        // Scheduled, started, and succeeded or failed.
        events += 3;
        const step = stepOf(resource);
        if (step === 'truncate') {
          truncates++;
          throw failed();
        }
        if (isRetried(step)) throw failed();
        if (step === 'poll') polls++;
        return step === 'report' ? { result: 'ok', next: 'mark', marks: [], run: null } : next();
      },
    },
  );
  return events;
}

test('48 truncates that all fail and 2,000 polls, each of them retried, stay below the limit', async () => {
  const events = await eventsOf({ plan: 2, poll: 1, report: 5 });
  expect(events).toBeLessThan(mostEvents);
  expect(events).toBeGreaterThan(10 * maxPolls);
});
