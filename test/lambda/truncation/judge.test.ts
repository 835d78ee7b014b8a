import { describe, expect, test } from 'vitest';
import { dayMillis } from '../../../lambda/facts/limits.ts';
import type { AttemptStrategy } from '../../../lambda/facts/strategy.ts';
import type { AttemptWindow, Role, SentAttempt, Unresolved } from '../../../lambda/ledger/record.ts';
import type { TaskCounters } from '../../../lambda/operations/operations.ts';
import { type Evidence, isRemainder, judge } from '../../../lambda/truncation/judge.ts';
import type { OwnTask } from '../../../lambda/truncation/origin.ts';
import { aRunning, aSending } from '../../support/records.ts';

/** The table of verdicts: what was counted, what the task said, who moved the alias, and what becomes of it. */

const start = 1_700_000_000_000;
const sentAt = start + 600_000;
const now = sentAt + 3_600_000;
const hour = 3_600_000;
const cutoff = start - 30 * dayMillis;
const planned = 5000;
const named = (millis: number) => `dataset_operationaspect_v1_${millis}`;
const before = named(start - 100 * dayMillis);
const ours = named(sentAt + 5);
const theirs = named(sentAt + 2 * hour);

interface Case {
  strategy?: AttemptStrategy;
  /** The record has no task id. */
  sending?: boolean;
  /** Rows of each window before and after. */
  windows?: [before: number, after: number][];
  remaining?: number;
  total?: number;
  /** False: the name is not reported. */
  indexName?: string | false;
  nameBefore?: string | false;
  counters?: TaskCounters;
  works?: OwnTask['works'];
  completed?: boolean;
  end?: Evidence['end'];
  vanished?: boolean;
  /** Hours since it was sent. */
  hours?: number;
  indexGone?: boolean;
  answer?: SentAttempt['answer'];
  /** The fewest rows to delete that a look has seen. */
  lowest?: number;
  stood?: SentAttempt['stood'];
}

/** How many windows there are says what each is for: a delete's, a bite's, a copy's. */
const rolesOf: Record<number, Role[]> = { 1: ['kept'], 2: ['backlog', 'young'], 3: ['settled', 'kept', 'counted'] };

function evidence({
  strategy = 'delete-by-query',
  sending = false,
  windows = strategy === 'delete-by-query'
    ? [[1000, 1000]]
    : [
        [900, 900],
        [1000, 1000],
        [1010, 1010],
      ],
  remaining = 0,
  total,
  indexName = before,
  nameBefore = before,
  counters,
  works = strategy === 'reindex' ? 'reindex' : 'delete-by-query',
  completed = true,
  end = 'task',
  vanished = false,
  hours = 1,
  indexGone = false,
  answer,
  lowest,
  stood,
}: Case): Evidence {
  const ends = windows.length === 3 ? [start - 2 * dayMillis, start, sentAt] : windows.map((_, at) => start - at);
  const roles = rolesOf[windows.length] ?? [];
  const made = (column: 0 | 1): AttemptWindow[] =>
    windows.map((rows, at) => ({ role: roles[at]!, from: cutoff, to: ends[at]!, rows: rows[column] }));
  const kept = Math.max(...windows.map(([, after]) => after));
  const base = sending ? aSending() : aRunning();
  const record = {
    ...base,
    windows: made(0),
    attempt: {
      ...base.attempt,
      runStartMillis: start,
      strategy,
      fields: { ...base.attempt.fields, endTimeMillis: cutoff },
      sendingSince: sentAt,
      sentRealAt: sentAt,
      ...(!sending && { answeredRealAt: sentAt + 1000 }),
      ...(answer && { answer }),
      ...(stood && { stood }),
      baseline: { rowsTotal: planned + 1000, rowsToDelete: planned, ...(nameBefore && { indexName: nameBefore }) },
    },
  } as Unresolved;
  const rowsTotal = total ?? remaining + kept;
  return {
    record,
    after: {
      rowsToDelete: remaining,
      rowsTotal,
      windows: made(1),
      dryRun: { rowsToDelete: remaining, rowsTotal },
    },
    indexGone,
    indexName: indexName || undefined,
    sizeMb: 5,
    task: counters && { completed, counters, works },
    end,
    vanished,
    lowestToDelete: lowest,
    lastMovedAt: now - hour,
    endedAt: sentAt + 61_000,
    startedAt: sentAt,
    now: sentAt + hours * hour,
  };
}
const judged = (given: Case) => judge(evidence(given));
const brief = (given: Case) => {
  const { outcome, cause, closes } = judged(given);
  return [outcome, cause.kind, closes];
};

