import { describe, expect, test } from 'vitest';
import type { Check } from '../../../lambda/facts/check.ts';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import { reportSchema } from '../../../lambda/facts/report-schema.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { composeReport, report } from '../../../lambda/run/report.ts';
import type { Entry, RunState } from '../../../lambda/run/state.ts';
import { aPolicy } from '../../support/policies.ts';

const now = Date.UTC(2026, 0, 1, 4);
const settings = {
  stage: 'prod',
  gmsUrl: 'https://gms.example.com',
  mode: 'enforce',
  minRetentionDays: 7,
  maxRunHours: 12,
} as const;
const silent = { info() {}, warn() {}, error() {} };
const services = { settings, clock: { now: () => now, realNow: () => now, monotonic: () => now }, log: silent };
const execution = { name: 'nightly', startTime: '2026-01-01T03:30:00.000Z' };
const composed = (input: unknown): Report => {
  const made = composeReport({ input, execution }, services);
  expect(reportSchema.parse(made)).toEqual(made);
  return made;
};

const entry = (aspect: string, fields: Record<string, unknown> = {}) => ({
  index: `dataset.${aspect}`,
  entry: { entityType: 'dataset', aspect, ...fields },
});
const decided = (aspect: string, outcome: string, fields: Record<string, unknown> = {}) =>
  ({ phase: 'done', ...entry(aspect, { outcome, cause: { kind: 'run-error' }, ...fields }) }) as Entry;
const approved = (aspect: string) =>
  ({
    phase: 'approved',
    ...entry(aspect),
    policy: aPolicy({ aspect }),
    plan: { rowsToDelete: 1, strategy: 'reindex' },
  }) as Entry;
const watched = (aspect: string) =>
  ({
    phase: 'watched',
    ...entry(aspect),
    watch: { attemptId: 'a', startedAt: 0, succeededAt: 0, lastLookAt: 0, nextLookAt: 0, looks: 0 },
  }) as Entry;

const state = (entries: Entry[], more: Partial<RunState> = {}): RunState => ({
  version: 3,
  runId: 'nightly',
  server: 'https://gms.example.com',
  stage: 'prod',
  mode: 'enforce',
  startedAt: '2026-01-01T03:30:00.000Z',
  next: 'report',
  waitSeconds: 0,
  entries,
  notes: [],
  unmanagedIndices: [],
  turns: { truncate: 0, poll: 0 },
  ...more,
});

