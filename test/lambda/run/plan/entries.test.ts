import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../../lambda/facts/cause.ts';
import { ParametersError } from '../../../../lambda/run/services.ts';
import type { Entry } from '../../../../lambda/run/state.ts';
import { aPolicy } from '../../../support/policies.ts';
import {
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aReserved,
  aRunning,
  aSending,
  aVerdict,
} from '../../../support/records.ts';
import { cutoff, day, operation, planned, server, start, type World } from './planned.ts';

/** What Plan says about one policy, field by field. */

const physical = `dataset_operationaspect_v1_${start - 400 * day}`;
const sizes = [{ indexName: physical, entityType: 'dataset', aspect: 'operation', sizeMb: 3 }];
const names = { entityType: 'dataset', aspect: 'operation' };
const policy = { ...names, retentionDays: 30 };
const asked = { ...policy, cutoffMillis: cutoff };
const counted = { ...asked, rowsTotal: 1000, rowsToDelete: 600, strategy: 'delete-by-query' };
const only = async (world: World) => {
  const { state } = await planned(world);
  expect(state.entries).toHaveLength(1);
  return state.entries[0] as Entry;
};
const decided = (facts: object, outcome: string, cause: object) => ({
  index: anIndex,
  phase: 'done',
  entry: { ...facts, outcome, cause },
});

describe('a policy', () => {
  test('that is due is approved, with what Truncate compares with', async () => {
    expect(await only({ sizes })).toStrictEqual({
      index: anIndex,
      phase: 'approved',
      entry: { ...counted, indexName: physical, sizeBeforeMb: 3 },
      policy: aPolicy(),
      plan: { rowsToDelete: 600, strategy: 'delete-by-query' },
    });
    const [{ sizeMb: _, ...unsized }] = sizes as [(typeof sizes)[0]];
    expect((await only({ sizes: [unsized] })).entry).toStrictEqual({ ...counted, indexName: physical });
    expect((await only({})).entry).toStrictEqual(counted);
  });

  test.each<[string, World, object]>([
    [
      'due, in a preview',
      { mode: 'preview' },
      decided(counted, 'would-truncate', { kind: 'due', minDeletePercent: 10 }),
    ],
    [
      'disabled',
      { policies: [{ ...operation, enabled: false }] },
      decided(policy, 'disabled', { kind: 'switched-off' }),
    ],
    [
      'unreadable',
      { policies: [{ ...operation, retentionDays: 1 }] },
      decided(names, 'failed', {
        kind: 'policy',
        problem: 'P, policy 1: retentionDays must be at least 7 (minRetentionDays), not 1',
      }),
    ],
    [
      'below its threshold',
      { counts: () => ({ rowsToDelete: 5 }) },
      decided({ ...counted, rowsToDelete: 5 }, 'below-threshold', { kind: 'below-threshold', minDeletePercent: 10 }),
    ],
    [
      'contradicted by its counts',
      { counts: () => ({ rowsTotal: 5 }) },
      decided({ ...counted, rowsTotal: 5 }, 'failed', { kind: 'guard', which: 'counts' }),
    ],
    [
      'answered in unknown words',
      { counts: () => ({ strategy: undefined as never }) },
      decided({ ...asked, rowsTotal: 1000, rowsToDelete: 600 }, 'failed', {
        kind: 'guard',
        which: 'strategy-unreadable',
      }),
    ],
    [
      'not answered',
      { counts: () => ({ fails: 'timeout' }) },
      decided(asked, 'failed', { kind: 'server', error: { kind: 'timeout', operation: 'dry-run' }, sent: 'no' }),
    ],
    [
      'for an index that is not there',
      { policies: [{ ...operation, aspect: 'operations' }], counts: () => ({ fails: 'no-index' }) },
      {
        ...decided({ ...asked, aspect: 'operations' }, 'failed', {
          kind: 'server',
          error: { kind: 'no-index', operation: 'dry-run' },
          sent: 'no',
          meant: 'dataset.operation',
        }),
        index: 'dataset_operationsaspect_v1',
      },
    ],
    ['too late', { left: 30_000 }, decided(asked, 'failed', { kind: 'stopped', by: 'plan-time' })],
  ])('that is %s is reported as such', async (_, world, expected) => {
    expect(await only(world)).toStrictEqual(expected);
  });

  test('that is unreadable is reported with its mistake even if the run fails', async () => {
    const entry = await only({
      policies: [{ ...operation, retentionDays: 1 }],
      token: new ParametersError('no token'),
    });
    expect(entry.entry).toMatchObject({ ...names, outcome: 'failed', cause: { kind: 'policy' } });
  });

  test('with a defect is left to the workflow', async () => {
    const defect = (): never => {
      throw new TypeError('a defect');
    };
    await expect(planned({ counts: defect })).rejects.toThrow('a defect');
    const policies = [{ ...operation, maxRowsPerRun: 100 }];
    const counts: World['counts'] = ({ endTimeMillis }) => (endTimeMillis < cutoff ? defect() : {});
    await expect(planned({ policies, counts })).rejects.toThrow('a defect');
  });

  test('of a run with a wrong clock is not reported with rows missing', async () => {
    const window = { from: cutoff, to: start - day, rows: 10_000, countedAt: 1 };
    const record = anIdle({ server, lastVerdict: aVerdict({ window }) });
    const world = { records: { [anIndex]: record }, counts: () => ({ clockSkewMillis: 10 ** 6 }) };
    expect((await only(world)).entry).toMatchObject({
      outcome: 'failed',
      cause: { kind: 'guard', which: 'server-clock' },
    });
    expect((await only({ records: world.records })).entry).toMatchObject({ outcome: 'rows-missing' });
  });

  test('whose dry run does not end in time is reported with that cause', async () => {
    expect(await only({ left: 30_001, isSlow: true })).toStrictEqual(
      decided(asked, 'failed', { kind: 'stopped', by: 'plan-time' }),
    );
  });

  test('is counted as long as there is time', async () => {
    expect((await only({ left: 30_001 })).phase).toBe('approved');
  });
});

