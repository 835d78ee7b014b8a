import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProgress, renderPlan, screenOn } from '../../cli/screen/progress.ts';
import type { Cause } from '../../lambda/facts/cause.ts';
import type { DoneEntry, Entry, RunState } from '../../lambda/run/state.ts';
import { aPolicy } from '../support/policies.ts';
import { aRunState } from '../support/states.ts';

const operation = { entityType: 'dataset', aspect: 'operation', rowsTotal: 20_000, rowsToDelete: 14_000 };

const state = (entries: Entry[], more: Partial<RunState> = {}): RunState =>
  aRunState(entries, { next: 'report', waitSeconds: 0, ...more });

const approved: Entry = {
  index: 'dataset.operation',
  phase: 'approved',
  entry: operation,
  policy: aPolicy({ retentionDays: 90 }),
  plan: { rowsToDelete: 14_000, strategy: 'delete-by-query' },
};
const watched = (done: number): Entry => ({
  index: 'dataset.operation',
  phase: 'watched',
  entry: operation,
  watch: {
    attemptId: 'a',
    startedAt: 0,
    succeededAt: 0,
    lastLookAt: 0,
    nextLookAt: 0,
    looks: 1,
    progress: { done, total: 14_000, at: 0 },
  },
});
const truncated: DoneEntry = {
  index: 'dataset.operation',
  phase: 'done',
  entry: { ...operation, rowsDeleted: 14_000, outcome: 'truncated', cause: { kind: 'verified', by: 'counts' } },
};
const disabled: DoneEntry = {
  index: 'chart.chartUsageStatistics',
  phase: 'done',
  entry: { entityType: 'chart', aspect: 'chartUsageStatistics', outcome: 'disabled', cause: { kind: 'switched-off' } },
};

function play(columns: number | undefined): string {
  const stream = new PassThrough();
  let written = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  Object.assign(stream, columns === undefined ? {} : { isTTY: true, columns });
  const progress = createProgress(screenOn(stream as unknown as NodeJS.WriteStream, { TERM: 'xterm' }));
  progress.onState('plan', state([approved, disabled]));
  progress.onState('truncate', state([watched(0), disabled]));
  for (const done of [1000, 2000, 7000, 14_000]) {
    // Bars are drawn by a timer.
    vi.advanceTimersByTime(200);
    progress.onState('poll', state([watched(done), disabled]));
  }
  progress.onState('poll', state([truncated, disabled]));
  progress.line('The end.');
  progress.stop();
  stream.end();
  stream.read();
  return written;
}

describe('progress', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is printed as lines where there is no terminal: one at the start, then one for each tenth', () => {
    const lines = play(undefined).trimEnd().split('\n');
    expect(lines.filter((line) => line.includes('rows done'))).toEqual([
      '  dataset.operation: 0 of 14,000 rows done',
      '  dataset.operation: 2,000 of 14,000 rows done',
      '  dataset.operation: 7,000 of 14,000 rows done',
      '  dataset.operation: 14,000 of 14,000 rows done',
    ]);
    expect(lines.slice(-2)).toEqual([
      '  dataset.operation: truncated. 14,000 rows deleted, verified by counting again.',
      'The end.',
    ]);
  });

  it('prints at most once a minute that it is still looking where there is no terminal', () => {
    let written = '';
    const progress = createProgress({ width: 100, write: (text) => (written += text) });
    const waiting = state([watched(0)], { next: 'wait', waitSeconds: 40 });
    progress.onState('truncate', waiting);
    for (let seconds = 0; seconds < 200; seconds += 40) {
      vi.advanceTimersByTime(40_000);
      progress.onState('poll', waiting);
    }
    progress.onState('poll', state([watched(0)]));
    const again = '  dataset.operation: 0 of 14,000 rows done; looks again in 40 s';
    expect(written.trimEnd().split('\n')).toEqual(['  dataset.operation: 0 of 14,000 rows done', again, again]);
  });

  it('prints in the plan how much each truncation frees, and the sum, if sizes are known', () => {
    const due = { ...operation, sizeBeforeMb: 10 };
    const preview: Entry = {
      index: 'chart.chartUsageStatistics',
      phase: 'done',
      entry: {
        ...operation,
        entityType: 'chart',
        aspect: 'chartUsageStatistics',
        rowsTotal: 100,
        rowsToDelete: 50,
        sizeBeforeMb: 1,
        outcome: 'would-truncate',
        cause: { kind: 'due', minDeletePercent: 10 },
      },
    };
    const text = renderPlan(state([{ ...approved, entry: due } as Entry, preview, disabled]), 200).join('\n');
    expect(text).toContain('To be deleted in place. Frees about 7.0 MB.');
    expect(text).toContain('Frees about 500 KB.');
    expect(text).toContain('  14,050 rows to delete in all, about 7.5 MB. Disk space is estimated');
    expect(renderPlan(state([approved, disabled]), 100).join('\n')).not.toContain('about');
  });

  it('prints an end with its requests on lines of their own, without commands for AWS', () => {
    let written = '';
    const progress = createProgress({ width: 60, write: (text) => (written += text) });
    const old = 'dataset_operationaspect_v1_1693050512123';
    const young = 'dataset_operationaspect_v1_1772335860000';
    const cause = {
      kind: 'missing',
      expected: 400,
      found: 0,
      rowsIn: old,
      indexNow: young,
      movedBy: 'us',
    } as const;
    const entry = { ...operation, strategy: 'reindex', outcome: 'rows-missing', cause } as const;
    progress.onState('poll', state([{ ...truncated, entry }]));
    const lines = written.trimEnd().split('\n');
    expect(lines.slice(0, 5)).toEqual([
      '  dataset.operation: rows-missing. The reindex did not bring',
      '    back every row that should stay: 0 of 400 rows newer',
      '    than the cutoff are there.',
      '    Run no DataHub upgrade before this is settled: its',
      '    system-update deletes old indices without an alias.',
    ]);
    expect(lines).toContain(
      `      POST /_aliases {"actions":[{"remove":{"index":"${young}","alias":"dataset_operationaspect_v1"}},{"add":{"index":"${old}","alias":"dataset_operationaspect_v1"}}]}`,
    );
    expect(written).not.toMatch(/\{"clear"|aws /);
  });

  it('is a bar on a terminal that leaves every other line whole when it is removed', () => {
    const written = play(100);
    expect(written).toContain('░');
    const screen = screenAfter(written);
    expect(screen.slice(-3)).toEqual([
      'Truncating, one index after another:',
      '  dataset.operation: truncated. 14,000 rows deleted, verified by counting again.',
      'The end.',
    ]);
    expect(screen[0]).toBe('Plan:');
  });

  it('gives the terminal its cursor and its line wrapping back', () => {
    const written = play(100);
    expect(written.lastIndexOf('\u001b[?25h')).toBeGreaterThan(written.lastIndexOf('\u001b[?25l'));
    expect(written.lastIndexOf('\u001b[?7h')).toBeGreaterThan(written.lastIndexOf('\u001b[?7l'));
  });
});