describe('a delete by query that has ended', () => {
  test.each<[string, Case, string]>([
    ['everything gone, nothing missing', {}, 'truncated'],
    ['50 of 5000 rows left (1 %)', { remaining: 50 }, 'truncated'],
    ['51 of 5000 rows left', { remaining: 51 }, 'incomplete'],
    ['20 of 1000 kept rows gone (2 %)', { windows: [[1000, 980]] }, 'truncated'],
    ['21 of 1000 kept rows gone', { windows: [[1000, 979]] }, 'rows-missing'],
    ['10 of 20 kept rows gone', { windows: [[20, 10]] }, 'truncated'],
    ['11 of 20 kept rows gone', { windows: [[20, 9]] }, 'rows-missing'],
    ['more rows than before', { windows: [[1000, 1200]] }, 'truncated'],
    ['rows missing and rows remaining', { windows: [[1000, 0]], remaining: 4000 }, 'rows-missing'],
    [
      'the young rows of a bite gone, the backlog whole',
      {
        windows: [
          [90_000, 90_000],
          [1000, 900],
        ],
      },
      'rows-missing',
    ],
    ['a physical index that is not known any more', { indexName: false, counters: {} }, 'truncated'],
    [
      'the same, and no status: it may have been a reindex',
      { indexName: false, sending: true, end: 'still' },
      'unknown',
    ],
  ])('%s', (_, given, outcome) => {
    expect(judged(given).outcome).toBe(outcome);
  });

  test('frees the record', () => {
    expect(judged({ windows: [[1000, 1001]] })).toStrictEqual({
      outcome: 'truncated',
      cause: { kind: 'verified', by: 'counts' },
      facts: {
        rowsDeleted: planned,
        rowsRemaining: 0,
        durationSeconds: 61,
        sizeAfterMb: 5,
        indexName: before,
      },
      closes: 'idle',
    });
  });

  test('counts what went by what is left, and leaves out what the server does not tell', () => {
    const made = judge({ ...evidence({ remaining: 50, indexName: false }), sizeMb: undefined });
    expect(made.facts).toStrictEqual({ rowsDeleted: planned - 50, rowsRemaining: 50, durationSeconds: 61 });
  });

  test('with no window to compare is judged by the rows to delete', () => {
    expect(judge({ ...evidence({}), record: { ...evidence({}).record, windows: [] } })).toMatchObject({
      outcome: 'truncated',
      facts: { rowsRemaining: 0 },
    });
  });

  test('says how many rows a small loss took', () => {
    expect(judged({ windows: [[1000, 988]] })).toMatchObject({ outcome: 'truncated', facts: { rowsMissing: 12 } });
  });

  test('counters that disagree are told, and counts decide', () => {
    const counters = { total: planned, deleted: planned - 1, versionConflicts: 1, cancelled: true };
    expect(judged({ counters })).toMatchObject({
      outcome: 'truncated',
      cause: { kind: 'verified', by: 'counts', cancelled: true, conflicts: 1, done: planned - 1, total: planned },
    });
    expect(judged({ counters: { total: planned, deleted: planned } }).cause).toEqual({
      kind: 'verified',
      by: 'counts',
    });
    expect(judged({ counters: { deleted: 3 } }).cause).toEqual({ kind: 'verified', by: 'counts' });
  });

  test.each<[string, TaskCounters, string]>([
    ['all rows conflicted', { total: planned, deleted: 0, versionConflicts: planned }, 'all-conflicts'],
    ['none conflicted, and none was deleted', { total: planned, deleted: 0 }, 'all-conflicts'],
    ['its counters do not say whether any was deleted', { total: planned }, 'verified'],
    ['one was deleted', { total: planned, deleted: 1, versionConflicts: planned }, 'verified'],
    ['there were none', { total: 0, deleted: 0, versionConflicts: 0 }, 'verified'],
  ])('of which %s, with no row left to delete', (_, counters, kind) => {
    expect(judged({ counters }).cause.kind).toBe(kind);
  });

  test('of which every row conflicted deleted nothing, and needs attention', () => {
    const counters = { total: planned, deleted: 0, versionConflicts: planned };
    expect(judged({ counters })).toMatchObject({ outcome: 'incomplete', facts: { rowsDeleted: 0 }, closes: 'idle' });
  });

  test.each<[string, number, TaskCounters | undefined, string]>([
    ['counts have not moved', planned, { total: planned, deleted: planned }, 'not-refreshed'],
    ['counts have moved by 1 %', planned - 50, { total: planned, deleted: planned }, 'not-refreshed'],
    ['counts have moved by more', planned - 51, { total: planned, deleted: planned }, 'remains'],
    ['counts have not moved, nor has it', planned, { total: planned, deleted: 0 }, 'remains'],
    [
      'counts have not moved, and most rows conflicted',
      planned,
      { total: planned, deleted: 0, versionConflicts: planned - 1 },
      'remains',
    ],
    [
      'counts have not moved, because every row conflicted',
      planned,
      { total: planned, deleted: 0, versionConflicts: planned },
      'all-conflicts',
    ],
    ['counts have not moved, and it cannot be asked', planned, undefined, 'remains'],
    ['it had nothing to do', planned, { total: 0, deleted: 0 }, 'remains'],
  ])('and says that all is deleted while %s', (_, remaining, counters, kind) => {
    const made = judged({ remaining, ...(counters && { counters }) });
    expect([made.outcome, made.cause.kind]).toEqual(['incomplete', kind]);
  });

  test('names the index that is not refreshed', () => {
    const counters = { total: planned, deleted: planned };
    expect(judged({ remaining: planned, counters }).cause).toMatchObject({ indexNow: before });
    expect(judged({ remaining: planned, counters, indexName: false }).cause).not.toHaveProperty('indexNow');
  });

  test('under an index that somebody replaced is judged by its rows, and told', () => {
    const counters = { total: planned, deleted: planned };
    expect(judged({ indexName: theirs, counters })).toMatchObject({
      outcome: 'truncated',
      cause: { movedBy: 'others', indexBefore: before, indexNow: theirs },
    });
    expect(judged({ indexName: theirs, counters, windows: [[1000, 0]] }).cause).toMatchObject({
      kind: 'rows-missing',
      rowsIn: before,
      deadline: start - 40 * dayMillis,
    });
  });

  test('under an index that somebody replaced, with a status that cannot be read, is unknown', () => {
    expect(judged({ indexName: theirs })).toMatchObject({
      outcome: 'unknown',
      closes: 'no',
      cause: { movedBy: 'others' },
    });
  });

  test('under an index that somebody replaced, whose record is gone, has ended: it is not lost', () => {
    expect(judged({ indexName: theirs, vanished: true }).outcome).toBe('unknown');
  });

  test('whose index is gone says so', () => {
    expect(judged({ indexGone: true, windows: [[1000, 0]] })).toMatchObject({
      outcome: 'rows-missing',
      cause: { indexGone: true },
    });
  });
});

