import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { problemsOf } from '../disk/measure.ts';
import type { Ended } from '../world/job.ts';
import type { Expectation } from './case.ts';
import { type Facts, judge } from './judge.ts';
import { requestsIn } from './recovery.ts';

/** The judge notices every kind of failure that it is meant to notice. */

const all = { kept: 50_000, ingested: 0 };
const truncated: Expectation = { outcomes: ['truncated'], keptRowsMissing: 'none' };

const unsent = (entry: Partial<PolicyEntry>, said = ''): Ended => ({ status: 0, said, entry: entry as PolicyEntry });
const run = (entry: Partial<PolicyEntry>, said = ''): Ended => ({
  ...unsent(entry, said),
  published: { entry: entry as PolicyEntry, text: said },
});
const sent = (run = 1, tasksBefore = 0) => ({ cutoffMillis: 0, tasksBefore, run });

const problems = (facts: Partial<Facts>, expected: Expectation = truncated): string[] =>
  judge(
    {
      runs: [run({ outcome: 'truncated' })],
      sent: [sent()],
      shouldBe: all,
      there: { old: 0, ...all },
      visible: true,
      running: 0,
      ...facts,
    },
    expected,
  ).problems;

test('a truncation after which every row is where it should be passes', () => {
  expect(problems({})).toEqual([]);
});

describe('rows', () => {
  const lost = { there: { old: 0, kept: 30_000, ingested: 0 } };
  const some: Expectation = { outcomes: ['rows-missing'], keptRowsMissing: 'some' };

  test('that are missing have to be named', () => {
    const named = (rowsMissing: number) =>
      problems({ ...lost, runs: [run({ outcome: 'rows-missing', rowsMissing })] }, some);
    expect(named(20_000)).toEqual([]);
    expect(named(19_990)).toEqual([]);
    expect(named(10_000)).toEqual(['10000 rows are missing unnamed']);
  });

  test('count as unnamed if only an unsent report names them', () => {
    const runs = [unsent({ outcome: 'rows-missing', rowsMissing: 20_000 }, 'no such index')];
    expect(problems({ ...lost, runs }, some)).toEqual(['20000 rows are missing unnamed']);
  });

  test('that a message of an earlier run names are named', () => {
    const runs = [run({ outcome: 'rows-missing', rowsMissing: 20_000 }), unsent({ outcome: 'rows-missing' })];
    expect(problems({ ...lost, runs }, some)).toEqual([]);
  });

  test('of an index that is gone are named by saying so', () => {
    const gone = { there: { old: 0, kept: 0, ingested: 0 } };
    const expected: Expectation = { outcomes: ['unknown'], keptRowsMissing: 'all' };
    const unknown = (said: string) => problems({ ...gone, runs: [run({ outcome: 'unknown' }, said)] }, expected);
    expect(unknown('the index is gone: no such index')).toEqual([]);
    expect(unknown('nothing moves')).toEqual(['50000 rows are missing unnamed']);
  });

  test('that came in and stayed behind are named by the request that brings them over', () => {
    const behind = { shouldBe: { kept: 50_000, ingested: 800 }, there: { old: 0, kept: 50_000, ingested: 300 } };
    const expected: Expectation = { ...truncated, stragglers: true };
    const said = 'POST /_reindex {"dest": {"index": "b", "op_type": "create"}}';
    expect(problems({ ...behind, runs: [run({ outcome: 'truncated' }, said)] }, expected)).toEqual([]);
    expect(problems({ ...behind, runs: [unsent({ outcome: 'truncated' }, said)] }, expected)).toEqual([
      '500 rows are missing unnamed',
    ]);
    expect(problems({}, expected)).toEqual(['no ingested row was left behind, so nothing is proven']);
  });
});