describe('the plan', () => {
  it('is a table with the reason beneath each policy', () => {
    expect(renderPlan(state([approved, disabled]), 100)).toEqual([
      'Plan:',
      '  Index                         Rows  To delete  Percent  Decision',
      '  dataset.operation           20,000     14,000  70.00 %  truncate',
      '      Older than 90 days; the threshold is 10 %. To be deleted in place.',
      '  chart.chartUsageStatistics       -          -        -  disabled',
      '      The policy is switched off ("enabled": false).',
    ]);
  });

  it('keeps within a narrow terminal', () => {
    const lines = renderPlan(state([approved, disabled]), 50);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(50);
    expect(lines.join(' ').replace(/ +/g, ' ')).toContain('14,000 of 20,000 rows');
  });

  it('shows control characters of a server as blanks', () => {
    const cause: Cause = { kind: 'policy', problem: 'bad \u001b[2J\u0007 text' };
    const said = { ...disabled, entry: { ...disabled.entry, cause } };
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(renderPlan(state([said]), 100).join('')).not.toMatch(/[\u0000-\u001f]/);
  });
});

/** What a terminal shows after these characters; supports only what the progress bars' library writes. */
function screenAfter(written: string): string[] {
  const rows: string[] = [''];
  let [row, column] = [0, 0];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
  for (const [token, count, command] of written.matchAll(/\u001b\[\??(\d*)([A-Za-z])|[\s\S]/gu)) {
    const current = rows[row] ?? '';
    if (command === 'A') row = Math.max(0, row - Number(count || 1));
    else if (command === 'G') column = Number(count || 1) - 1;
    else if (command === 'K') rows[row] = current.slice(0, column);
    else if (command === 'J') rows.splice(row, rows.length, current.slice(0, column));
    else if (command !== undefined) continue;
    else if (token === '\r') column = 0;
    else if (token === '\n') [row, column] = [row + 1, 0];
    else rows[row] = current.padEnd(column).slice(0, column) + token + current.slice(++column);
  }
  return Array.from(rows, (line) => (line ?? '').trimEnd()).filter(
    (line, at, all) => line !== '' || at < all.length - 1,
  );
}

describe('a plan of many', () => {
  const failed = (aspect: string, cause: Cause): DoneEntry => ({
    index: `dataset.${aspect}`,
    phase: 'done',
    entry: { entityType: 'dataset', aspect, outcome: 'failed', cause },
  });
  const noIndex: Cause = { kind: 'server', error: { operation: 'dry-run', kind: 'no-index', status: 500 }, sent: 'no' };

  it('says once how many policies wait for the same reason', () => {
    const plan = renderPlan(
      state([failed('a', { kind: 'run-error' }), failed('b', { kind: 'run-error' })], { error: { kind: 'no-policy' } }),
      100,
    ).join('\n');
    expect(plan).toContain('  2 policies were not looked at.');
    expect(plan).not.toContain('dataset.a');
  });

  it('prints a reason that neighbours share once, below the last of them', () => {
    const lines = renderPlan(state([failed('a', noIndex), failed('b', noIndex), disabled]), 100);
    const reasons = lines.flatMap((line, at) => (line.includes('no such index') ? [at] : []));
    expect(reasons).toHaveLength(1);
    expect(lines[reasons[0]! - 1]).toContain('dataset.b');
    expect(lines[reasons[0]! - 2]).toContain('dataset.a');
  });

  it('says what a bite takes, how many nights there are, and how long it takes', () => {
    const bite: Entry = {
      ...approved,
      entry: { ...operation, rowsToDelete: 5000, rowsPastRetention: 14_000 },
      plan: {
        rowsToDelete: 14_000,
        strategy: 'delete-by-query',
        bite: { cutoffMillis: 0, rows: 5000, nights: 3 },
        seconds: 130,
      },
    };
    const plan = renderPlan(state([bite]), 400).join('\n');
    expect(plan).toContain('70.00 %');
    expect(plan).toContain(
      'To be deleted in place; about 2 min (last time). 5,000 of 14,000 rows past their retention go in this run (maxRowsPerRun), all of them in about 3 nights.',
    );
  });
});