describe('rows that are missing', () => {
  test('close the index and say where they are', () => {
    const counters = { total: 1010, created: 400, updated: 5, cancelled: true };
    const given: Case = {
      strategy: 'reindex',
      indexName: ours,
      counters,
      windows: [
        [900, 380],
        [1000, 400],
        [1010, 405],
      ],
    };
    expect(judged(given)).toStrictEqual({
      outcome: 'rows-missing',
      cause: {
        kind: 'rows-missing',
        expected: 1010,
        found: 405,
        cancelled: true,
        done: 405,
        total: 1010,
        indexBefore: before,
        indexNow: ours,
        movedBy: 'us',
        rowsIn: before,
        deadline: start - 100 * dayMillis + 60 * dayMillis,
      },
      facts: {
        rowsDeleted: planned,
        rowsRemaining: 0,
        rowsMissing: 605,
        durationSeconds: 61,
        sizeAfterMb: 5,
        indexName: ours,
      },
      closes: 'quarantined',
    });
  });

  test('are nowhere known where the index is still the same, or its name is not told', () => {
    for (const indexName of [before, false] as const) {
      const { cause } = judged({ windows: [[1000, 0]], indexName });
      expect(cause).not.toHaveProperty('rowsIn');
      expect(cause).not.toHaveProperty('deadline');
    }
  });
});

