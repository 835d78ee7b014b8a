import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { problemsOf } from '../disk/measure.ts';
import { filled, stepsOf } from '../recovery/runbook.ts';
import type { Ended } from '../world/job.ts';
import type { Expectation } from './case.ts';
import { type Facts, judge } from './judge.ts';

/** The judge notices every kind of failure that it is meant to notice. */

const all = { kept: 50_000, ingested: 0 };
const truncated: Expectation = { outcomes: ['truncated'], keptRowsMissing: 'none' };

const withCause = (entry: Partial<PolicyEntry>) => ({ cause: { kind: 'verified' }, ...entry }) as PolicyEntry;
const untold = (entry: Partial<PolicyEntry>): Ended => ({ log: [], entry: withCause(entry) });
const run = (entry: Partial<PolicyEntry>, message = ''): Ended => ({ ...untold(entry), message });
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

  test('count as unnamed if nobody is told of the report that names them', () => {
    const runs = [untold({ outcome: 'rows-missing', rowsMissing: 20_000 })];
    expect(problems({ ...lost, runs }, some)).toEqual(['20000 rows are missing unnamed']);
  });

  test('that a message of an earlier run names are named', () => {
    const runs = [run({ outcome: 'rows-missing', rowsMissing: 20_000 }), untold({ outcome: 'rows-missing' })];
    expect(problems({ ...lost, runs }, some)).toEqual([]);
  });

  test('of an index that is gone are named by saying so', () => {
    const gone = { there: { old: 0, kept: 0, ingested: 0 } };
    const expected: Expectation = { outcomes: ['unknown'], keptRowsMissing: 'all' };
    const unknown = (message: string) => problems({ ...gone, runs: [run({ outcome: 'unknown' }, message)] }, expected);
    expect(unknown('the search engine has no such index')).toEqual([]);
    expect(unknown('nothing moves')).toEqual(['50000 rows are missing unnamed']);
  });

  test('that a copy left behind are named by saying that there may be some', () => {
    const behind = { shouldBe: { kept: 50_000, ingested: 800 }, there: { old: 0, kept: 50_000, ingested: 300 } };
    const expected: Expectation = { ...truncated, lateRows: true };
    const said = (message: string) => problems({ ...behind, runs: [run({ outcome: 'truncated' }, message)] }, expected);
    expect(said('Rows written meanwhile may be in the old index alone')).toEqual([]);
    expect(said('')).toEqual(['500 rows are missing unnamed']);
    expect(problems({}, expected)).toEqual(['no ingested row was left behind, so nothing is proven']);
  });

  test('that an upgrade left in its old index are not our loss', () => {
    const expected: Expectation = { ...truncated, leftBehind: true };
    const there = { old: 0, kept: 50_000, ingested: 100 };
    expect(problems({ shouldBe: { kept: 50_000, ingested: 150 }, there }, expected)).toEqual([]);
    expect(problems({}, expected)).toEqual(['no ingested row was left behind, so nothing is proven']);
  });

  test('that no search finds, because refreshing is off, may be called missing', () => {
    const expected: Expectation = { outcomes: ['rows-missing'], keptRowsMissing: 'none' };
    expect(problems({ runs: [run({ outcome: 'rows-missing' })], visible: false }, expected)).toEqual([]);
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

test('another cause than the only true one is noticed', () => {
  expect(problems({}, { ...truncated, cause: 'missing' })).toEqual(['the cause is verified, not missing']);
});

test.each<[string, Partial<Facts>, string]>([
  ['beside a task that is at work', { sent: [sent(1, 1)] }, 'truncated while a task was at work'],
  ['twice in a run', { sent: [sent(), sent()] }, 'truncated twice in one run'],
  ['in the next run again', { sent: [sent(), sent(2)] }, 'truncated 2 times, expected 1'],
  ['not at all', { sent: [] }, 'truncated 0 times, expected 1'],
])('a truncate that is sent %s is noticed', (_, facts, problem) => {
  expect(problems(facts)).toContain(problem);
});

test('a case that did not bring about what it is about fails', () => {
  const expected: Expectation = { outcomes: ['truncated'], keptRowsMissing: 'some' };
  expect(problems({}, expected)).toEqual(['0 of 50000 kept rows are missing, expected some']);
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

describe("the runbook's requests", () => {
  test('are taken from each numbered step as they are printed', () => {
    const markdown = [
      '## Way back',
      'First pause.',
      '1. Pause it.',
      '2. See `GET /not-this-one`.',
      '',
      '   ```text',
      '   PUT /NEW/_settings {"index":{"refresh_interval":"3s"}}',
      '   GET _tasks/TASK',
      '   ```',
      '   TASK is an answer.',
      '3. Wait.',
      '## Next',
      '4. No.',
    ].join('\n');
    expect([...stepsOf('way-back', markdown)]).toEqual([
      [1, []],
      [
        2,
        [
          { method: 'PUT', path: '/NEW/_settings', body: '{"index":{"refresh_interval":"3s"}}' },
          { method: 'GET', path: '/_tasks/TASK' },
        ],
      ],
      [3, []],
    ]);
  });

  test('get the names of a message', () => {
    const [request] = stepsOf('Rows missing').get(6) ?? [];
    expect(request && filled(request, { OLD: 'x_1', CUTOFF: '17' })).toEqual({
      method: 'GET',
      path: '/x_1/_count',
      body: '{"query":{"range":{"timestampMillis":{"gt":17}}}}',
    });
  });
});
