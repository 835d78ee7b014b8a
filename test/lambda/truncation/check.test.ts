import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { type IndexSize, type Operations, OperationsError, type TaskStatus } from '../../../lambda/gms/operations.ts';
import type { LedgerRecord, Unresolved } from '../../../lambda/ledger/record.ts';
import type { ServerError } from '../../../lambda/model/server-error.ts';
import { check } from '../../../lambda/truncation/check.ts';
import { startWatch, type Watch } from '../../../lambda/truncation/watch.ts';
import {
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aReindex,
  aReleased,
  aRun,
  aRunning,
} from '../../support/records.ts';

/** One check of a truncation of 60 of 100 rows that was sent at 1,200 s. */

/** What one check finds. */
interface Found {
  record?: Unresolved;
  watch?: Partial<Watch>;
  status: TaskStatus | (() => Promise<TaskStatus>);
  /** Rows to delete that are left, or why nothing is counted. */
  left: number | (() => never);
  /** Rows to keep, as this check counts them. */
  kept?: number;
  /** Why the next runs' window is not counted. */
  window?: () => never;
  sizes?: () => Promise<IndexSize[]>;
  /** What the record is by the time of the verdict. */
  meanwhile?: LedgerRecord | object;
  now: number;
  /** Of the run that checks. */
  runStart: number;
  isLastCheck: boolean;
}

const { signal } = new AbortController();

/** Checks once. @returns what came of it, the record afterwards, and the options of each count */
async function checkedOnce(
  { record = aRunning(), status, left, kept = 40, window, sizes, meanwhile, now, runStart, isLastCheck, watch }: Found,
  begun: (record: Unresolved) => Watch = (given) => startWatch(given, 0, 0),
) {
  const ledger = memoryLedger();
  ledger.stored.set(anIndex, record);
  const options: unknown[] = [];
  const counted = (rowsToDelete: number, of: number) => ({ rowsToDelete, rowsTotal: of + kept, method: 'delete' });
  const operations = {
    async dryRun({ cutoffMillis }: { cutoffMillis: number }, given: unknown) {
      options.push(given);
      if (meanwhile) ledger.stored.set(anIndex, meanwhile);
      if (typeof left === 'function') return left();
      const { fields, baseline } = record.attempt;
      if (cutoffMillis === fields.cutoffMillis) return counted(left, left);
      if (cutoffMillis === baseline.countedAtMillis) return counted(left + kept, left);
      return window ? window() : counted(left + 10, left);
    },
    taskStatus: async () => (typeof status === 'function' ? status() : status),
    indexSizes: sizes ?? (async () => []),
  } as unknown as Operations;
  const services = {
    operations,
    ledger,
    clock: { now: () => now },
    signal,
    run: { runId: 'run-9', runStartMillis: runStart },
    isLastCheck: () => isLastCheck,
  };
  const checked = await check(record, { ...begun(record), ...watch }, services);
  return { checked, stored: ledger.stored.get(anIndex) as LedgerRecord, options };
}

type Given = Partial<Found>;
const hour = 3_600_000;
const failing =
  (kind: ServerError['kind'], operation: ServerError['operation'] = 'dry-run', status?: number) =>
  (): never => {
    throw new OperationsError({ kind, operation, ...(status && { status }) });
  };
const failingStatus = (kind: ServerError['kind']) => async (): Promise<never> => failing(kind, 'task-status')();
const throttled = failingStatus('throttled');