describe('a bite', () => {
  const policyCutoff = cutoff + dayMillis;
  const bite = ({ rest, nights }: { rest: number; nights?: number }) => {
    const given = evidence({});
    const windows = [
      { role: 'backlog' as const, from: cutoff, to: policyCutoff, rows: rest },
      { role: 'young' as const, from: policyCutoff, to: start, rows: 1000 },
    ];
    const record = {
      ...given.record,
      windows,
      attempt: { ...given.record.attempt, policyCutoffMillis: policyCutoff, ...(nights !== undefined && { nights }) },
    } as Unresolved;
    return judge({ ...given, record, after: { ...given.after, windows } });
  };

  test.each([
    ['in two more nights', 3, { rest: 700, nights: 2 }],
    ['in one more night', 2, { rest: 700, nights: 1 }],
    ['nobody knows when', undefined, { rest: 700 }],
    ['in a night that should have been this one', 1, { rest: 700 }],
  ])('leaves rows to later nights, which go %s', (_, nights, expected) => {
    const made = bite({ rest: 700, ...(nights !== undefined && { nights }) });
    expect(made.cause).toStrictEqual({ kind: 'verified', by: 'counts', ...expected });
  });

  test('that was the last one leaves none', () => {
    expect(bite({ rest: 0, nights: 3 }).cause).toStrictEqual({ kind: 'verified', by: 'counts' });
  });
});

