import { expect, test } from 'vitest';
import type { ReportData } from '../../../lambda/model/report-schema.ts';
import { withSentences } from '../../../lambda/report/sentences/sentences.ts';
import { firstRun } from '../../support/stand-in.ts';
import { aPolicyFor, type WorldOptions, worlds } from '../../support/world.ts';

/**
 * What a sentence says of rows, against the rows themselves: each number beside "rows" is one that the index had before
 * the run or has after it, and nothing is numbered that is not listed here. 600 rows are old and 400 are to stay; ten
 * more arrive while the task runs.
 */

const worldOf = worlds();
const index = 'dataset.operation';
const old = 600;
const toStay = 400;
const day = 86_400_000;
const audience = { kind: 'machine', program: './retention' } as const;

/** What a phrase says, and what is true by the rows that are left of those that were there before. */
const phrases: readonly (readonly [RegExp, (left: Record<'old' | 'toStay', number>) => number[]])[] = [
  [/([\d,]+) of ([\d,]+) rows deleted/, (left) => [old - left.old, old + toStay]],
  [/([\d,]+) of ([\d,]+) old rows deleted/, (left) => [old - left.old, old]],
  [/([\d,]+) old rows deleted/, (left) => [old - left.old]],
  [
    /deleted ([\d,]+) of ([\d,]+) rows and stopped at 1 row that something else had changed/,
    (left) => [old - left.old, old],
  ],
  [/([\d,]+) of ([\d,]+) old rows are still there/, (left) => [left.old, old]],
  [/^([\d,]+) old rows are still there/, (left) => [left.old]],
  [/skipped ([\d,]+) rows that something else had changed/, (left) => [left.old]],
  [/([\d,]+) rows past the retention are left/, (left) => [left.old]],
  [
    /([\d,]+) of ([\d,]+) rows that should have stayed are (?:gone|not in the new index|not visible)/,
    (left) => [toStay - left.toStay, toStay],
  ],
  [/([\d,]+) of ([\d,]+) rows written to the new index/, (left) => [left.toStay, toStay]],
  [/([\d,]+) rows are left behind in/, (left) => [old - left.old]],
  [/did not write ([\d,]+) rows/, (left) => [toStay - left.toStay]],
];

const reindexing: WorldOptions = { faults: ['ignores-force-flags'] };
const short: WorldOptions = { faults: ['ignores-force-flags', 'abort-at=0.5'] };

/** Fields of the policy; how many rows to stay others remove; the counters of the completed status. */
interface More {
  maxRowsPerRun?: number;
  others?: number;
  status?: object;
}

test.each<[string, WorldOptions, More?]>([
  ['a delete', {}],
  ['a delete without a task id', { faults: ['gateway-timeout'] }],
  ['a delete that meets conflicts', { faults: ['conflicts=0.2'] }],
  ['a delete that stops at its first conflict', { profile: 'elasticsearch-8', faults: ['conflicts=0.01'] }],
  ['a delete that is cancelled', { faults: ['cancel-at=0.5'] }],
  ['a delete that ends half-way', { faults: ['abort-at=0.5'] }],
  ['a delete whose node restarts', { faults: ['restart-at=0.25'] }],
  ['a delete that does nothing', { faults: ['fails-at-first-search'] }],
  ['a delete below the row limit', {}, { maxRowsPerRun: 100 }],
  ['a delete beside which rows to stay are removed', { faults: ['rows-per-second=10'] }, { others: 90 }],
  ['a reindex', reindexing],
  ['a reindex of the first release', { profile: '0.10.5' }],
  ['a reindex that ends half-way', short],
  ['a reindex whose total has every row', reindexing, { status: { total: 1000, created: 400 } }],
  ['a reindex that counts old rows as noops', reindexing, { status: { total: 1000, created: 400, noops: 600 } }],
  ['a reindex that ends half-way, and whose total has every row', short, { status: { total: 1000, created: 200 } }],
  ['a reindex whose node restarts', { faults: ['ignores-force-flags', 'restart-at=0.5'] }],
])('%s', async (_, options, { others = 0, status, ...policy }: More = {}) => {
  const world = await worldOf({ ...options, policies: [aPolicyFor('operation', policy)] });
  const before = new Set(world.standIn.rows(index).map(({ id }) => id));
  world.standIn.schedule(firstRun + 5000, () => {
    world.standIn.addRows(
      index,
      Array.from({ length: 10 }, () => firstRun + 4000),
    );
    let removed = 0;
    world.standIn.removeRows(index, ({ timestamp }) => timestamp > firstRun - 25 * day && removed++ < others);
  });
  if (status) {
    const value = JSON.stringify({ completed: true, status });
    world.standIn.between(({ path }) =>
      path.includes('getEsTaskStatus')
        ? { kind: 'fail-before', answer: { kind: 'status', status: 200, body: JSON.stringify({ value }) } }
        : { kind: 'pass' },
    );
  }
  const { report } = await world.run();
  const left = { old: 0, toStay: 0 };
  for (const { id, timestamp } of world.standIn.rows(index)) {
    if (before.has(id)) left[timestamp <= firstRun - 30 * day ? 'old' : 'toStay']++;
  }

  const [entry] = withSentences(report as unknown as ReportData, audience).policies;
  let rest = entry?.reason ?? '';
  for (const [phrase, truth] of phrases) {
    const [said, ...numbers] = phrase.exec(rest) ?? [];
    if (said === undefined) continue;
    rest = rest.replace(said, '');
    expect([said, numbers.map((number) => Number(number.replaceAll(',', '')))]).toEqual([said, truth(left)]);
  }
  expect(rest).not.toBe(entry?.reason);
  expect(rest).not.toMatch(/\d[\d,.]* (?:of \d[\d,.]* )?(?:old )?rows/);
});