describe('At the end of a run, what has hung for 20 hours', () => {
  const sent = anAttempt().sendingSince;
  const end = sent + 20 * hour;
  const running = { kind: 'found', completed: false, counters: { deleted: 5, total: 60 } } as const;
  /** Checks before this one have shown the same for half an hour. */
  const stuck = {
    rowsLeft: 60,
    rowsToKeep: 40,
    counter: 5,
    noProgressSince: end - hour / 2,
    noOwnProgressSince: end - hour / 2,
  };

  const progressedLate = { ...stuck, noOwnProgressSince: end - hour / 6 + 1 };

  async function judgedForAge(given: Given) {
    const usual = { status: running, left: 60, now: end, runStart: sent + 1, isLastCheck: true };
    const { checked, stored } = await checkedOnce({ ...usual, ...given });
    return checked.kind === 'resolved' ? `${stored.lastVerdict?.verdict.outcome}, ${stored.state}` : checked.kind;
  }

  test.each<[string, Given, string]>([
    ['is judged by what is counted', { watch: stuck }, 'incomplete, idle'],
    [
      'is judged by what is counted, even if its status fails',
      { watch: { ...stuck, hasStatus: true }, status: throttled },
      'incomplete, idle',
    ],
    ['is watched on where the run has begun before it', { watch: stuck, runStart: sent }, 'watching'],
    ['is watched on where the run ends sooner', { watch: stuck, now: end - 1 }, 'watching'],
    ['is watched on in the middle of the run', { watch: stuck, isLastCheck: false }, 'watching'],
    ['is watched on where its clock was set back before the call', { watch: stuck, now: sent }, 'watching'],
    ['is watched on where its counter is higher', { watch: { ...stuck, counter: 4 } }, 'watching'],
    ['is watched on where fewer rows are left', { watch: stuck, left: 59 }, 'watching'],
    ['is watched on where it made progress less than ten minutes ago', { watch: progressedLate }, 'watching'],
    ['is watched on at the first check of a run', {}, 'watching'],
    ['accuses nobody where only its last check misses rows', { watch: stuck, kept: 20 }, 'watching'],
    [
      'accuses where the checks before it have missed them, too',
      { watch: { ...stuck, rowsToKeep: 20 }, kept: 20 },
      'rows-missing, quarantined',
    ],
  ])('%s', async (_, given, expected) => {
    expect(await judgedForAge(given)).toBe(expected);
  });

  test.each<[string, Given, string]>([
    ['is judged unknown if this run has never counted it', {}, 'unknown, idle'],
    ['is judged unknown if it was stuck before', { watch: { ...stuck, isStuck: true } }, 'unknown, idle'],
    ['waits for a person as a reindex', { record: aRunning({ attempt: aReindex() }) }, 'unknown, quarantined'],
    ['is watched on where it may have made progress', { watch: stuck }, 'watching'],
    ['is watched on where its status shows more', { watch: { ...stuck, isStuck: true, counter: 4 } }, 'watching'],
    ['is watched on in the middle of the run', { isLastCheck: false }, 'watching'],
    ['is watched on where it is younger', { now: end - 1 }, 'watching'],
    ['is watched on where the server is away', { left: failing('connect') }, 'watching'],
    ['is watched on where the function had no time left', { left: failing('aborted') }, 'watching'],
    ['is watched on where only its status cannot be read', { left: failing('unreadable', 'task-status') }, 'watching'],
  ])('and cannot be counted %s', async (_, given, expected) => {
    expect(await judgedForAge({ left: failing('unreadable'), ...given })).toBe(expected);
  });
});

const now = 1_500_000;
const baseline = { ...anAttempt().baseline, indexName: 'operation_1' };
const ofIndex = (indexName: string): IndexSize => ({
  entityType: 'dataset',
  aspect: 'operation',
  indexName,
  sizeMb: 5,
});
const ended: TaskStatus = { kind: 'found', completed: true, runTimeMillis: 7400, counters: { total: 60, deleted: 60 } };

/** In the middle of a run; the task has ended, and nothing is left. */
const once = (given: Given = {}) =>
  checkedOnce(
    {
      status: ended,
      left: 0,
      sizes: async () => [ofIndex('operation_1')],
      now,
      runStart: now,
      isLastCheck: false,
      ...given,
    },
    (record) => startWatch(record, now - 20_000, now),
  );

const verdictOf = async (given: Given) => {
  const { checked } = await once(given);
  const record = checked.kind === 'resolved' ? checked.record : undefined;
  return record === undefined || record.state === 'unreadable' ? undefined : record.lastVerdict?.verdict;
};