describe('a policy whose index is not free', () => {
  const theirs = { runId: 'them', runStartMillis: start, reservedAt: start };
  const later = start + 900_000;
  const head = { version: 9, state: 'sending', index: anIndex, ...names, server };
  const running = aRunning({ server, judgeableAt: start });
  const facts = {
    ...policy,
    adopted: true,
    cutoffMillis: 500_000,
    strategy: 'delete-by-query',
    rowsTotal: 100,
    rowsToDelete: 60,
  };
  const sent = { ...facts, indexName: running.attempt.baseline.indexName };

  test.each<[string, object, object]>([
    ['another version’s record', head, decided(policy, 'in-flight', { kind: 'foreign', why: 'version', version: 9 })],
    [
      'a record without a head',
      { nothing: 'known' },
      decided(policy, 'in-flight', { kind: 'foreign', why: 'version' }),
    ],
    [
      'a quarantine',
      aQuarantined({ server }),
      decided(policy, 'quarantined', { kind: 'quarantined', since: 900_000, outcome: 'rows-missing', rowsMissing: 30 }),
    ],
    [
      'a reservation at another address',
      aReserved({ server: 'http://b', judgeableAt: later, attempt: anAttempt({ ...theirs, sendBy: later }) }),
      decided(policy, 'in-flight', { kind: 'foreign', why: 'address', address: 'http://b', ourAddress: server }),
    ],
    [
      'a call that may not be judged yet',
      aSending({ server, judgeableAt: start + 5001 }),
      decided(sent, 'in-flight', { kind: 'held', state: 'sending', runId: 'run-1', until: start + 5001 }),
    ],
  ])('because of %s gets that cause, and is not counted', async (_, record, expected) => {
    const { state, asked: questions } = await planned({ records: { [anIndex]: record } });
    const [entry] = state.entries;
    expect(entry).toStrictEqual(expected);
    expect(questions).toEqual(['sizes']);
  });

  test('is watched if an earlier run left it', async () => {
    const { state } = await planned({ records: { [anIndex]: running } });
    expect(state.entries).toMatchObject([
      {
        phase: 'watched',
        entry: { ...sent, taskId: 'node:1' },
        watch: { attemptId: 'attempt-1', nextLookAt: start + 5000 },
      },
    ]);
    const now = await planned({ records: { [anIndex]: aSending({ server, judgeableAt: start + 5000 }) } });
    expect(now.state.entries[0]?.phase).toBe('watched');
  });

  test('is watched once, even without a policy', async () => {
    const other = aRunning({ server, judgeableAt: start, index: 'other', aspect: 'other' });
    const { state } = await planned({ records: { [anIndex]: running, other } });
    expect(state.entries.map(({ index, phase }) => [index, phase])).toEqual([
      [anIndex, 'watched'],
      ['other', 'watched'],
    ]);
    expect(state.entries[1]?.entry).toMatchObject({ entityType: 'dataset', adopted: true });
    expect(state.entries[1]?.entry).not.toHaveProperty('retentionDays', 30_000);
  });

  test('is left alone by a preview', async () => {
    expect(await only({ mode: 'preview', records: { [anIndex]: running } })).toMatchObject(
      decided({}, 'in-flight', { kind: 'held', state: 'running' }),
    );
  });

  const us = { runId: 'us', runStartMillis: start };

  test.each([
    ['has its verdict', anIdle({ server, lastVerdict: aVerdict({ ...us, window: undefined }) })],
    ['has sent', anIdle({ server, sentBy: [{ ...us, at: start }] })],
    ['has reserved it', aReserved({ server, attempt: anAttempt({ ...us, reservedAt: start, sendBy: later }) })],
  ])('is counted if this run %s and Plan is retried: Truncate detects it', async (_, record) => {
    expect((await only({ records: { [anIndex]: record } })).phase).toBe('approved');
  });

  test('is counted if it may be free before its turn', async () => {
    const reserved = aReserved({ server, attempt: anAttempt({ ...theirs, sendBy: later }) });
    expect((await only({ records: { [anIndex]: reserved } })).phase).toBe('approved');
  });

  test('because this run found rows missing is reported again', async () => {
    const verdict = aVerdict({ runId: 'us', runStartMillis: start });
    const record = aQuarantined({ server, lastVerdict: verdict });
    expect(await only({ records: { [anIndex]: record } })).toStrictEqual({
      index: anIndex,
      phase: 'done',
      entry: verdict.entry,
    });
  });

  describe('under a reservation that is over', () => {
    const window = { from: cutoff, to: start - day, rows: 10_000, countedAt: 1 };
    const over = (at: string) => {
      const attempt = anAttempt({ ...theirs, sendBy: start });
      return { [anIndex]: aReserved({ server: at, lastVerdict: aVerdict({ window }), attempt }) };
    };

    test('is compared with what its last verdict counted', async () => {
      expect((await only({ records: over(server) })).entry).toMatchObject({ outcome: 'rows-missing' });
    });

    test('at another address is taken over, and compared with nothing that was counted there', async () => {
      const { state, asked: questions } = await planned({ records: over('http://b') });
      expect([state.entries[0]?.phase, state.notes]).toStrictEqual(['approved', []]);
      expect(questions).toEqual(['sizes', 'operation 30']);
    });
  });
});

