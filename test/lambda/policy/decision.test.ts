import { describe, expect, test } from 'vitest';
import type { CauseOf } from '../../../lambda/model/cause.ts';
import { dayMillis } from '../../../lambda/model/time.ts';
import {
  checks,
  type DecisionInput,
  decide,
  policyCutoff,
  type Rejection,
  withHeadroom,
} from '../../../lambda/policy/decision.ts';
import type { PolicySettings } from '../../../lambda/policy/schema.ts';
import { aPolicy } from '../../support/policies.ts';

/** Why an index is not truncated (rules 2 and 3). Everything is due, unless a case says otherwise: 50 of 100 rows. */

const runStartMillis = Date.UTC(2026, 0, 1);
const daysBefore = (days: number) => runStartMillis - days * dayMillis;

interface Case extends Omit<Partial<DecisionInput>, 'policy' | 'dryRun' | 'before'> {
  policy?: Partial<PolicySettings>;
  dryRun?: Partial<DecisionInput['dryRun']>;
  /** The baseline has as many rows as the dry run unless it says otherwise. */
  before?: Partial<NonNullable<DecisionInput['before']>>;
}

function factsOf({ policy, dryRun, before, ...more }: Case): DecisionInput {
  const counted = { rowsToDelete: 50, rowsTotal: 100, method: 'delete' as const, ...dryRun };
  const { rowsToDelete: baselineRows, method } = counted;
  return {
    policy: { ...aPolicy(), ...policy },
    dryRun: counted,
    runStartMillis,
    cutoffMillis: daysBefore(30),
    nowMillis: runStartMillis + 60_000,
    minRetentionDays: 7,
    isLimited: false,
    before: {
      settings: undefined,
      planned: { rowsToDelete: counted.rowsToDelete, method },
      isAgreed: false,
      baselineRows,
      ...before,
    },
    ...more,
  };
}

const refusal = (given: Case, step: 'plan' | 'truncate' = 'plan') => decide(step, factsOf(given));
const outcome = (given: Case, step?: 'truncate') => refusal(given, step)?.outcome ?? 'due';
/** Rows to delete of 100. */
const rows = (rowsToDelete: number) => ({ dryRun: { rowsToDelete } });

/** The fields of each guard, without its kind. */
type GuardFacts = CauseOf<'guard'> extends infer Guard ? (Guard extends object ? Omit<Guard, 'kind'> : never) : never;

describe('every check', () => {
  const error = { kind: 'privilege', operation: 'task-status', status: 403 } as const;
  const guard = (facts: GuardFacts): Rejection => ({
    outcome: 'failed',
    cause: { kind: 'guard', ...facts } as CauseOf<'guard'>,
  });
  const notStarted = (cause: Rejection['cause']): Rejection => ({ outcome: 'not-started', cause });
  /** For each check, facts that it alone rejects. */
  const examples: Record<keyof typeof checks, [Case, Rejection]> = {
    settings: [
      { before: { settings: { kind: 'stopped', by: 'paused' } } },
      notStarted({ kind: 'stopped', by: 'paused' }),
    ],
    serverClock: [{ dryRun: { clockSkewMillis: 600_001 } }, guard({ which: 'server-clock', found: 600_001 })],
    startInFuture: [{ nowMillis: runStartMillis - 60_001 }, guard({ which: 'start-in-future', found: 60_001 })],
    floor: [{ cutoffMillis: daysBefore(7) + 1 }, guard({ which: 'floor', expected: 7 })],
    counts: [{ ...rows(101), policy: { maxDeletePercent: 100 }, approveRows: 101 }, guard({ which: 'counts' })],
    nothingToDelete: [
      { ...rows(0), policy: { minDeletePercent: 0 } },
      { outcome: 'nothing-to-delete', cause: { kind: 'not-due' } },
    ],
    threshold: [rows(9), { outcome: 'below-threshold', cause: { kind: 'not-due', minDeletePercent: 10 } }],
    ceiling: [
      { ...rows(60), policy: { maxDeletePercent: 50 }, approveRows: 59 },
      {
        outcome: 'above-ceiling',
        cause: { kind: 'above-ceiling', maxDeletePercent: 50, approveRows: 63, approved: 59 },
      },
    ],
    grown: [
      { before: { planned: { rowsToDelete: 24, method: 'delete' } } },
      notStarted({ kind: 'changed', what: 'grown', was: 24, now: 50 }),
    ],
    refuseReindex: [
      { dryRun: { method: 'reindex' }, policy: { refuseReindex: true } },
      guard({ which: 'refuse-reindex' }),
    ],
    taskStatus: [{ dryRun: { method: 'reindex' }, taskStatusError: error }, guard({ which: 'task-status', error })],
    methodChanged: [
      { dryRun: { method: 'reindex' }, before: { planned: { rowsToDelete: 50, method: 'delete' } } },
      notStarted({ kind: 'changed', what: 'method', method: 'reindex' }),
    ],
    rowsChanged: [{ before: { baselineRows: 61 } }, notStarted({ kind: 'changed', what: 'rows', was: 61, now: 50 })],
    rowLimit: [
      { policy: { maxRowsPerRun: 49 }, before: { planned: { rowsToDelete: 40, method: 'delete' } } },
      notStarted({ kind: 'changed', what: 'rows', was: 40, now: 50 }),
    ],
  };

  test('is asked in both steps, except those that one step cannot know yet, or need not ask again', () => {
    const notAsked = (step: 'plan' | 'truncate' | 'limited') =>
      Object.entries(checks).flatMap(([name, check]) => (check[step] === 'asked' ? [] : [name]));
    expect(notAsked('plan')).toEqual(['settings', 'grown', 'methodChanged', 'rowsChanged', 'rowLimit']);
    expect([notAsked('truncate'), notAsked('limited')]).toEqual([['taskStatus'], ['threshold', 'ceiling']]);
  });

  for (const [name, [given, expected]] of Object.entries(examples)) {
    const check = checks[name as keyof typeof checks];
    test.each(['plan', 'truncate'] as const)(
      `${name} in %s: refuses where it is asked, and nothing else does`,
      (step) => {
        expect(refusal(given, step)).toEqual(check[step] === 'asked' ? expected : undefined);
        const others = Object.entries(checks).filter(([other]) => other !== name);
        for (const [other, { rejection: ask }] of others) expect(ask(factsOf(given)), other).toBeUndefined();
      },
    );
  }

  test('lets pass what is due', () => {
    expect([refusal({}), refusal({}, 'truncate'), refusal({ before: undefined } as Case)]).toEqual(
      Array(3).fill(undefined),
    );
  });

  test('that Truncate alone asks refuses to be asked without what it compares', () => {
    expect(() => decide('truncate', { ...factsOf({}), before: undefined as never })).toThrow('read just before');
  });
});

