import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../../lambda/facts/cause.ts';
import { biteTolerance } from '../../../../lambda/facts/limits.ts';
import type { Outcome } from '../../../../lambda/facts/outcomes.ts';
import { anIdle, anIndex } from '../../../support/records.ts';
import { counted, cutoff, day, refusal, sends, server, start, started, type World } from './started.ts';

/** What Truncate finds out after it has reserved an index that prevents it from sending. */

/** A bite that 600 rows exceed by more than its tolerance. */
const mostTooFew = Math.ceil(600 / (1 + biteTolerance)) - 1;

describe('a reservation is given back', () => {
  /** Rows to delete in the first count of the cutoff, and from the second one on. */
  const falling =
    (first: number, then: number): World['counts'] =>
    ({ endTimeMillis }, at) =>
      endTimeMillis > cutoff ? {} : { rowsToDelete: at === 1 ? first : then };
  const changed = { kind: 'changed', what: 'rows' } as const;

  test('if the counts keep moving', async () => {
    const counts: World['counts'] = ({ endTimeMillis }, at) =>
      endTimeMillis > cutoff ? {} : { rowsToDelete: 600 + at * 50 };
    expect(await refusal({ counts })).toStrictEqual(['not-started', changed, {}]);
  });

  test('if other processes have deleted all its rows, also of a bite', async () => {
    const none = { rowsTotal: 1000, rowsToDelete: 0 };
    expect(await refusal({ counts: falling(0, 0) })).toStrictEqual([
      'not-started',
      { ...changed, was: 600, now: 0 },
      none,
    ]);
    const bite = { cutoffMillis: cutoff - day, rows: 250 };
    const counts: World['counts'] = ({ endTimeMillis }) => ({ rowsToDelete: endTimeMillis < cutoff ? 0 : 600 });
    expect(await refusal({ plan: { bite }, policy: { maxRowsPerRun: 250 }, counts })).toStrictEqual([
      'not-started',
      { ...changed, was: 250, now: 0 },
      { ...none, rowsPastRetention: 600 },
    ]);
  });

  test.each<[string, World, number]>([
    ['as many as planned', {}, 3],
    ['half as many, which others have deleted since', { counts: falling(300, 300) }, 3],
    ['1 % fewer in the last count', { counts: falling(1000, 990), policy: { maxDeletePercent: 100 } }, 3],
    [
      'more than 1 % fewer, which are counted again',
      { counts: falling(1000, 989), policy: { maxDeletePercent: 100 } },
      5,
    ],
  ])('or its truncate sent, with %s', async (_, world, questions) => {
    const { sent, moments } = await started(world);
    expect([sent.length, moments.length]).toEqual([1, questions]);
  });

  test('only after the orders are read again, just before the last count', async () => {
    const events: (string | number)[] = [];
    const world: World = {
      counts: ({ endTimeMillis }) => {
        events.push(endTimeMillis);
        return {};
      },
      meanwhile: () => void events.push('orders'),
      onSend: () => void events.push('sent'),
    };
    await started(world);
    expect(events).toEqual([cutoff, start, 'orders', cutoff, 'sent']);
  });

  test.each<[string, World, Outcome, Cause]>([
    [
      'the orders have changed',
      { current: { retentionDays: 31 } },
      'not-started',
      { kind: 'changed', what: 'retentionDays', was: 30, now: 31 },
    ],
    [
      'a request fails',
      { fails: 'timeout' },
      'failed',
      { kind: 'server', error: { kind: 'timeout', operation: 'dry-run' }, sent: 'no' },
    ],
  ])('if %s', async (_, world, outcome, cause) => {
    expect(await refusal(world)).toStrictEqual([outcome, cause, {}]);
  });

  test.each<[string, World, Outcome, Cause]>([
    [
      'it is below its threshold by now',
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
      { kind: 'changed', what: 'server-strategy', was: 'delete-by-query', now: 'reindex' },
    ],
    [
      'more than a bite would go',
      { policy: { maxRowsPerRun: mostTooFew } },
      'not-started',
      { kind: 'changed', what: 'rows', was: 600, now: 600 },
    ],
  ])('if %s', async (_, world, outcome, cause) => {
    expect(await refusal(world)).toStrictEqual([outcome, cause, counted]);
  });

  test('or its truncate sent, with an approval, and up to the tolerance above a bite', async () => {
    expect(await sends({ policy: { maxDeletePercent: 50 }, state: { approveRows: 600 } })).toBe(true);
    expect(await sends({ policy: { maxRowsPerRun: mostTooFew + 1 } })).toBe(true);
    expect(await sends({ policy: { maxRowsPerRun: 500 }, state: { approveRows: 600 } })).toBe(true);
  });

  test('with all rows to delete, if those of a bite are above its ceiling', async () => {
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

  test('if its time ends before the server answers, which limits every request', async () => {
    expect(await refusal({ left: 150_001, isSlow: true })).toStrictEqual([
      'failed',
      { kind: 'stopped', by: 'send-time' },
      {},
    ]);
    const { signals } = await started({});
    expect(signals).toHaveLength(4);
    for (const signal of signals) expect(signal).toBeInstanceOf(AbortSignal);
  });

  test('only by its expiry after a defect', async () => {
    await expect(started({ fails: new TypeError('a defect') })).rejects.toThrow('a defect');
  });

  test('if its dry run is too old when it would be recorded', async () => {
    const late =
      (millis: number): World['counts'] =>
      (_, at, { clock }) => {
        if (at === 3) clock.time += millis;
        return {};
      };
    expect(await sends({ counts: late(59_999) })).toBe(true);
    expect(await refusal({ counts: late(60_000) })).toStrictEqual([
      'not-started',
      { kind: 'stopped', by: 'send-time' },
      {},
    ]);
  });

  test('unless another run has taken the record', async () => {
    const meanwhile: World['meanwhile'] = (ledger) =>
      ledger.stored.set(anIndex, anIdle({ server, attemptId: 'other' }));
    expect(await refusal({ meanwhile })).toStrictEqual(['in-flight', { kind: 'held', state: 'taken' }, {}]);
  });
});