describe('a reindex', () => {
  const reindex = { ...operation, strategy: 'reindex' };
  const counts: World['counts'] = ({ endTimeMillis }) => ({
    strategy: 'reindex',
    rowsToDelete: endTimeMillis > cutoff ? 900 : 600,
  });

  test('is planned if task statuses can be read', async () => {
    const { state, asked: questions, options } = await planned({ policies: [reindex], sizes, counts });
    expect(questions).toEqual(['sizes', 'operation 30', 'status']);
    expect(options).toMatchObject([
      { signal: expect.any(AbortSignal) },
      { signal: expect.any(AbortSignal), attempts: 2 },
    ]);
    expect(state.entries).toMatchObject([
      {
        phase: 'approved',
        plan: { rowsToDelete: 600, strategy: 'reindex' },
      },
    ]);
  });

  test('is refused if reading task statuses is forbidden, which is requested once', async () => {
    const policies = [reindex, { ...reindex, aspect: 'b' }];
    const both = [...sizes, { ...sizes[0]!, aspect: 'b' }];
    const { state, asked: questions } = await planned({
      policies,
      sizes: both,
      counts,
      status: { fails: 'privilege' },
    });
    const cause: Cause = {
      kind: 'guard',
      which: 'task-status',
      error: { kind: 'privilege', operation: 'task-status' },
    };
    expect(state.entries.map(({ entry }) => entry)).toMatchObject([
      { outcome: 'failed', cause },
      { outcome: 'failed', cause },
    ]);
    expect(questions.filter((question) => question === 'status')).toHaveLength(1);
  });

  test('is not started if task statuses cannot be read right now', async () => {
    const { state } = await planned({ policies: [reindex], sizes, counts, status: { fails: 'timeout' } });
    expect(state.entries).toMatchObject([
      { entry: { outcome: 'not-started', cause: { kind: 'guard', which: 'task-status' } } },
    ]);
  });

  test('is not checked for a bite', async () => {
    const bite: World['counts'] = ({ endTimeMillis }) =>
      endTimeMillis < cutoff ? { rowsToDelete: 100 } : { strategy: 'reindex' };
    const entry = await only({ policies: [{ ...operation, maxRowsPerRun: 100 }], counts: bite });
    expect(entry).toMatchObject({
      phase: 'approved',
      plan: { strategy: 'delete-by-query', rowsToDelete: 600, bite: { rows: 100, nights: 6 } },
    });
    expect(entry.entry).toMatchObject({ rowsToDelete: 100, rowsPastRetention: 600, policyCutoffMillis: cutoff });
  });
});