test('a cutoff is counted from the run’s start, to the millisecond', () => {
  expect(policyCutoff(runStartMillis + 1, { retentionDays: 30 })).toBe(daysBefore(30) + 1);
});

test.each<[string, Case, string]>([
  ['at its percentage', rows(10), 'due'],
  ['below it', rows(9), 'below-threshold'],
  ['0 %, of one row', { policy: { minDeletePercent: 0 }, dryRun: { rowsToDelete: 1, rowsTotal: 1_000_000 } }, 'due'],
  ['an empty index', { dryRun: { rowsToDelete: 0, rowsTotal: 0 } }, 'nothing-to-delete'],
  ['nothing to delete, and a wrong clock', { dryRun: { rowsToDelete: 0, clockSkewMillis: 10 ** 6 } }, 'failed'],
])('the threshold: %s', (_, given, expected) => {
  expect(outcome(given)).toBe(expected);
});

describe('the ceiling', () => {
  test.each<[string, Case, string]>([
    ['at its percentage', { policy: { maxDeletePercent: 80 }, ...rows(80) }, 'due'],
    ['above it', { policy: { maxDeletePercent: 80 }, ...rows(81) }, 'above-ceiling'],
    ['none, and one row stays', { dryRun: { rowsToDelete: 999_999, rowsTotal: 1_000_000 } }, 'due'],
    ['none, and no row stays', { dryRun: { rowsToDelete: 1_000_000, rowsTotal: 1_000_000 } }, 'above-ceiling'],
    ['100 %', { policy: { maxDeletePercent: 100 }, ...rows(100) }, 'due'],
    ['approved', { ...rows(100), approveRows: 100 }, 'due'],
    ['above what was approved', { ...rows(100), approveRows: 99 }, 'above-ceiling'],
    ['approved, below the threshold', { ...rows(5), approveRows: 100 }, 'below-threshold'],
  ])('%s', (_, given, expected) => {
    expect(outcome(given)).toBe(expected);
  });

  test('asks for a number with room for rows that age until a person approves', () => {
    expect([1, 100, 101].map(withHeadroom)).toEqual([2, 105, 107]);
  });
});

test.each<[string, Case, string]>([
  ['below the threshold', rows(1), 'due'],
  ['above the ceiling', rows(100), 'due'],
  ['nothing to delete', rows(0), 'nothing-to-delete'],
  ['more than all rows', rows(101), 'failed'],
  ['announced as a reindex', { dryRun: { method: 'reindex' }, policy: { refuseReindex: true } }, 'failed'],
])('what a row limit has made smaller: %s', (_, given, expected) => {
  expect(outcome({ ...given, isLimited: true })).toBe(expected);
});