test.each<[string, Partial<Facts>, string]>([
  ['truncated', { there: { old: 0, kept: 49_000, ingested: 0 } }, 'says truncated, and rows are missing'],
  ['truncated', { there: { old: 3000, ...all } }, 'says truncated, and old rows are left'],
  [
    'incomplete',
    { there: { old: 3000, kept: 1, ingested: 0 } },
    'says incomplete, and rows that should stay are missing',
  ],
  ['still-running', {}, 'says still running, and nothing runs'],
  ['failed', {}, 'says that nothing was started, and rows are gone'],
  ['rows-missing', {}, 'says that rows are missing, and they are there'],
])('%s with %o is a false word', (outcome, facts, word) => {
  const found = problems({ runs: [run({ outcome: outcome as PolicyEntry['outcome'], rowsMissing: 0 })], ...facts });
  expect(found).toContain(word);
});

test('rows that no search finds, because refreshing is off, may be called missing', () => {
  const expected: Expectation = { outcomes: ['rows-missing'], keptRowsMissing: 'none' };
  expect(problems({ runs: [run({ outcome: 'rows-missing' })], visible: false }, expected)).toEqual([]);
});

test('another cause than the only true one is noticed', () => {
  const expected: Expectation = { outcomes: ['rows-missing'], cause: 'quarantined', keptRowsMissing: 'none' };
  const entry = { outcome: 'rows-missing', cause: { kind: 'missing', expected: 2, found: 1 } } as const;
  expect(problems({ runs: [run(entry)], visible: false }, expected)).toEqual(['the cause is missing, not quarantined']);
});

test.each<[string, Partial<Facts>, string]>([
  ['beside a task that is at work', { sent: [sent(1, 1)] }, 'truncated while a task was at work'],
  ['twice in a run', { sent: [sent(), sent()] }, 'truncated twice in one run'],
  ['in the next run again', { sent: [sent(), sent(2)] }, 'truncated again'],
  ['not at all', { sent: [] }, 'truncated nothing'],
])('a truncate that is sent %s is noticed', (_, facts, problem) => {
  expect(problems(facts)).toContain(problem);
});

test('a case that did not bring about what it is about fails', () => {
  const expected: Expectation = { outcomes: ['truncated'], keptRowsMissing: 'some' };
  expect(problems({}, expected)).toEqual(['0 of 50000 kept rows are missing, expected some']);
});

test('rows that an upgrade left in its old index are not our loss, and its alias is not to be moved', () => {
  const expected: Expectation = { ...truncated, leftBehind: true };
  const shouldBe = { kept: 50_000, ingested: 150 };
  const there = { old: 0, kept: 50_000, ingested: 100 };
  expect(problems({ shouldBe, there }, expected)).toEqual([]);
  expect(problems({}, expected)).toEqual(['no ingested row was left behind, so nothing is proven']);
  const said = 'POST /_aliases {"actions":[]}';
  expect(problems({ shouldBe, there, runs: [run({ outcome: 'truncated' }, said)] }, expected)).toEqual([
    'prints a command that would undo the upgrade',
  ]);
});

test('expunging that gives no index its space back is noticed, where more than a tenth was deleted', () => {
  const row = { order: 'mixed' as const, before: 100, deleted: 100, settled: 90, deadShare: 0.3 };
  const [kept, freed] = [
    { ...row, share: 0.3, expunged: 99 },
    { ...row, share: 0.3, expunged: 85 },
  ];
  expect(problemsOf([kept, freed])).toEqual([]);
  expect(problemsOf([kept, kept])).toEqual(['expunging has given no space back']);
  expect(problemsOf([{ ...kept, share: 0.1 }])).toEqual([]);
});

test('requests are taken from a message as they stand, across folded lines, each once', () => {
  const said = [
    'First see whether the copy is only not visible yet: POST /b_2/_refresh; if the',
    'counts agree then, nothing is lost (compare GET b_1/_count).',
    '  POST /_aliases {"actions":[{"remove":{"index":"b_2","alias":"b"}},{"add":{"index":"b_1","alias":"b"}}]}',
    'then POST /b_2/_refresh.',
  ].join('\n');
  expect(requestsIn(said)).toEqual([
    'POST /b_2/_refresh',
    'POST /_aliases {"actions":[{"remove":{"index":"b_2","alias":"b"}},{"add":{"index":"b_1","alias":"b"}}]}',
  ]);
});
