import { describe, expect, test } from 'vitest';
import { maxSentenceBytes } from '../../../lambda/gms/text.ts';
import type { Report, ReportData } from '../../../lambda/model/report-schema.ts';
import { errorOf } from '../../../lambda/run/failure.ts';
import { composeReport, report, stateOf } from '../../../lambda/run/report.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import { anEntry } from '../../support/reports.ts';
import { aRunState } from '../../support/states.ts';

/** The report of a run, from its state or from what is left of it. */

const settings = { stage: 'prod', gmsUrl: 'https://gms.example.com', mode: 'enforce' } as RunSettings;
const clock = { now: () => Date.parse('2026-03-01T05:00:00.000Z'), monotonic: () => 0 };
const addSentences = (facts: ReportData) =>
  ({ ...facts, policies: facts.policies.map((entry) => ({ ...entry, reason: '' })) }) as ReturnType<
    typeof composeReport
  >;
const execution = { name: 'run-1', startTime: '2026-03-01T03:30:01.000Z' };
const compose = (input: unknown) =>
  composeReport(stateOf({ input, execution }, settings), { settings, clock, addSentences });

test('A report of a Plan that failed for good says so, in the mode that was asked for', () => {
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
  expect(compose(scheduled)).toMatchObject({ mode: 'enforce', by: 'schedule' });
  expect(compose({ ...scheduled, input: { by: 'ada' } })).toMatchObject({ mode: 'preview', by: 'ada' });
});

test.each([
  ['of another version', { ...aRunState([]), version: 3 }],
  ['of another server', aRunState([], { server: 'https://elsewhere.example.com' })],
  ['that is empty', {}],
])('a state %s is not interpreted', (_, state) => {
  expect(() => compose(state)).toThrow('the run state');
});

test.each([
  ['in the 25th hour, as the longest run may end', 25, []],
  ['in the 27th hour', 27, [{ kind: 'late', startedAt: expect.any(Number) }]],
])('a report that is published %s says so only if it is late', (_, hours, notes) => {
  expect(compose(aRunState([], { runStartMillis: clock.now() - hours * 3_600_000 })).notes).toEqual(notes);
});

const truncated = anEntry('truncated', { kind: 'verified' }, { rowsDeleted: 7 });
const services = (publish: () => Promise<boolean>, order: string[] = []) => ({
  settings,
  clock,
  addSentences: (facts: ReportData) => addSentences({ ...facts, policies: [truncated] }),
  log: { info() {}, warn() {}, error: (message: string) => void order.push(message) },
  count: ({ policies }: Report) => void order.push(['counted', ...policies.map((one) => one.rowsDeleted)].join(' ')),
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
    expect(await tried(count, true)).toEqual(['published', 'counted 7', 'end']);
  });

  test.each([0, 4])('leave the count to a later try: after %i failures', async (count) => {
    expect(await tried(count, false)).toEqual(['the report was not published', 'the topic is gone']);
  });

  test('count them in the last try, so that an alarm fires where no message is taken, but not its rows', async () => {
    expect(await tried(5, false)).toEqual(['the report was not published', 'counted ', 'the topic is gone']);
  });
});

describe('Report passes on nothing for the mark', () => {
  const state = aRunState([], { releases: [{ index: 'c', revision: 4, decidedAtMillis: 7 }] });
  const planFailed = { failure: { step: 'plan', error: 'States.Timeout' }, input: {} };

  test.each<[string, unknown, boolean]>([
    ['where not everything that was asked for has accepted the report', state, false],
    ['of a Plan that failed for good', planFailed, true],
  ])('%s', async (_, input, isPublished) => {
    const event = { input, execution, retry: { count: 0, last: 5 } };
    const published = services(async () => isPublished);
    expect(await report(event, published)).toMatchObject({ next: 'end', marks: [] });
  });
});

/** What a report says of a function that failed: as the workflow passes on what AWS Lambda has answered. */

const errorSaid = (error: string, Cause?: string) =>
  errorOf({ step: 'poll', error, caught: { Error: error, ...(Cause !== undefined && { Cause }) } });
const causeOf = (errorMessage: string) => JSON.stringify({ errorType: 'LedgerError', errorMessage, trace: ['at x'] });

test.each([
  ['the sentence of the ledger', 'LedgerError', causeOf('the disk is full'), 'LedgerError: the disk is full'],
  ['no sentence of another error, which may say anything', 'TypeError', causeOf('of a secret'), 'TypeError'],
  ['the name alone where there is no cause', 'LedgerError', undefined, 'LedgerError'],
  ['the name alone where its cause was cut', 'LedgerError', causeOf('full').slice(0, -3), 'LedgerError'],
  ['the name of a function that ran out of time', 'States.Timeout', '', 'States.Timeout'],
])('A function that failed is reported with %s', (_, error, given, expected) => {
  expect(errorSaid(error, given)).toBe(expected);
});

test('A function that failed is reported with no more of a sentence than there is room for', () => {
  expect(Buffer.byteLength(errorSaid('LedgerError', causeOf('x'.repeat(9999))))).toBe(maxSentenceBytes);
});