describe('a reindex that has ended', () => {
  const perfect = { total: 1010, created: 1000, updated: 10 };
  const proven: Case = { strategy: 'reindex', indexName: ours, counters: perfect };

  test('with no window to compare is judged by its proof', () => {
    const given = evidence(proven);
    const unseen = { ...given, record: { ...given.record, windows: [] } };
    expect(judge(unseen)).toMatchObject({ outcome: 'truncated', cause: { by: 'proof' } });
  });

  test('is verified by its status, its index and its rows, and says what no count can see', () => {
    expect(judged(proven)).toMatchObject({
      outcome: 'truncated',
      cause: { kind: 'verified', by: 'proof', stragglersIn: before, indexNow: ours },
      closes: 'idle',
    });
  });

  test('that left old rows, which had come in late, says what no count can see as well', () => {
    expect(judged({ ...proven, remaining: 3000 })).toMatchObject({
      outcome: 'incomplete',
      cause: { kind: 'remains', stragglersIn: before },
    });
  });

  test.each<[string, Case, string]>([
    ['its status cannot be read', { counters: undefined as never }, 'status'],
    ['its task is not one that copies', { works: 'delete-by-query' }, 'status'],
    ['its status says that it goes on', { completed: false }, 'status'],
    ['it was cancelled', { counters: { ...perfect, cancelled: true } }, 'imperfect'],
    ['a row conflicted', { counters: { ...perfect, versionConflicts: 1 } }, 'imperfect'],
    ['it did not copy all', { counters: { ...perfect, created: 999 } }, 'imperfect'],
    ['it does not say how many there were', { counters: { created: 1000 } }, 'imperfect'],
    ['it found too few rows', { counters: { total: 979, created: 979 } }, 'imperfect'],
    ['the alias has not moved', { indexName: before }, 'name'],
    ['somebody else moved the alias', { indexName: theirs }, 'name'],
    ['the name is not told', { indexName: false }, 'name'],
    ['the name was not told before', { nameBefore: false }, 'name'],
  ])('is not proven where %s: unknown while no row is missing', (_, changes, why) => {
    const { counters, ...rest } = { ...proven, ...changes };
    const made = judged({ ...rest, ...(counters && { counters }) });
    expect(made).toMatchObject({ outcome: 'unknown', cause: { kind: 'unproven', why }, closes: 'no' });
    const oneGone: Case['windows'] = [
      [900, 900],
      [1000, 999],
      [1010, 1010],
    ];
    expect(judged({ ...rest, ...(counters && { counters }), windows: oneGone })).toMatchObject({
      outcome: 'rows-missing',
      facts: { rowsMissing: 1 },
      closes: 'quarantined',
    });
  });

  test('may find as many rows fewer than counted as entity deletions take', () => {
    expect(judged({ ...proven, counters: { total: 980, created: 980 } }).outcome).toBe('truncated');
  });

  test('that is proven bears the losses of an ordinary night', () => {
    const few: Case['windows'] = [
      [900, 890],
      [1000, 985],
      [1010, 1000],
    ];
    expect(judged({ ...proven, windows: few })).toMatchObject({ outcome: 'truncated', facts: { rowsMissing: 15 } });
    const many: Case['windows'] = [
      [900, 881],
      [1000, 979],
      [1010, 1000],
    ];
    expect(judged({ ...proven, windows: many })).toMatchObject({ outcome: 'rows-missing' });
    const settled: Case['windows'] = [
      [900, 881],
      [1000, 1000],
      [1010, 1010],
    ];
    expect(judged({ ...proven, windows: settled })).toMatchObject({
      outcome: 'rows-missing',
      facts: { rowsMissing: 19 },
    });
  });

  test('whose copy no search finds is not refreshed: that alone is told, and the index is closed', () => {
    const none: Case = {
      ...proven,
      windows: [
        [900, 0],
        [1000, 0],
        [1010, 0],
      ],
      total: 0,
    };
    expect(judged(none)).toMatchObject({
      outcome: 'rows-missing',
      cause: { kind: 'not-refreshed', indexNow: ours, indexBefore: before },
      closes: 'quarantined',
    });
    expect(judged({ ...none, counters: { ...perfect, cancelled: true } }).cause.kind).toBe('rows-missing');
    expect(
      brief({
        ...none,
        windows: [
          [900, 0],
          [1000, 0],
          [1010, 0],
        ],
        total: 1,
      })[1],
    ).toBe('rows-missing');
  });

  test('of an index in which no row should stay is well without any', () => {
    const empty: Case['windows'] = [
      [0, 0],
      [0, 0],
      [0, 0],
    ];
    const counters = { total: 0, created: 0, updated: 0 };
    expect(judged({ ...proven, counters, windows: empty, total: 0 }).outcome).toBe('truncated');
  });

  test('with rows to delete left is incomplete', () => {
    expect(brief({ ...proven, remaining: planned })).toEqual(['incomplete', 'remains', 'idle']);
  });

  test('that was sent as a delete by query is judged as a reindex', () => {
    const given: Case = { indexName: ours, counters: perfect, works: 'reindex', windows: [[1000, 1000]] };
    expect(judged(given)).toMatchObject({ outcome: 'truncated', cause: { by: 'proof' } });
    expect(judged({ ...given, counters: { ...perfect, cancelled: true } }).cause).toMatchObject({
      kind: 'unproven',
      cancelled: true,
    });
    expect(judged({ indexName: ours, windows: [[1000, 999]] }).outcome).toBe('rows-missing');
  });
});