describe('the report', () => {
  test('is as bad as its worst policy', () => {
    expect(composed(state([decided('a', 'truncated')])).result).toBe('ok');
    expect(composed(state([decided('a', 'truncated'), decided('b', 'incomplete')])).result).toBe('attention');
    expect(composed(state([decided('a', 'in-flight'), decided('b', 'unknown'), decided('c', 'disabled')])).result).toBe(
      'failed',
    );
    expect(composed(state([])).result).toBe('ok');
  });

  test('fails on an outcome of a newer build in the run state: a truncation may have started', () => {
    const made = composed(
      state([decided('a', 'brand-new', { cause: { kind: 'brand-new', x: 1 } }), decided('b', 'truncated')]),
    );
    expect(made).toMatchObject({
      result: 'failed',
      policies: [{ aspect: 'a', outcome: 'unknown' }, { outcome: 'truncated' }],
    });
    expect(made.policies[0]?.reason).toBe('a truncation may have started; its state is unknown');
    const { email } = composeMessage(made);
    expect(email).toContain('dataset.a');
  });

  test('carries the preflight of a preview, whose failed checks do not change the result', () => {
    const error = { kind: 'privilege', operation: 'index-sizes', status: 403 } as const;
    const preflight: Check[] = [{ name: 'Sizes', state: 'failed', cause: { kind: 'refused', error } }];
    const made = composed(state([decided('a', 'would-truncate')], { mode: 'preview', preflight }));
    expect(made).toMatchObject({ result: 'ok', preflight });
    expect(made.preflight?.[0]?.text).toMatch(/403/);
    expect(composed(state([]))).not.toHaveProperty('preflight');
  });

  test('of another version’s run state has no preflight', () => {
    const foreign = { ...state([decided('a', 'would-truncate')], { mode: 'preview' }), version: 99, preflight: 'well' };
    expect(composed(foreign)).not.toHaveProperty('preflight');
  });

  test('is failed if the run could not do its work, even if no policy failed', () => {
    expect(composed(state([decided('a', 'truncated')], { error: { kind: 'no-policy' } }))).toMatchObject({
      result: 'failed',
      error: expect.stringContaining('there is no policy'),
      cause: { kind: 'no-policy' },
    });
  });

  test('lists the smallest truncation first, then by name, and those without counts last', () => {
    const entries = [
      decided('c', 'failed'),
      decided('b', 'truncated', { rowsToDelete: 5 }),
      decided('z', 'truncated', { rowsToDelete: 1 }),
      decided('a', 'truncated', { rowsToDelete: 5 }),
    ];
    expect(composed(state(entries)).policies.map(({ aspect }) => aspect)).toEqual(['z', 'a', 'b', 'c']);
  });

  test('omits fields without a value', () => {
    const made = composed(state([]));
    expect(Object.keys(made)).not.toContain('error');
    expect(Object.keys(made)).not.toContain('notes');
  });

  test('of a failed Plan has its cause, and the execution’s name and start', () => {
    expect(composed({ failure: { step: 'plan', error: 'Sandbox.Timedout' } })).toMatchObject({
      runId: 'nightly',
      startedAt: execution.startTime,
      result: 'failed',
      cause: { kind: 'step-failed', step: 'plan', error: 'Sandbox.Timedout' },
      policies: [],
    });
  });

  test('is that of another version if the state cannot be read', () => {
    expect(composed({ version: 99 })).toMatchObject({
      result: 'failed',
      cause: { kind: 'foreign', why: 'version', deployed: true },
      policies: [],
    });
  });

  test('does not report a defect as another version', () => {
    let tries = 0;
    const words = (): Report => {
      if (tries++ === 0) throw new TypeError('a defect');
      return {} as Report;
    };
    expect(() => composeReport({ input: state([]), execution }, { ...services, words })).toThrow('a defect');
  });

  test('gives the cause for each index that a failed step left undecided', () => {
    const causes = ({ policies }: Report) => policies.map(({ cause }) => cause);
    const error = 'Lambda.Unknown';
    expect(causes(composed(state([approved('a')], { failure: { step: 'truncate', error } })))).toEqual([
      { kind: 'step-failed', step: 'truncate', error, sent: 'maybe' },
    ]);
    expect(causes(composed(state([watched('a'), approved('b')], { pollFailure: { step: 'poll', error } })))).toEqual([
      { kind: 'watching', why: 'run' },
      { kind: 'stopped', by: 'run-time' },
    ]);
  });

  test('cuts the name of a failed step’s error, whichever step failed', () => {
    const error = `${'€'.repeat(100)}Error`;
    const made = [
      composed({ failure: { step: 'plan', error } }).cause,
      composed(state([watched('a')], { pollFailure: { step: 'poll', error } })).cause,
      composed(state([], { failure: { step: 'truncate', error } })).cause,
      composed(state([approved('a')], { failure: { step: 'truncate', error } })).policies[0]?.cause,
    ];
    for (const cause of made) expect(cause).toMatchObject({ kind: 'step-failed', error: `${'€'.repeat(79)}…` });
  });

  test('after a failed Poll names the running truncations and those not started', () => {
    const made = composed(
      state([watched('a'), approved('b')], { pollFailure: { step: 'poll', error: 'Lambda.Unknown' } }),
    );
    expect(made.policies.map(({ outcome }) => outcome)).toEqual(['still-running', 'not-started']);
    expect(made).toMatchObject({
      result: 'failed',
      cause: { kind: 'step-failed', step: 'poll', error: 'Lambda.Unknown' },
    });
  });

  test('after a failed Truncate without a Poll reports that it may have started', () => {
    const failures = {
      failure: { step: 'truncate', error: 'Lambda.Unknown' },
      pollFailure: { step: 'poll', error: 'LedgerError' },
    } as const;
    const made = composed(state([watched('a'), approved('b'), approved('c')], failures));
    expect(made.policies.map(({ outcome }) => outcome)).toEqual(['still-running', 'unknown', 'not-started']);
    const other = composed({ ...state([approved('b'), approved('c')], failures), version: 7 });
    expect(other.policies.map(({ outcome }) => outcome)).toEqual(['unknown', 'not-started']);
  });

  test('of a manual preview whose Plan failed is a preview', () => {
    const input = { failure: { step: 'plan', error: 'X' }, input: { mode: 'preview' } };
    expect(composed(input).mode).toBe('preview');
    expect(composed({ ...input, input: { mode: 'nonsense' } }).mode).toBe('enforce');
    expect(composed({ ...input, input: 'text' }).mode).toBe('enforce');
  });

  test("of another version's run state names every policy that can be read", () => {
    const other = { ...state([decided('a', 'truncated'), approved('b'), watched('c')]), version: 7 };
    const made = composed(other);
    expect(made.policies.map(({ outcome }) => outcome)).toEqual(['truncated', 'unknown', 'still-running']);
    expect(made.result).toBe('failed');
  });

  test.each([[null], ['text'], [7], [[]], [{}], [{ version: 3, entries: 'none', startedAt: 'never' }]])(
    'is made from any state: %j',
    (input) => {
      expect(composed(input).result).toBe('failed');
    },
  );

  test('that cannot be published throws, so that the execution fails', async () => {
    const publisher = {
      publish: async () => {
        throw new Error('SNS is out of reach');
      },
    };
    await expect(report({ input: state([]), execution }, { ...services, publisher })).rejects.toThrow(
      'SNS is out of reach',
    );
  });

  test('is counted even if it cannot be published', async () => {
    const publisher = { publish: () => Promise.reject(new Error('SNS is out of reach')) };
    const counted: Report[] = [];
    const count = (made: Report) => void counted.push(made);
    await expect(report({ input: state([]), execution }, { ...services, publisher, count })).rejects.toThrow();
    expect(counted).toEqual([composed(state([]))]);
  });
});