describe('A check that ends in a verdict', () => {
  test('writes it unreported, with the window that the next Plans count again', async () => {
    const { stored, options } = await once();
    expect(stored).toMatchObject({
      state: 'idle',
      unreported: true,
      lastVerdict: { decided: { runId: 'run-9', atMillis: now } },
      window: { afterMillis: 625_000, untilMillis: 1_000_000, rows: 30, countedAtMillis: now },
    });
    expect(options).toEqual([{ signal }, { signal }, { signal }]);
  });

  test('leaves no window where that cannot be counted, and counts none where rows are missing', async () => {
    const uncounted = await once({ window: failing('server-error') });
    expect(uncounted.stored).toMatchObject({ state: 'idle', lastVerdict: { verdict: { outcome: 'truncated' } } });
    expect(uncounted.stored.window).toBeUndefined();
    const lost = { kept: 20, watch: { pending: { verdict: 'rows-missing', since: now - 90_000 } } };
    const { stored, options } = await once({ ...lost });
    expect([stored.state, options]).toEqual(['quarantined', [{ signal }, { signal }]]);
  });

  const defect = (): never => {
    throw new TypeError('a defect');
  };
  test.each<[string, Given]>([
    ['counting', { left: defect }],
    ['the status', { status: async () => defect() }],
    ['the window', { window: defect }],
    ['the sizes', { record: aRunning({ attempt: anAttempt({ baseline }) }), sizes: async () => defect() }],
  ])('fails for a defect in %s', async (_, given) => {
    await expect(once(given)).rejects.toThrow('a defect');
  });

  const unsaid: TaskStatus = { kind: 'found', completed: true, counters: { deleted: 60 } };
  test.each<[string, TaskStatus, number]>([
    ['from its task', ended, 7],
    ['from the call to the check, where its task does not say', unsaid, 300],
    ['from the call to the check, where its task is gone', { kind: 'vanished' }, 300],
    ['not beginning before the call, whatever its task says', { ...unsaid, runTimeMillis: 1e294 } as TaskStatus, 300],
  ])('takes its duration %s', async (_, status, expected) => {
    expect((await verdictOf({ status }))?.durationSeconds).toBe(expected);
  });

  test.each<[string, Partial<typeof baseline>, IndexSize[]]>([
    ['the same index', {}, [ofIndex('operation_1')]],
    ['one that was not known before', { indexName: undefined }, [ofIndex('operation_2')]],
    ['one that is not reported', {}, []],
  ])('says of no other index that it is behind the name now: %s', async (_, before, sizes) => {
    const record = aRunning({ attempt: anAttempt({ baseline: { ...baseline, ...before } }) });
    expect(await verdictOf({ record, sizes: async () => sizes })).toMatchObject({ indexNow: undefined });
  });
});

describe('A verdict that must be agreed on', () => {
  const pending = (since: number, verdict: string): Given => ({
    left: 50,
    watch: { pending: { verdict, since } } as Partial<Watch>,
  });

  test.each<[string, Given, string]>([
    ['waits for one that is 90 s later', pending(now - 89_999, 'incomplete'), 'watching'],
    ['is given by one that is 90 s later and agrees', pending(now - 90_000, 'incomplete'), 'resolved'],
    ['waits again where the first check had another', pending(now - 90_000, 'rows-missing'), 'watching'],
  ])('%s', async (_, given, expected) => {
    const { checked } = await once(given);
    expect(checked.kind).toBe(expected);
  });

  test('waits from the check that had it first', async () => {
    const sinceOf = async (given: Given) => {
      const { checked } = await once(given);
      return checked.kind === 'watching' ? checked.watch.pending : undefined;
    };
    expect(await sinceOf({ left: 50 })).toEqual({ verdict: 'incomplete', since: now });
    expect(await sinceOf(pending(now - 5, 'incomplete'))).toEqual({ verdict: 'incomplete', since: now - 5 });
  });
});