describe('what nobody saw end', () => {
  const still: Case = { end: 'still', remaining: 3000 };

  test.each<[string, Case, unknown[]]>([
    ['a delete whose status cannot be asked', still, ['unknown', 'unsettled', 'no']],
    ['a delete whose task vanished', { ...still, vanished: true }, ['lost', 'unsettled', 'no']],
    ['a delete whose rows are gone', { ...still, remaining: 0 }, ['truncated', 'verified', 'idle']],
    [
      'a delete whose task vanished and whose rows are gone',
      { ...still, vanished: true, remaining: 0 },
      ['truncated', 'verified', 'idle'],
    ],
    ['a delete whose task hangs', { ...still, end: 'stuck' }, ['unknown', 'stuck', 'no']],
    ['a delete whose task hangs, with nothing left', { end: 'stuck', remaining: 0 }, ['unknown', 'stuck', 'no']],
    [
      'a delete that hangs and has taken what should stay',
      { ...still, end: 'stuck', windows: [[1000, 0]] },
      ['rows-missing', 'rows-missing', 'quarantined'],
    ],
    ['a reindex', { strategy: 'reindex', end: 'still' }, ['unknown', 'unproven', 'no']],
    [
      'a reindex whose task vanished',
      { strategy: 'reindex', end: 'still', vanished: true },
      ['unknown', 'unproven', 'no'],
    ],
    [
      'a reindex that misses a row',
      {
        strategy: 'reindex',
        end: 'still',
        windows: [
          [900, 900],
          [1000, 999],
          [1010, 1010],
        ],
      },
      ['rows-missing', 'rows-missing', 'quarantined'],
    ],
    [
      'a reindex whose task hangs, its copy half done',
      {
        strategy: 'reindex',
        end: 'stuck',
        windows: [
          [900, 400],
          [1000, 400],
          [1010, 400],
        ],
      },
      ['unknown', 'stuck', 'no'],
    ],
  ])('%s', (_, given, expected) => {
    expect(brief(given)).toEqual(expected);
  });

  test.each<[string, Case, string, string]>([
    ['a delete', still, 'idle', 'given-up'],
    ['a delete that vanished', { ...still, vanished: true }, 'idle', 'given-up'],
    ['a reindex', { strategy: 'reindex', end: 'still' }, 'quarantined', 'quarantined'],
    ['a delete, with an upgrade’s index behind the alias', { ...still, indexName: theirs }, 'idle', 'given-up'],
    [
      'a delete, with an older index behind the alias, as on another server',
      { ...still, indexName: named(start - 9 * dayMillis) },
      'quarantined',
      'quarantined',
    ],
    [
      'a delete, with an index without a time behind the alias',
      { ...still, indexName: 'dataset_operationaspect_v1' },
      'quarantined',
      'quarantined',
    ],
    [
      'what was of unknown kind',
      { strategy: 'unknown', end: 'still', remaining: 3000, indexName: false },
      'quarantined',
      'quarantined',
    ],
  ])('%s is closed when it is 20 h old', (_, given, closes, closed) => {
    expect(judged({ ...given, hours: 19.99 }).closes).toBe('no');
    expect(judged({ ...given, hours: 20 })).toMatchObject({ closes, cause: { closed } });
  });

  test.each<[string, Case, string, string]>([
    ['a delete', { ...still, counters: { deleted: 7 } }, 'idle', 'given-up'],
    [
      'a reindex',
      { strategy: 'reindex', remaining: 0, counters: { created: 4, updated: 3 } },
      'quarantined',
      'quarantined',
    ],
  ])(
    '%s whose task says that it goes on is closed when it has stood still for 20 h, whatever its age',
    (_, given, closes, closed) => {
      const hung = { ...given, completed: false, end: 'stuck' } as const;
      const toDelete = given.remaining ?? 0;
      const movedAt = now - hour;
      const since = (hours: number) => now - hours * hour;
      const at = { done: 7, toDelete };
      const fresh = { closes: 'no', stood: { since: movedAt, ...at } };
      expect(judged(hung)).toMatchObject(fresh);
      expect(judged({ ...hung, stood: { since: since(19.9), ...at } })).toMatchObject({
        closes: 'no',
        stood: { since: since(19.9), ...at },
      });
      expect(judged({ ...hung, stood: { since: since(20), ...at } })).toMatchObject({ closes, cause: { closed } });
      // It has moved since: one row more is done, or one row less is left.
      expect(judged({ ...hung, stood: { since: since(30), ...at, done: 6 } })).toMatchObject(fresh);
      expect(judged({ ...hung, stood: { since: since(30), done: 7, toDelete: toDelete + 1 } })).toMatchObject(fresh);
      // Late rows are no movement.
      expect(
        judged({ ...hung, stood: { since: since(20), done: 7, toDelete: Math.max(0, toDelete - 5) } }),
      ).toMatchObject({
        closes,
      });
    },
  );

  test('says what is known of it', () => {
    const error = { kind: 'timeout', operation: 'truncate' } as const;
    const answer = { error, realAt: sentAt };
    expect(judged({ ...still, sending: true, answer, indexName: theirs, counters: {} }).cause).toMatchObject({
      kind: 'unsettled',
      error,
      lastMovedAt: now - hour,
      indexNow: theirs,
      movedBy: 'others',
    });
    expect(judged({ ...still, vanished: true }).cause).toMatchObject({ vanished: true });
    expect(judged({ strategy: 'reindex', end: 'still', sending: true, answer, remaining: 0 }).cause).toMatchObject({
      kind: 'unproven',
      error,
    });
  });
});

