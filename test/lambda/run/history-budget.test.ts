import { describe, expect, test } from 'vitest';
import { executeWorkflow, stepOf } from '../../../cli/run/state-machine.ts';
import { maxPolicies } from '../../../lambda/facts/policy-fields.ts';
import { maxPolls, proceed } from '../../../lambda/run/next.ts';
import type { Entry, RunState } from '../../../lambda/run/state.ts';
import { maxEntries } from '../../../lambda/run/state.ts';
import { isDue, nextCheckAt } from '../../../lambda/truncation/next-check.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { anAttempt, aRunning } from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

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
  const { events } = await executeWorkflow(
    { Execution: { Name: 'run-1', StartTime: start, Input: {} } },
    { input: {} },
    {
      random: () => 0,
      async sleep() {},
      entered() {},
      async call(resource) {
        const step = stepOf(resource);
        if (step === 'truncate') {
          truncates++;
          throw failed();
        }
        if (isRetried(step)) throw failed();
        if (step === 'poll') polls++;
        return step === 'report' ? { result: 'ok', next: 'mark', marks: [] } : next();
      },
    },
  );
  return events;
}

test('48 truncates that all fail and 2,000 polls, each of them retried, stay below the limit', async () => {
  expect(await eventsOf({ plan: 2, poll: 1, report: 5 })).toBeLessThan(mostEvents);
});

describe('the checks of a day', () => {
  const start = Date.parse('2026-03-01T03:30:00.000Z');
  const settings = { maxRunHours: 24 } as Parameters<typeof proceed>[1];
  const watchedSince = (sentAt: number, resumed: boolean): Entry => ({
    index: `index-${sentAt}`,
    phase: 'watched',
    entry: { entityType: 'dataset', aspect: `a${sentAt}`, resumed },
    watch: { ...startWatch(aRunning(), start, start + 10_000), sentAt },
  });

  /** Turns of Poll while nothing ends, each entry checked when it is due. */
  function turns(state: RunState): number {
    let now = start;
    let count = 0;
    let current = proceed(state, settings, now);
    while (current.next === 'wait') {
      now += current.waitSeconds * 1000;
      count++;
      const entries = current.entries.map((entry): Entry => {
        if (entry.phase !== 'watched' || !isDue(entry.watch, now)) return entry;
        const record = aRunning({ attempt: anAttempt({ sendingSince: entry.watch.sentAt, judgeableAt: 0 }) });
        const watch = { ...entry.watch, lastCheckAt: now };
        return { ...entry, watch: { ...watch, nextCheckAt: nextCheckAt(record, watch, now) } };
      });
      current = proceed({ ...current, entries }, settings, now);
    }
    return count;
  }

  test('at one truncation of this run and 16 of earlier ones, of any age, are shared: a few hundred turns', () => {
    const minute = 60_000;
    const resumed = Array.from({ length: maxEntries - maxPolicies }, (_, at) =>
      watchedSince(start - 7 ** (at / 2) * minute, true),
    );
    const count = turns(aRunState([watchedSince(start, false), ...resumed]));
    expect(count).toBeLessThan(400);
  });

  test('at 48 truncations of half an hour, one after another, fit into the polls of a run', () => {
    const each = turns({
      ...aRunState([watchedSince(start, false)]),
      runStartMillis: start - 23.5 * 3_600_000,
    });
    expect(each * maxPolicies).toBeLessThan(maxPolls);
  });
});
