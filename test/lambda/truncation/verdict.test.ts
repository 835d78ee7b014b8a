import { describe, expect, test } from 'vitest';
import type { Attempt } from '../../../lambda/ledger/record.ts';
import type { TaskCounters } from '../../../lambda/operations/operations.ts';
import { judge, remainderText } from '../../../lambda/truncation/verdict.ts';
import { anAttempt } from '../../support/records.ts';

interface Case {
  strategy?: 'delete-by-query' | 'reindex' | 'unknown';
  kept?: [before: number, after: number];
  remaining?: number;
  names?: [before: string | undefined, after: string | undefined];
  shrunkBefore?: number;
  counters?: TaskCounters;
  attempt?: Partial<Attempt>;
}

function judged({
  strategy = 'delete-by-query',
  kept = [1000, 1000],
  remaining = 0,
  names = ['a', 'a'],
  shrunkBefore = 0,
  counters,
  attempt = {},
}: Case) {
  const [rowsKept, keptAfter] = kept;
  const baseline = {
    rowsTotal: 5000 + rowsKept,
    rowsToDelete: 5000,
    rowsKept,
    ...(names[0] && { indexName: names[0] }),
  };
  return judge({
    attempt: { ...anAttempt({ strategy, ...attempt }), baseline },
    after: {
      rowsToDelete: remaining,
      rowsTotal: remaining + keptAfter,
      rowsKept: keptAfter,
      dryRun: { rowsToDelete: remaining, rowsTotal: remaining + keptAfter },
    },
    indexName: names[1],
    shrunkBefore,
    counters,
  });
}

describe('an ended delete by query', () => {
  test.each<[string, Case, string]>([
    ['everything gone, nothing missing', {}, 'truncated'],
    ['50 of 5000 rows left (1 %)', { remaining: 50 }, 'truncated'],
    ['51 of 5000 rows left', { remaining: 51 }, 'incomplete'],
    ['20 of 1000 kept rows gone (2 %)', { kept: [1000, 980] }, 'truncated'],
    ['21 of 1000 kept rows gone', { kept: [1000, 979] }, 'rows-missing'],
    ['10 of 20 kept rows gone', { kept: [20, 10] }, 'truncated'],
    ['11 of 20 kept rows gone', { kept: [20, 9] }, 'rows-missing'],
    ['more rows than before', { kept: [1000, 1200] }, 'truncated'],
    ['another physical index', { names: ['a', 'b'] }, 'rows-missing'],
    ['a physical index that is not known any more', { names: ['a', undefined] }, 'truncated'],
    ['small losses that add up to 21', { kept: [1000, 990], shrunkBefore: 11 }, 'rows-missing'],
    ['small losses that add up to 20', { kept: [1000, 990], shrunkBefore: 10 }, 'truncated'],
    ['rows missing and rows remaining', { kept: [1000, 0], remaining: 4000 }, 'rows-missing'],
  ])('%s', (_, given, outcome) => {
    expect(judged(given).outcome).toBe(outcome);
  });

  test('counters that disagree are mentioned, and counts decide', () => {
    const { outcome, reason } = judged({ counters: { total: 5000, deleted: 4999, versionConflicts: 1 } });
    expect(outcome).toBe('truncated');
    expect(reason).toMatch(/counters say 4,999 of 5,000; 1 rows changed meanwhile/);
  });
});

test.each([
  [1500, 5000, '1,500 of 5,000 rows to delete are still there'],
  [5000, 5000, '5,000 of 5,000 rows to delete are still there'],
  [9000, 5000, '9,000 rows to delete are there, more than the 5,000 when it began'],
])('%d rows to delete where %d were planned are told as such', (remaining, planned, text) => {
  expect(remainderText(remaining, planned)).toBe(text);
});

describe('an ended reindex', () => {
  test.each<[string, Case, string]>([
    ['every kept row is there', {}, 'truncated'],
    ['a single kept row is missing', { kept: [1000, 999] }, 'rows-missing'],
    ['rows to delete are still there', { remaining: 5000 }, 'incomplete'],
    ['another physical index, as a reindex has it', { names: ['a', 'b'] }, 'truncated'],
  ])('%s', (_, given, outcome) => {
    expect(judged({ strategy: 'reindex', ...given }).outcome).toBe(outcome);
    expect(judged({ strategy: 'unknown', ...given }).outcome).toBe(outcome);
  });
});

describe('the recovery text', () => {
  const old = 'dataset_operationaspect_v1_1693050512123';
  const now = 'dataset_operationaspect_v1_1793050512123';

  test('names the index that holds the rows, the alias commands, the deadline and how to clear', () => {
    const { reason } = judged({ strategy: 'reindex', kept: [1000, 0], names: [old, now] });
    const actions = JSON.parse(/POST \/_aliases (\{.*?\]\})/.exec(reason)![1]!);
    expect(actions.actions).toEqual([
      { remove: { index: now, alias: 'dataset_operationaspect_v1' } },
      { add: { index: old, alias: 'dataset_operationaspect_v1' } },
    ]);
    // 26 August 2023 and 60 days
    expect(reason).toContain('from 2023-10-25 on');
    expect(reason).toContain('{"mode":"enforce","only":["dataset.operation"],"clear":["dataset.operation"]}');
  });

  test('names no deadline that is past, and no upgrade at all instead', () => {
    const attempt = { sendingSince: Date.parse('2023-10-26T03:30:00Z') };
    const { reason } = judged({ strategy: 'reindex', kept: [1000, 0], names: [old, now], attempt });
    expect(reason).toContain(
      `Run no DataHub upgrade before this is done: its system-update would delete ${old} at once, because it is older than 60 days.`,
    );
    expect(reason).not.toContain('2023-10-25');
  });

  test('without the names says how to find them', () => {
    const { reason } = judged({ strategy: 'reindex', kept: [1000, 0], names: [undefined, undefined] });
    expect(reason).toContain('GET /_cat/indices/*dataset_operationaspect_v1*?v');
  });
});