describe('the guards', () => {
  const floor = { cutoffMillis: daysBefore(7) };
  test.each<[string, Case, string]>([
    ['a server’s clock ten minutes ahead', { dryRun: { clockSkewMillis: 600_000 } }, 'due'],
    ['a server’s clock ten minutes behind', { dryRun: { clockSkewMillis: -600_000 } }, 'due'],
    ['a server’s clock further behind', { dryRun: { clockSkewMillis: -600_001 } }, 'failed'],
    ['a start a minute ahead of our clock', { nowMillis: runStartMillis - 60_000 }, 'due'],
    ['a start days ahead of our clock', { nowMillis: runStartMillis - 25 * dayMillis }, 'failed'],
    ['a cutoff at the floor', floor, 'due'],
    ['a cutoff of a year ago', { cutoffMillis: daysBefore(365) }, 'due'],
    ['a cutoff at the floor, our clock behind', { ...floor, nowMillis: runStartMillis - 60_000 }, 'due'],
    ['a cutoff at the floor, the server’s clock behind', { ...floor, dryRun: { clockSkewMillis: -600_000 } }, 'due'],
    ['a cutoff at the floor, the server’s clock ahead', { ...floor, dryRun: { clockSkewMillis: 5 } }, 'due'],
    [
      'a cutoff at the floor, both clocks behind',
      { ...floor, nowMillis: runStartMillis - 60_000, dryRun: { clockSkewMillis: -540_001 } },
      'failed',
    ],
    ['a cutoff at the start, no floor', { cutoffMillis: runStartMillis, minRetentionDays: 0 }, 'failed'],
    ['a cutoff that is not a number', { cutoffMillis: Number.NaN }, 'failed'],
    ['a reindex that is refused, and not due', { ...rows(1), policy: { refuseReindex: true } }, 'below-threshold'],
    ['a policy that refuses reindexes, and a delete', { policy: { refuseReindex: true } }, 'due'],
  ])('%s', (_, given, expected) => {
    expect(outcome(given)).toBe(expected);
  });
});

describe('just before the call', () => {
  const many = (rowsToDelete: number) => ({
    dryRun: { rowsToDelete, rowsTotal: 200_000 },
    before: { baselineRows: 100_000 },
  });
  const reindex = { dryRun: { method: 'reindex' as const } };
  const limited = { isLimited: true, policy: { maxRowsPerRun: 50 } };
  const planned = (rowsToDelete: number, dryRun = {}): Case => ({
    dryRun,
    before: { planned: { rowsToDelete, method: 'delete' } },
  });
  const agreed = (rowsToDelete: number, baselineRows = 50): Case => ({
    before: { planned: { rowsToDelete, method: 'delete' }, isAgreed: true, baselineRows },
  });
  test.each<[string, Case, string]>([
    ['ten rows fewer than the baseline', { before: { baselineRows: 60 } }, 'due'],
    ['ten rows more', { before: { baselineRows: 40 } }, 'due'],
    ['eleven rows more', { before: { baselineRows: 39 } }, 'not-started'],
    ['1 % fewer of many', many(99_000), 'due'],
    ['more than 1 % fewer of many', many(98_999), 'not-started'],
    ['a reindex, the same', reindex, 'due'],
    ['a reindex, one row fewer', { ...reindex, before: { baselineRows: 51 } }, 'not-started'],
    [
      'a delete where a reindex was announced',
      { before: { planned: { rowsToDelete: 50, method: 'reindex' } } },
      'not-started',
    ],
    ['twice as many as planned', planned(25), 'due'],
    ['more than twice as many', planned(24), 'not-started'],
    ['more than twice as many, as approved', { ...planned(24), approveRows: 50 }, 'due'],
    ['a few rows, and ten more', planned(40, { rowsToDelete: 50 }), 'due'],
    ['a tenth and ten more than a person agreed to', agreed(45), 'due'],
    ['eleven rows more than a person agreed to', agreed(39), 'not-started'],
    ['a tenth more of many than a person agreed to', { ...many(110_000), ...agreed(100_000, 110_000) }, 'due'],
    ['more than a tenth of many', { ...many(110_001), ...agreed(100_000, 110_001) }, 'not-started'],
    ['more than a person agreed to, although a limit holds', { ...limited, ...agreed(30) }, 'not-started'],
    ['fewer than planned', planned(60), 'due'],
    ['at the row limit', limited, 'due'],
    ['above the row limit, as approved', { ...limited, ...rows(51), approveRows: 51 }, 'due'],
    ['a reindex above the row limit, which goes whole', { ...reindex, policy: { maxRowsPerRun: 10 } }, 'due'],
    ['old rows that came in where no limit was needed', { policy: { maxRowsPerRun: 50 }, ...rows(51) }, 'not-started'],
  ])('%s', (_, given, expected) => {
    expect(outcome(given, 'truncate')).toBe(expected);
  });
});
