import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../../lambda/model/report-schema.ts';
import type { Ended } from '../world/job.ts';
import type { Expectation } from './case.ts';
import { type Facts, judge } from './judge.ts';

/** The judge notices every kind of failure that it is meant to notice. */

const all = { kept: 50_000, ingested: 0 };
const truncated: Expectation = { outcomes: ['truncated'], rowsToKeepMissing: 'none' };

/** A run; without a message nobody learns of it. */
const run = (outcome: PolicyEntry['outcome'], rowsMissing?: number, message?: string): Ended[] => [
  { log: [], message, entry: { outcome, rowsMissing, cause: { kind: 'verified' } } as PolicyEntry },
];
const sent = (run = 1, tasksBefore = 0) => ({ cutoffMillis: 0, tasksBefore, run });

const problems = (facts: Partial<Facts>, expected: Partial<Expectation> = {}): string[] => {
  const fine = { runs: run('truncated'), sent: [sent()], shouldBe: all, visible: true, running: 0 };
  return judge({ ...fine, there: { old: 0, ...all }, ...facts }, { ...truncated, ...expected }).problems;
};

test('a truncation after which every row is where it should be passes', () => {
  expect(problems({})).toEqual([]);
});

describe('rows', () => {
  const there = { old: 0, kept: 30_000, ingested: 0 };
  const some: Partial<Expectation> = { outcomes: ['rows-missing'], rowsToKeepMissing: 'some' };
  const behind = { shouldBe: { kept: 50_000, ingested: 800 }, there: { old: 0, kept: 50_000, ingested: 300 } };

  test('that are missing must be named in a message that people get', () => {
    expect(problems({ there, runs: run('rows-missing', 20_000, '') }, some)).toEqual([]);
    expect(problems({ there, runs: run('rows-missing', 19_990, '') }, some)).toEqual([]);
    expect(problems({ there, runs: run('rows-missing', 10_000, '') }, some)).toEqual([
      '10000 rows are missing unnamed',
    ]);
    expect(problems({ there, runs: run('rows-missing', 20_000) }, some)).toEqual(['20000 rows are missing unnamed']);
  });

  test('of an index that is gone are named by saying so', () => {
    const gone = (message: string) =>
      problems(
        { there: { old: 0, kept: 0, ingested: 0 }, runs: run('unknown', 0, message) },
        { outcomes: ['unknown'], rowsToKeepMissing: 'all' },
      );
    expect(gone('the search engine has no such index')).toEqual([]);
    expect(gone('nothing moves')).toEqual(['50000 rows are missing unnamed']);
  });

  test('that a copy left behind are named by saying that there may be some', () => {
    const said = (reindexes: boolean) => {
      const runs = run('truncated', 0, 'said').map((ended) => ({
        ...ended,
        entry: { ...ended.entry!, method: reindexes ? ('reindex' as const) : ('delete' as const) },
      }));
      return problems({ ...behind, runs }, { lateRows: true });
    };
    expect(said(true)).toEqual([]);
    expect(said(false)).toEqual(['500 rows are missing unnamed']);
  });

  test('that an upgrade left in its old index are not our loss', () => {
    expect(problems(behind, { leftBehind: true })).toEqual([]);
    expect(problems(behind)).toEqual(['500 rows are missing unnamed']);
  });

  test('that no search finds, because refreshing is off, may be called missing', () => {
    expect(problems({ runs: run('rows-missing'), visible: false }, { outcomes: ['rows-missing'] })).toEqual([]);
  });
});

test.each<[PolicyEntry['outcome'], Partial<Facts>, string]>([
  ['truncated', { there: { old: 0, kept: 49_000, ingested: 0 } }, 'says truncated, and rows are missing'],
  ['truncated', { there: { old: 3000, ...all } }, 'says truncated, and old rows are left'],
  ['incomplete', { there: { old: 0, kept: 1, ingested: 0 } }, 'says incomplete, and rows that should stay are missing'],
  ['still-running', {}, 'says still running, and nothing runs'],
  ['failed', {}, 'says that nothing was started, and rows are gone'],
  ['rows-missing', {}, 'says that rows are missing, and they are there'],
])('%s with %o is a false word', (outcome, facts, word) => {
  expect(problems({ runs: run(outcome, 0), ...facts })).toContain(word);
});

test.each<[string, Partial<Facts>, string]>([
  ['beside a task that is at work', { sent: [sent(1, 1)] }, 'truncated while a task was at work'],
  ['twice in a run', { sent: [sent(), sent()] }, 'truncated twice in one run'],
  ['in the next run again', { sent: [sent(), sent(2)] }, 'truncated 2 times, expected 1'],
  ['not at all', { sent: [] }, 'truncated 0 times, expected 1'],
])('a truncate that is sent %s is noticed', (_, facts, problem) => {
  expect(problems(facts)).toContain(problem);
});

test.each<[string, Partial<Expectation>, string]>([
  ['another cause', { cause: 'missing' }, 'the cause is verified, not missing'],
  ['another outcome', { outcomes: ['unknown'] }, 'said truncated, not unknown'],
  ['no loss', { rowsToKeepMissing: 'some' }, '0 of 50000 rows to keep are missing, expected some'],
  ['no late row', { lateRows: true }, 'no ingested row was left behind, so nothing is proven'],
])('a case that brought about %s fails', (_, expected, problem) => {
  expect(problems({}, expected)).toEqual([problem]);
});
