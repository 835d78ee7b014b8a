import { describe, expect, test } from 'vitest';
import { comparedFields } from '../../../../lambda/facts/cause.ts';
import { searchIndex } from '../../../../lambda/policy/aspects.ts';
import { ordersOf, type Policy, policySchema } from '../../../../lambda/policy/schema.ts';
import { ordersNow, pausedCause, problemOf, readPolicies } from '../../../../lambda/run/orders.ts';
import { ParametersError } from '../../../../lambda/run/services.ts';
import type { ApprovedEntry } from '../../../../lambda/run/state.ts';
import { aPolicy } from '../../../support/policies.ts';

/** What the operator wants just before the call: any difference from what Plan's decision was based on stops it. */

const settings = { stage: 's', gmsUrl: 'https://gms', mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 } as const;
const written = { entityType: 'dataset', aspect: 'operation', retentionDays: 30 };
const token = { get: async () => '', reread: async () => '' };

const orders = (policies: unknown[] | Error, paused: boolean | Error = false, maxRowsPerRun?: number) => ({
  settings: { ...settings, ...(maxRowsPerRun !== undefined && { maxRowsPerRun }) },
  parameters: {
    token,
    policies: async () => {
      if (policies instanceof Error) throw policies;
      return policies.map((policy, at) => ({ name: `p${at}`, text: JSON.stringify(policy) }));
    },
    paused: async () => {
      if (paused instanceof Error) throw paused;
      return paused;
    },
  },
});
const target = (policy: Policy = aPolicy()): ApprovedEntry => ({
  index: searchIndex(policy),
  phase: 'approved',
  entry: policy,
  policy,
  plan: { rowsToDelete: 5, strategy: 'delete-by-query' },
});

describe('the orders just before the call', () => {
  test('that are unchanged allow it', async () => {
    expect(await ordersNow(target(), orders([written]))).toBeUndefined();
    expect(
      await ordersNow(target(), orders([{ ...written, retentionDays: 5000, aspect: 'other' }, written])),
    ).toBeUndefined();
  });

  test('in another spelling are unchanged', async () => {
    expect(
      await ordersNow(target(), orders([{ ...written, entityType: 'DATASET', aspect: 'Operation' }])),
    ).toBeUndefined();
  });

  test('may change owner and note', async () => {
    expect(await ordersNow(target(), orders([{ ...written, owner: 'us', note: 'because' }]))).toBeUndefined();
  });

  test.each<[string, unknown, unknown, unknown]>([
    ['enabled', false, true, false],
    ['retentionDays', 31, 30, 31],
    ['retentionDays', 29, 30, 29],
    ['minDeletePercent', 11, 10, 11],
    ['maxDeletePercent', 90, undefined, 90],
    ['strategy', 'reindex', 'delete-by-query', 'reindex'],
    ['batchSize', 5, 10_000, 5],
    ['timeoutSeconds', 60, undefined, 60],
    ['maxRowsPerRun', 1000, undefined, 1000],
  ])('with another %s prevent it', async (field, value, was, now) => {
    const cause = await ordersNow(target(), orders([{ ...written, [field]: value }]));
    expect(cause).toEqual({ kind: 'changed', what: field, ...(was !== undefined && { was }), now });
  });

  test('with a field removed prevent it', async () => {
    const cause = await ordersNow(target(aPolicy({ maxDeletePercent: 90 })), orders([written]));
    expect(cause).toEqual({ kind: 'changed', what: 'maxDeletePercent', was: 90 });
  });

  test.each<[string, Parameters<typeof orders>, unknown]>([
    ['no policy any more', [[]], { kind: 'changed', what: 'policy-removed' }],
    ['one for another index', [[{ ...written, aspect: 'other' }]], { kind: 'changed', what: 'policy-removed' }],
    ['a second one for it', [[written, written]], { kind: 'changed', what: 'policy-duplicate' }],
    [
      'one that cannot be read',
      [[{ ...written, retentionDays: 'x' }]],
      { kind: 'changed', what: 'policy-unreadable', now: expect.stringContaining('retentionDays') },
    ],
    [
      'unreachable policies',
      [new ParametersError('SSM is out of reach')],
      { kind: 'changed', what: 'policy-unreadable', now: 'SSM is out of reach' },
    ],
    ['a pause', [[written], true], { kind: 'paused' }],
    ['a pause that cannot be determined', [[written], new Error('SSM')], { kind: 'paused', problem: 'SSM' }],
    ['a pause, and no policy', [[], true], { kind: 'paused' }],
  ])('%s prevent it', async (_, given, expected) => {
    expect(await ordersNow(target(), orders(...given))).toEqual(expected);
  });

  test('with another default bite of the stage prevent it, unless the policy has its own', async () => {
    expect(await ordersNow(target(), orders([written], false, 500))).toStrictEqual({
      kind: 'changed',
      what: 'maxRowsPerRun',
      now: 500,
    });
    const own = { ...written, maxRowsPerRun: 9 };
    expect(await ordersNow(target(aPolicy({ maxRowsPerRun: 9 })), orders([written]))).toStrictEqual({
      kind: 'changed',
      what: 'maxRowsPerRun',
      was: 9,
    });
    expect(await ordersNow(target(aPolicy({ maxRowsPerRun: 9 })), orders([own], false, 500))).toBeUndefined();
  });
});

test('orders are every field of a policy but owner and note, and no field that is not set', () => {
  const { owner, note, ...others } = policySchema(7).shape;
  expect([owner, note]).not.toContain(undefined);
  expect(Object.keys(others).sort()).toEqual([...comparedFields].sort());
  const { owner: _, note: __, ...compared } = aPolicy({ owner: 'us', note: 'because' });
  expect(ordersOf(aPolicy({ owner: 'us', note: 'because' }))).toStrictEqual(compared);
});

describe('policies', () => {
  test('without a bite get the stage’s, except for a reindex, which copies everything anyway', async () => {
    const given = orders(
      [written, { ...written, aspect: 'b', maxRowsPerRun: 7 }, { ...written, aspect: 'c', strategy: 'reindex' }, 5],
      false,
      100,
    );
    const bites = (await readPolicies(given)).map((item) =>
      item.kind === 'policy' ? item.policy.maxRowsPerRun : item.kind,
    );
    expect(bites).toEqual([100, 7, undefined, 'invalid']);
    expect((await readPolicies(orders([written])))[0]).toMatchObject({
      policy: expect.not.objectContaining({ maxRowsPerRun: 1 }),
    });
  });

  test('that cannot be read throw, as their source does', async () => {
    await expect(readPolicies(orders(new ParametersError('gone')))).rejects.toThrow('gone');
  });
});

test('a pause that cannot be read counts as a pause', async () => {
  expect(await pausedCause(orders([], false))).toBeUndefined();
  expect(await pausedCause(orders([], true))).toEqual({ kind: 'paused' });
});

test('errors about configuration are kept up to 600 bytes', () => {
  expect(problemOf(new Error('x'.repeat(600)))).toBe('x'.repeat(600));
  expect(new ParametersError('x').name).toBe('ParametersError');
  expect(problemOf(new Error('x'.repeat(601)))).toBe(`${'x'.repeat(597)}…`);
  expect(problemOf('text')).toBe('text');
});
