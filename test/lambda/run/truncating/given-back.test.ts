import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../../lambda/facts/cause.ts';
import type { Outcome } from '../../../../lambda/facts/outcome.ts';
import type { DoneEntry } from '../../../../lambda/run/state.ts';
import { anIdle, anIndex } from '../../../support/records.ts';
import { counted, cutoff, day, refusal, sends, server, started, type World } from './started.ts';

/** What Truncate finds out under its reservation that keeps it from sending. */

describe('it is given back', () => {
  test('where the counts keep moving', async () => {
    const counts: World['counts'] = ({ endTimeMillis }, at) =>
      endTimeMillis > cutoff ? {} : { rowsToDelete: 600 + at * 50 };
    expect(await refusal({ counts, plan: { rowsToDelete: 1 } })).toStrictEqual([
      'not-started',
      { kind: 'counts-moved' },
      {},
    ]);
    const later: World['counts'] = ({ endTimeMillis }, at) =>
      endTimeMillis > cutoff ? {} : { rowsToDelete: at < 4 ? 500 : 400 + at * 50 };
    expect(await refusal({ counts: later })).toStrictEqual(['not-started', { kind: 'counts-moved' }, {}]);
  });

  /** Rows to delete in the first count, in the second, and from then on. */
  const falling =
    (first: number, second: number): World['counts'] =>
    ({ endTimeMillis }, at) =>
      endTimeMillis > cutoff ? {} : { rowsToDelete: at <= 3 ? first : second };

  test('where somebody goes on deleting', async () => {
    const { slept, entry } = await started({ counts: falling(500, 499) });
    expect(slept).toEqual([30_000]);
    expect((entry as DoneEntry).entry).toMatchObject({
      outcome: 'not-started',
      cause: { kind: 'others-deleting', planned: 600, found: 499 },
      rowsTotal: 1000,
      rowsToDelete: 499,
    });
  });

  test.each<[string, World, boolean, number]>([
    ['as many as planned', {}, true, 0],
    ['1 % fewer', { counts: falling(594, 594) }, true, 0],
    ['more than 1 % fewer, and no fewer after that', { counts: falling(593, 593) }, true, 1],
    [
      '0.1 % fewer after that',
      { plan: { rowsToDelete: 5000 }, counts: falling(1000, 999), policy: { maxDeletePercent: 100 } },
      true,
      1,
    ],
    [
      '0.2 % fewer after that',
      { plan: { rowsToDelete: 5000 }, counts: falling(1000, 998), policy: { maxDeletePercent: 100 } },
      false,
      1,
    ],
  ])('or sent with %s', async (_, world, isSent, pauses) => {
    const { sent, slept } = await started(world);
    expect([sent.length === 1, slept.length]).toEqual([isSent, pauses]);
  });

  test('where the last dry run is not what the windows were counted around', async () => {
    const last =
      (rowsToDelete: number): World['counts'] =>
      (_, at) =>
        at === 4 ? { rowsToDelete } : {};
    expect(await sends({ counts: last(590) })).toBe(true);
    expect(await sends({ counts: last(610) })).toBe(true);
    expect(await refusal({ counts: last(589) })).toStrictEqual([
      'not-started',
      { kind: 'counts-moved' },
      { rowsTotal: 1000, rowsToDelete: 589 },
    ]);
    const many =
      (rowsToDelete: number): World['counts'] =>
      ({ endTimeMillis }, at) => ({
        rowsToDelete: endTimeMillis > cutoff ? 9000 : at === 4 ? rowsToDelete : 6000,
        rowsTotal: 9000,
      });
    expect(await sends({ plan: { rowsToDelete: 6000 }, counts: many(5940) })).toBe(true);
    expect(await sends({ plan: { rowsToDelete: 6000 }, counts: many(5939) })).toBe(false);
  });

  test.each<[string, World, Outcome, Cause]>([
    [
      'the orders have changed',
      { current: { retentionDays: 31 } },
      'not-started',
      { kind: 'policy-changed', field: 'retentionDays', was: 30, now: 31 },
    ],
    [
      'a request fails',
      { fails: 'timeout' },
      'failed',
      { kind: 'server', error: { kind: 'timeout', operation: 'dry-run' }, sent: 'no' },
    ],
  ])('where %s', async (_, world, outcome, cause) => {
    expect(await refusal(world)).toStrictEqual([outcome, cause, {}]);
  });

  test.each<[string, World, Outcome, Cause]>([
    [
      'it is not worth it any more',
      { policy: { minDeletePercent: 61 } },
      'below-threshold',
      { kind: 'below-threshold', minDeletePercent: 61 },
    ],
    [
      'it is above its ceiling',
      { policy: { maxDeletePercent: 50 } },
      'above-ceiling',
      { kind: 'above-ceiling', maxDeletePercent: 50, approveRows: 630 },
    ],
    [
      'it is above what was approved',
      { policy: { maxDeletePercent: 50 }, state: { approveRows: 599 } },
      'above-ceiling',
      { kind: 'above-ceiling', maxDeletePercent: 50, approveRows: 630, approved: 599 },
    ],
    [
      'the server’s clock is wrong',
      { counts: () => ({ clockSkewMillis: 600_001 }) },
      'failed',
      { kind: 'guard', which: 'server-clock', found: 600_001 },
    ],
    [
      'the server would now reindex',
      { counts: () => ({ strategy: 'reindex' }) },
      'not-started',
      { kind: 'strategy-flipped', was: 'delete-by-query', now: 'reindex' },
    ],
    ['more than a bite would go', { policy: { maxRowsPerRun: 594 } }, 'not-started', { kind: 'counts-moved' }],
  ])('where %s', async (_, world, outcome, cause) => {
    expect(await refusal(world)).toStrictEqual([outcome, cause, counted]);
  });

  test('but sent where a person approves, and up to a hundredth above a bite', async () => {
    expect(await sends({ policy: { maxDeletePercent: 50 }, state: { approveRows: 600 } })).toBe(true);
    expect(await sends({ policy: { maxRowsPerRun: 595 } })).toBe(true);
    expect(await sends({ policy: { maxRowsPerRun: 500 }, state: { approveRows: 600 } })).toBe(true);
  });

  test('with the whole of which it is a bite, where that is above its ceiling', async () => {
    const bite = { cutoffMillis: cutoff - day, rows: 600 };
    const counts: World['counts'] = ({ endTimeMillis }) => ({ rowsToDelete: endTimeMillis < cutoff ? 600 : 900 });
    expect(
      await refusal({
        plan: { bite, rowsToDelete: 900 },
        policy: { maxRowsPerRun: 600, maxDeletePercent: 80 },
        counts,
      }),
    ).toStrictEqual([
      'above-ceiling',
      { kind: 'above-ceiling', maxDeletePercent: 80, approveRows: 945 },
      { ...counted, rowsPastRetention: 900 },
    ]);
  });

  test('where its time ends before the server has answered, which every question is told', async () => {
    expect(await refusal({ left: 150_001, isSlow: true })).toStrictEqual([
      'failed',
      { kind: 'no-time', what: 'send' },
      {},
    ]);
    const { signals } = await started({});
    expect(signals).toHaveLength(5);
    for (const signal of signals) expect(signal).toBeInstanceOf(AbortSignal);
  });

  test('by nobody where a defect ends it: the reservation is over by itself', async () => {
    await expect(started({ fails: new TypeError('a defect') })).rejects.toThrow('a defect');
  });

  test('where its dry run is too old when it is to be written down', async () => {
    const late =
      (millis: number): World['counts'] =>
      (_, at, { clock }) => {
        if (at === 4) clock.time += millis;
        return {};
      };
    expect(await sends({ counts: late(59_999) })).toBe(true);
    expect(await refusal({ counts: late(60_000) })).toStrictEqual([
      'not-started',
      { kind: 'no-time', what: 'send' },
      {},
    ]);
  });

  test('where another run has taken the record', async () => {
    const meanwhile: World['meanwhile'] = (ledger) =>
      ledger.stored.set(anIndex, anIdle({ server, attemptId: 'other' }));
    expect(await refusal({ meanwhile })).toStrictEqual(['in-flight', { kind: 'taken', closed: false }, {}]);
  });
});