describe('An index that is not known', () => {
  const absent = failing('no-index', 'dry-run', 500);
  const few = aRunning({ attempt: anAttempt({ baseline: { ...baseline, rowsToKeep: 5 } }) });

  test('is empty: few rows that are gone need a second check', async () => {
    const { checked } = await once({ left: absent, record: few });
    expect(checked).toMatchObject({ kind: 'watching', watch: { pending: { verdict: 'truncated' } } });
    const watch = { pending: { verdict: 'truncated', since: now - 90_000 } };
    expect((await once({ left: absent, record: few, watch })).checked.kind).toBe('resolved');
  });

  test('to one of two answers is not counted: the check has failed', async () => {
    let asked = 0;
    const first = (): never => (++asked === 1 ? absent() : ({ rowsToDelete: 100 } as never));
    const { checked } = await once({ left: first, status: { kind: 'vanished' } });
    expect(checked).toMatchObject({ kind: 'watching', watch: { error: { kind: 'no-index' } } });
  });
});

describe('A status that was never read', () => {
  test.each<ServerError['kind']>(['unauthorized', 'gateway', 'connect', 'timeout', 'server-error', 'not-json'])(
    'does not end the check because of %s: rows are counted, and the next check asks again',
    async (kind) => {
      const { checked } = await once({ status: failingStatus(kind), left: 50 });
      expect(checked).toMatchObject({
        kind: 'watching',
        watch: { statusError: { kind }, rowsLeft: 50, error: undefined },
      });
    },
  );

  test('because time ran out ends the check', async () => {
    const { checked, options } = await once({ status: failingStatus('aborted'), left: 50 });
    expect(checked).toMatchObject({ kind: 'watching', watch: { error: { kind: 'aborted' } } });
    expect(options).toEqual([]);
  });
});

describe('A status that was read before and fails now', () => {
  const still = { hasStatus: true, rowsLeft: 50, rowsToKeep: 40, noProgressSince: 1, noOwnProgressSince: 1 };
  const old = aRunning({ attempt: anAttempt({ judgeableAt: 1_200_001 }) });

  test('keeps a lack of progress from being taken for its end, but not from being counted', async () => {
    const { checked } = await once({ record: old, status: throttled, left: 50, watch: still });
    expect(checked).toMatchObject({
      kind: 'watching',
      watch: { error: { operation: 'task-status' }, rowsLeft: 50, isStuck: true },
    });
  });

  test('does not matter once a delete has nothing left', async () => {
    const verdict = await verdictOf({ record: old, status: throttled, watch: still });
    expect(verdict?.outcome).toBe('truncated');
  });

  test.each(['connect', 'aborted'] as const)('because of %s ends the check: nothing is counted', async (kind) => {
    const { checked, options } = await once({ record: old, status: failingStatus(kind), watch: still });
    expect([checked.kind, options]).toEqual(['watching', []]);
  });
});

describe('A record that was written meanwhile', () => {
  test.each<[string, LedgerRecord]>([
    ['with the verdict of another run', aQuarantined({ revision: 2, lastVerdict: aLastVerdict(aRun) })],
    ['with the verdict about another truncation', anIdle({ revision: 2, lastVerdict: aLastVerdict() })],
    ['with a release', aReleased({ revision: 2 })],
  ])('%s is left as it is, and decides', async (_, meanwhile) => {
    const { checked, stored } = await once({ meanwhile });
    expect(checked).toEqual({ kind: 'resolved', record: meanwhile });
    expect(stored).toEqual(meanwhile);
  });

  test('and cannot be read is left as it is', async () => {
    const { checked } = await once({ meanwhile: { ...anIdle({ revision: 2 }), lastSender: 5 } });
    expect(checked).toMatchObject({ kind: 'resolved', record: { state: 'unreadable' } });
  });

  test('by a run that was fenced off alone is judged by the next check', async () => {
    const fenced = aRunning({ revision: 2, lastSender: { runId: 'run-9', runStartMillis: 9e6 } });
    const { checked, stored } = await once({ meanwhile: fenced });
    expect(checked).toMatchObject({ kind: 'watching', watch: { nextCheckAt: now + 5000 } });
    expect(stored).toEqual(fenced);
  });
});
