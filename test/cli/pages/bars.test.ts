import { describe, expect, it, test } from 'vitest';
import type { Bar } from '../../../cli/pages/model.ts';
import { barOf } from '../../../cli/pages/run/bars.ts';
import { dayMillis } from '../../../lambda/facts/limits.ts';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { nightReport } from '../../support/nights/reports.ts';
import { aPolicy } from '../../support/policies.ts';

const start = Date.UTC(2026, 2, 1, 3, 30);
const older = new Map([
  [30, 900],
  [90, 500],
  [180, 200],
]);
const entry = (fields: Partial<PolicyEntry>): PolicyEntry =>
  ({
    entityType: 'dataset',
    aspect: 'operation',
    retentionDays: 90,
    rowsTotal: 1000,
    rowsToDelete: 500,
    outcome: 'would-truncate',
    cause: { kind: 'due' },
    reason: '',
    ...fields,
  }) as PolicyEntry;
const partsOf = (fields: Partial<PolicyEntry>, ages = older) =>
  barOf(entry(fields), aPolicy(), ages, start)!.parts.map(({ fate, rows }) => [fate, rows]);
const sum = ({ parts }: Bar) => parts.reduce((all, { rows }) => all + rows, 0);

describe('the bar of a run', () => {
  it('of a preview shows what would be deleted', () => {
    expect(partsOf({})).toEqual([
      ['goes', 200],
      ['goes', 300],
      ['stays', 400],
      ['stays', 100],
    ]);
  });

  it('without ages shows what is deleted and what stays', () => {
    expect(partsOf({}, new Map())).toEqual([
      ['goes', 500],
      ['stays', 500],
    ]);
  });

  it('shows what is past the retention and kept, where nothing is truncated', () => {
    expect(partsOf({ outcome: 'below-threshold', rowsToDelete: 50 }, new Map())).toEqual([
      ['overdue', 50],
      ['stays', 950],
    ]);
  });

  it('shows what went by the verdict, and what stays by counts made afterwards', () => {
    const after = new Map([
      [30, 400],
      [90, 0],
      [180, 0],
    ]);
    expect(partsOf({ outcome: 'truncated', rowsDeleted: 500 }, after)).toEqual([
      ['went', 500],
      ['stays', 400],
      ['stays', 100],
    ]);
  });

  it('shows what a bite takes now, and what later runs take', () => {
    const bite = { rowsToDelete: 120, rowsPastRetention: 500, cutoffMillis: start - 300 * dayMillis };
    expect(partsOf(bite)).toEqual([
      ['goes', 120],
      ['later', 80],
      ['later', 300],
      ['stays', 400],
      ['stays', 100],
    ]);
  });

  it('shows rows that should have stayed as missing', () => {
    const missing = { outcome: 'rows-missing', rowsDeleted: 500, rowsMissing: 200 } as const;
    expect(partsOf(missing)).toEqual([
      ['went', 500],
      ['missing', 200],
      ['stays', 300],
    ]);
  });

  it('shows how far a truncation came whose end was not seen', () => {
    const running = { outcome: 'still-running', strategy: 'delete-by-query', rowsDeleted: 150 } as const;
    expect(partsOf(running)).toEqual([
      ['went', 150],
      ['overdue', 350],
      ['stays', 500],
    ]);
  });

  it('is left out if the run counted nothing', () => {
    const { rowsTotal: _, ...uncounted } = entry({ outcome: 'failed' });
    expect(barOf(uncounted as PolicyEntry, undefined, undefined, start)).toBeUndefined();
  });
});

test.each([
  'ordinary/healthy',
  'previews/preview',
  'held-back/above-ceiling',
  'missing/rows-missing-after-a-reindex',
  'remembered/a-bite-foreseen',
])('every bar of the night %s adds up to the rows that were counted', async (name) => {
  const report = await nightReport(name);
  for (const one of report.policies) {
    const bar = barOf(one, aPolicy(), older, Date.parse(report.startedAt));
    expect(bar && sum(bar)).toBe(one.rowsTotal);
    for (const { rows } of bar?.parts ?? []) expect(rows).toBeGreaterThanOrEqual(0);
  }
});