describe('a bite', () => {
  const policies = [{ ...operation, maxRowsPerRun: 100 }];
  const small: World['counts'] = ({ endTimeMillis }) => (endTimeMillis < cutoff ? { rowsToDelete: 100 } : {});

  test.each([
    [330_000, 2],
    [330_001, 3],
    [500_000, 4],
  ])('is searched for as long as there is time: %i ms, %i dry runs', async (left, dryRuns) => {
    const { asked: questions } = await planned({ policies, left, takes: 100_000 });
    expect(questions).toHaveLength(2 + dryRuns);
  });

  test('in a preview reports in how many nights all rows are deleted', async () => {
    expect(await only({ policies, counts: small, mode: 'preview' })).toMatchObject({
      entry: { outcome: 'would-truncate', cause: { kind: 'due', minDeletePercent: 10, bite: 100, nights: 6 } },
    });
  });

  test.each<[string, World['counts'], object]>([
    [
      'is too large',
      () => ({}),
      { outcome: 'above-ceiling', cause: { kind: 'above-ceiling', approveRows: 630, bite: 100 } },
    ],
    [
      'cannot be searched',
      ({ endTimeMillis }) => (endTimeMillis < cutoff ? { fails: 'timeout' } : {}),
      { outcome: 'failed', cause: { kind: 'server', error: { kind: 'timeout', operation: 'dry-run' }, sent: 'no' } },
    ],
    [
      'would be a reindex',
      ({ endTimeMillis }) => (endTimeMillis < cutoff ? { rowsToDelete: 100, strategy: 'reindex' } : {}),
      { outcome: 'failed', cause: { kind: 'guard', which: 'bite-reindex' } },
    ],
    [
      'meets a wrong clock',
      ({ endTimeMillis }) => (endTimeMillis < cutoff ? { rowsToDelete: 100, clockSkewMillis: 10 ** 6 } : {}),
      { outcome: 'failed', cause: { kind: 'guard', which: 'server-clock', found: 10 ** 6 } },
    ],
  ])('that %s is reported as such', async (_, counts, expected) => {
    const { entry } = (await only({ policies, counts })) as { entry: { outcome?: string; cause?: Cause } };
    expect({ outcome: entry.outcome, cause: entry.cause }).toStrictEqual(expected);
  });
});