describe('a call without a task id, where nothing that can be seen has changed', () => {
  const error = { kind: 'unauthorized', operation: 'truncate', status: 401 } as const;
  const unchanged: Case = { sending: true, end: 'still', remaining: planned, answer: { error, realAt: sentAt } };
  const asReindex: Case = { ...unchanged, strategy: 'reindex' };

  test('frees the record, says what the server answered, and never that nothing was started', () => {
    expect(judged(unchanged)).toEqual({
      outcome: 'failed',
      cause: { kind: 'unchanged', error },
      facts: {},
      closes: 'idle',
    });
    const { answer: _, ...unanswered } = unchanged;
    expect(judged(unanswered).cause).toEqual({ kind: 'unchanged' });
  });

  test.each<[string, Case, boolean]>([
    ['a delete, 1 % fewer to delete', { ...unchanged, remaining: planned - 50 }, true],
    ['a delete, more than 1 % fewer', { ...unchanged, remaining: planned - 51 }, false],
    ['a delete, more to delete', { ...unchanged, remaining: planned + 500 }, true],
    ['a delete seen at work before late rows came in', { ...unchanged, remaining: planned + 500, lowest: 0 }, false],
    ['a delete, 2 % of the kept rows gone', { ...unchanged, windows: [[1000, 980]] }, true],
    ['a delete, more of them gone', { ...unchanged, windows: [[1000, 979]] }, false],
    ['a delete, the alias moved', { ...unchanged, indexName: theirs }, false],
    ['a delete, names not known', { ...unchanged, indexName: false }, true],
    ['a delete, names not known, one row more', { ...unchanged, indexName: false, remaining: planned + 1 }, true],
    ['a delete with no window to compare', { ...unchanged, windows: [] }, true],
    ['a reindex, the same index', asReindex, true],
    ['a reindex, one row fewer to delete', { ...asReindex, remaining: planned - 1 }, false],
    ['a reindex, one row more to delete, the same index', { ...asReindex, remaining: planned + 1 }, true],
    ['a reindex, the alias moved', { ...asReindex, indexName: ours }, false],
    ['a reindex, names not known', { ...asReindex, indexName: false }, true],
    ['a reindex, name not known before', { ...asReindex, nameBefore: false }, true],
    ['a reindex, names not known, one row more', { ...asReindex, indexName: false, remaining: planned + 1 }, false],
    ['of unknown kind, names not known', { ...unchanged, strategy: 'unknown', indexName: false }, true],
    [
      'of unknown kind, names not known, one row fewer',
      { ...unchanged, strategy: 'unknown', indexName: false, remaining: planned - 1 },
      false,
    ],
    ['with a task id', { ...unchanged, sending: false }, false],
    ['whose task has ended', { ...unchanged, end: 'task' }, false],
  ])('%s: %s', (_, given, expected) => {
    expect(judged(given).cause.kind === 'unchanged').toBe(expected);
  });
});

describe('what remains', () => {
  test.each([
    [0, 0, false],
    [0, 10, false],
    [10, 10, true],
    [11, 10, true],
    [10, 11, false],
    [11, 12, true],
    [10, 900, false],
    [11, 900, true],
    [50, 5000, false],
    [51, 5000, true],
  ])('%i of %i rows is a remainder: %s', (remaining, of, expected) => {
    expect(isRemainder(remaining, of)).toBe(expected);
  });
});
