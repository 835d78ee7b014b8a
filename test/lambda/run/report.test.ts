import { describe, expect, test } from 'vitest';
import type { ReportFacts } from '../../../lambda/facts/report-schema.ts';
import { doneEntry } from '../../../lambda/run/entries.ts';
import { composeReport, report } from '../../../lambda/run/report.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import type { ApprovedEntry, DoneEntry, Entry, RunState } from '../../../lambda/run/state.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { aPolicy } from '../../support/policies.ts';
import { aRunning } from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

/** The report of a run, from its state or from what is left of it. */

const settings = { stage: 'prod', gmsUrl: 'https://gms.example.com', mode: 'enforce' } as RunSettings;
const clock = { now: () => Date.parse('2026-03-01T05:00:00.000Z'), monotonic: () => 0 };
const words = (facts: ReportFacts) =>
  ({ ...facts, policies: facts.policies.map((entry) => ({ ...entry, reason: '' })) }) as ReturnType<
    typeof composeReport
  >;
const execution = { name: 'run-1', startTime: '2026-03-01T03:30:01.000Z' };
const compose = (input: unknown) => composeReport({ input, execution }, { settings, clock, words });

const from = (aspect: string, rowsToDelete?: number) => ({
  index: aspect,
  facts: { entityType: 'dataset', aspect, rowsToDelete },
});
const fine = (aspect: string, rowsToDelete?: number) =>
  doneEntry(from(aspect, rowsToDelete), 'truncated', { kind: 'verified' });
const approved: Entry = {
  ...from('operation', 5),
  phase: 'approved',
  policy: aPolicy(),
  plan: { rowsToDelete: 5, deletesInPlace: true },
};
const watched: Entry = { ...from('operation', 5), phase: 'watched', watch: startWatch(aRunning(), 0, 0) };

describe('a report', () => {
  test('has the result of its worst policy, the smallest truncation first', () => {
    const bad = doneEntry(from('b', 9), 'above-ceiling', { kind: 'above-ceiling', approveRows: 9 });
    const { result, policies } = compose(aRunState([bad, fine('d'), fine('c', 3), fine('a', 9)]));
    expect(result).toBe('attention');
    expect(policies.map(({ aspect }) => aspect)).toEqual(['c', 'a', 'b', 'd']);
  });

  test('of a Plan that failed for good says so, in the mode that was asked for', () => {
    const input = { failure: { step: 'plan', error: 'States.Timeout' }, input: { mode: 'preview' } };
    expect(compose(input)).toMatchObject({
      result: 'failed',
      mode: 'preview',
      startedAt: '2026-03-01T03:30:01.000Z',
      cause: { kind: 'step-failed', step: 'plan', error: 'States.Timeout', sent: 'no' },
      notes: [],
      policies: [],
      unmanagedIndices: [],
    });
    const scheduled = {
      failure: { step: 'plan', error: 'States.Timeout' },
      input: { scheduledTime: execution.startTime },
    };
    expect(compose(scheduled)).toMatchObject({ mode: 'enforce' });
    expect(compose({ ...scheduled, input: {} })).toMatchObject({ mode: 'preview' });
  });
});

describe('after a Poll that failed for good', () => {
  const pollFailure = { step: 'poll', error: 'LedgerError' } as const;
  const failed = (entry: Entry, more: Partial<RunState> = {}) => compose(aRunState([entry], { pollFailure, ...more }));

  test('what was due when Truncate failed is the first that waited for its turn, whatever is watched', () => {
    const failure = { step: 'truncate', error: 'Sandbox.Timedout' } as const;
    const second = { ...approved, ...from('datasetProfile', 9) } as Entry;
    const state = aRunState([fine('a', 1), watched, { ...approved, ...from('b', 7) } as Entry, second], {
      pollFailure,
      failure,
    });
    expect(compose(state).policies.map(({ outcome }) => outcome)).toEqual([
      'truncated',
      'unknown',
      'unknown',
      'not-started',
    ]);
  });

  test('a reindex that Truncate may have sent says that it reindexes', () => {
    const failure = { step: 'truncate', error: 'Sandbox.Timedout' } as const;
    const reindexing = { ...approved, plan: { ...(approved as ApprovedEntry).plan, deletesInPlace: false } } as Entry;
    expect(failed(reindexing, { failure }).policies[0]).toMatchObject({ outcome: 'unknown', reindexes: true });
    expect(failed(approved, { failure }).policies[0]?.reindexes).toBeUndefined();
  });
});

test.each([
  ['of another version', { ...aRunState([]), version: 3 }],
  ['of another server', aRunState([], { server: 'https://elsewhere.example.com' })],
  ['that is empty', {}],
])('a state %s is not interpreted', (_, state) => {
  expect(() => compose(state)).toThrow('the run state');
});

const services = (publish: () => Promise<boolean>, order: string[] = []) => ({
  settings,
  clock,
  words,
  log: { info() {}, warn() {}, error: (message: string) => void order.push(message) },
  count: () => void order.push('counted'),
  publisher: { publish },
});
const refused = async (): Promise<never> => {
  throw new Error('the topic is gone');
};

describe('the tries of Report', () => {
  /** The try after so many failed ones; what it did, in order. */
  async function tried(count: number, isPublished: boolean) {
    const order: string[] = [];
    const published = async () => order.push('published') > 0;
    const event = { input: aRunState([]), execution, retry: { count, last: 5 } };
    const ended = report(event, services(isPublished ? published : refused, order));
    order.push(
      await ended.then(
        ({ next }) => next,
        ({ message }) => message,
      ),
    );
    return order;
  }

  test.each([0, 5])('count the results once they are published: after %i failures', async (count) => {
    expect(await tried(count, true)).toEqual(['published', 'counted', 'end']);
  });

  test.each([0, 4])('leave the count to a later try: after %i failures', async (count) => {
    expect(await tried(count, false)).toEqual(['the report was not published', 'the topic is gone']);
  });

  test('count them in the last try, so that an alarm fires where no message is taken', async () => {
    expect(await tried(5, false)).toEqual(['the report was not published', 'counted', 'the topic is gone']);
  });
});

describe('Report passes on for the mark', () => {
  const mark = (index: string) => ({ index, revision: 4, decidedAtMillis: 7 });
  const marked: DoneEntry = { ...fine('a'), mark: mark('a') };
  const state = aRunState([marked, fine('b'), watched], { releases: [mark('c')] });
  const planFailed = { failure: { step: 'plan', error: 'States.Timeout' }, input: {} };

  test.each<[string, unknown, boolean, object]>([
    ['the decisions that it has included, and no other', state, true, { next: 'mark', marks: [mark('a'), mark('c')] }],
    ['nothing where not everything that was asked for has accepted it', state, false, { next: 'end', marks: [] }],
    ['nothing of a Plan that failed for good', planFailed, true, { next: 'end', marks: [] }],
  ])('%s', async (_, input, isPublished, expected) => {
    const event = { input, execution, retry: { count: 0, last: 5 } };
    expect(
      await report(
        event,
        services(async () => isPublished),
      ),
    ).toMatchObject(expected);
  });
});
